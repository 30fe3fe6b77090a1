//! Who callers are, and where plugway is administered.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::SecretText;

/// How callers are identified: `none`, or `{mode: static, tokens: ..}`.
#[derive(Clone, Debug, Default)]
pub struct AuthUse {
    /// The way.
    pub mode: Option<AuthMode>,
    /// The tokens of the mode `static`.
    pub tokens: Option<Tokens>,
}

/// A way to identify callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "auth-mode", rename_all = "kebab-case")]
pub enum AuthMode {
    /// Callers are not identified: everybody is anonymous.
    None,
    /// By tokens that the operator lists.
    Static,
    /// By signed tokens of an issuer; not yet.
    #[schemars(skip)]
    Jwt,
    /// By tokens of Microsoft Entra; not yet.
    #[schemars(skip)]
    Entra,
    /// By an authorization server that plugway names to clients; not yet.
    #[schemars(skip)]
    RemoteOauth,
}

/// Tokens and whom they stand for.
#[derive(Clone)]
pub enum Tokens {
    /// By reference: the text behind it is a map of tokens in JSON or YAML.
    Reference(SecretText),
    /// Written into the configuration itself, which is accepted with a warning.
    Inline(serde_json::Value),
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TokensVisitor;
        impl<'de> Visitor<'de> for TokensVisitor {
            type Value = Tokens;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a reference such as `env://NAME` or `file://PATH`")
            }

            fn visit_str<E>(self, text: &str) -> Result<Tokens, E> {
                Ok(Tokens::Reference(SecretText::new(text)))
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Tokens, A::Error> {
                let map = de::value::MapAccessDeserializer::new(access);
                serde_json::Value::deserialize(map).map(Tokens::Inline)
            }
        }
        deserializer.deserialize_any(TokensVisitor)
    }
}

impl<'de> Deserialize<'de> for AuthUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(rename = "auth", deny_unknown_fields, default)]
        struct Full {
            mode: Option<AuthMode>,
            tokens: Option<Tokens>,
        }
        struct AuthVisitor;
        impl<'de> Visitor<'de> for AuthVisitor {
            type Value = AuthUse;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`none`, or `{mode: static, tokens: ..}`")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<AuthUse, E> {
                let mode = AuthMode::deserialize(word.into_deserializer())?;
                Ok(AuthUse { mode: Some(mode), tokens: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<AuthUse, A::Error> {
                let full = Full::deserialize(de::value::MapAccessDeserializer::new(access))?;
                Ok(AuthUse { mode: full.mode, tokens: full.tokens })
            }
        }
        deserializer.deserialize_struct("auth", &["mode", "tokens"], AuthVisitor)
    }
}

/// Where plugway is administered: `listen` or `socket`. Without this key there is no administration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "admin", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys: `listen` or `socket`, and `token_file`")]
pub struct Admin {
    /// A loopback address with a port of its own: `127.0.0.1:9901`.
    pub listen: Option<String>,
    /// A Unix socket that only its owner can use, relative to the configuration file.
    pub socket: Option<String>,
    /// File with the token of local use, relative to the configuration file. plugway makes it, readable for its owner
    /// alone, where it does not exist. Without it, one of the tokens of `auth` must have the scope `plugway:admin`.
    pub token_file: Option<String>,
}
