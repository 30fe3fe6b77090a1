//! How an upstream is tried again, and what clients see while it is away.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use super::Span;

/// How an upstream that is away is tried again. The waits double from `initial` to `max`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "reconnect", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys: `initial`, `max`, `attempts`")]
pub struct Reconnect {
    /// Wait before the second attempt; the first one follows at once. Default `2s`.
    pub initial: Option<Span>,
    /// Longest wait between two attempts. Default `30s`.
    pub max: Option<Span>,
    /// After so many failed attempts the upstream is left alone until somebody asks for it. Default `unlimited`.
    pub attempts: Option<Attempts>,
}

/// How often: `unlimited`, or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempts {
    /// For ever.
    Unlimited,
    /// So often.
    Number(u32),
}

impl<'de> Deserialize<'de> for Attempts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AttemptsVisitor;
        impl Visitor<'_> for AttemptsVisitor {
            type Value = Attempts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`unlimited` or a whole number from 1")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Attempts, E> {
                match word {
                    "unlimited" => Ok(Attempts::Unlimited),
                    _ => Err(E::invalid_value(de::Unexpected::Str(word), &self)),
                }
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Attempts, E> {
                match u32::try_from(number) {
                    Ok(number) if number > 0 => Ok(Attempts::Number(number)),
                    _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
                }
            }
        }
        deserializer.deserialize_any(AttemptsVisitor)
    }
}

/// What clients see of an upstream that stays away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "unavailable", rename_all = "kebab-case")]
pub enum UnavailableWord {
    /// Its entries leave the lists.
    Remove,
    /// Its entries stay in the lists, and calls are answered with an error.
    Keep,
}
