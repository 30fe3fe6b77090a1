//! How plugway identifies itself at an upstream.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::SecretText;

/// How plugway identifies itself at an upstream: `none`, `forward`, or a set of keys with `mode`.
#[derive(Clone, Debug, Default)]
pub struct CredentialUse {
    /// The way.
    pub mode: Option<CredentialMode>,
    /// The token of the mode `bearer`.
    pub token: Option<SecretText>,
    /// The header of the mode `header`.
    pub name: Option<String>,
    /// Its value.
    pub value: Option<SecretText>,
    /// With the mode `forward`: the whole value of `Authorization` for what plugway itself asks, such as catalogues, which are
    /// everybody's then. Default: none; where a server answers nobody without one, each caller's catalogue is read with the
    /// caller's own.
    pub own: Option<SecretText>,
}

/// A way to identify oneself at an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "credential-mode", rename_all = "kebab-case")]
pub enum CredentialMode {
    /// plugway sends no credential.
    None,
    /// plugway passes on the credential that the client sent.
    Forward,
    /// plugway sends `Authorization: Bearer TOKEN`.
    Bearer,
    /// plugway sends a header of the operator's.
    Header,
}

impl<'de> Deserialize<'de> for CredentialUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(rename = "credential", deny_unknown_fields, default)]
        struct Full {
            mode: Option<CredentialMode>,
            token: Option<SecretText>,
            name: Option<String>,
            value: Option<SecretText>,
            own: Option<SecretText>,
        }
        struct CredentialVisitor;
        impl<'de> Visitor<'de> for CredentialVisitor {
            type Value = CredentialUse;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`none`, `forward`, or `{mode: bearer, token: ..}`")
            }

            /// Somebody may have written the credential itself here: the word is not repeated.
            fn visit_str<E: de::Error>(self, word: &str) -> Result<CredentialUse, E> {
                let read: Result<CredentialMode, de::value::Error> =
                    CredentialMode::deserialize(word.into_deserializer());
                let mode = read.map_err(|_names_the_word| {
                    E::custom(
                        "is none of `none`, `forward`, `{mode: bearer, token: ..}` and \
                         `{mode: header, name: .., value: ..}`\n\
                         for a token write `{mode: bearer, token: env://NAME}`",
                    )
                })?;
                Ok(CredentialUse { mode: Some(mode), ..CredentialUse::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<CredentialUse, A::Error> {
                let full = Full::deserialize(de::value::MapAccessDeserializer::new(access))?;
                let Full { mode, token, name, value, own } = full;
                Ok(CredentialUse { mode, token, name, value, own })
            }
        }
        let keys = &["mode", "token", "name", "value", "own"];
        deserializer.deserialize_struct("credential", keys, CredentialVisitor)
    }
}
