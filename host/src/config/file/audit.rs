//! The audit.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{SecretText, Size};

/// Whether there is an audit: `off`, or where it is written and what it says.
#[derive(Clone, Debug)]
pub enum AuditUse {
    /// There is none.
    Off,
    /// There is one.
    On(Box<Audit>),
}

/// A line for each call, and for whatever else an operator may be asked about later. What changes here takes effect at the
/// next start.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "audit", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys such as `file` and `required`")]
pub struct Audit {
    /// The file, relative to the configuration file. It is made for its owner alone where it does not exist.
    pub file: Option<String>,
    /// Whether the lines are written to standard output, too. Not with `plugway stdio`. Default `false`.
    pub stdout: Option<bool>,
    /// When the file is put aside, and how many of these are kept.
    pub rotate: Option<Rotate>,
    /// Whether calls are refused while no line can be written. Default `false`: they are served, and lost lines counted.
    pub required: Option<bool>,
    /// Whether lines tell the arguments of calls. Default `none`: only their digest.
    pub arguments: Option<ArgumentsWord>,
    /// Whether each line is tied to the one before it, so that `plugway audit verify` finds lines that were changed, taken out
    /// or put in. Default `false`.
    pub chain: Option<bool>,
    /// The key with which arguments are digested, and lines tied together, at least 16 bytes. Default: a random one for each
    /// process, for arguments alone.
    pub digest_key: Option<SecretText>,
}

/// When the file of the audit is put aside, as `FILE.1`; that one becomes `FILE.2`, and so on.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "rotate", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys: `size`, `keep` and `every`")]
pub struct Rotate {
    /// Before it is larger than this. Default `100MiB`.
    pub size: Option<Size>,
    /// How many are kept beside the one that is written. Default 10.
    pub keep: Option<u32>,
    /// When a day of UTC has passed, too. Default: never for that.
    pub every: Option<EveryWord>,
}

/// How often a file is put aside, however small it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "every", rename_all = "kebab-case")]
pub enum EveryWord {
    /// Once a day.
    Day,
}

/// What lines tell of the arguments of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "audit-arguments", rename_all = "kebab-case")]
pub enum ArgumentsWord {
    /// Their digest alone.
    None,
    /// The arguments themselves, without what looks like a secret, and long texts cut.
    Redacted,
}

impl<'de> Deserialize<'de> for AuditUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AuditVisitor;
        impl<'de> Visitor<'de> for AuditVisitor {
            type Value = AuditUse;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`off`, or a set of keys such as `{file: audit.jsonl}`")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<AuditUse, E> {
                if word == "off" {
                    return Ok(AuditUse::Off);
                }
                Err(E::invalid_value(de::Unexpected::Str(word), &self))
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<AuditUse, E> {
                if on {
                    Err(E::invalid_value(de::Unexpected::Bool(on), &self))
                } else {
                    Ok(AuditUse::Off)
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<AuditUse, A::Error> {
                let map = de::value::MapAccessDeserializer::new(access);
                Audit::deserialize(map).map(|audit| AuditUse::On(Box::new(audit)))
            }
        }
        let keys = &["file", "stdout", "rotate", "required", "arguments", "chain", "digest_key"];
        deserializer.deserialize_struct("audit", keys, AuditVisitor)
    }
}
