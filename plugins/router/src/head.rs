//! Finds the name of a definition without reading the rest of it: schemas, numbers, unknown fields and the order of keys
//! stay the bytes that the server sent.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserializer as _;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The value of one top-level key that holds a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The text.
    pub text: String,
    /// Where its JSON stands in the definition, with its quotes.
    pub place: Range<usize>,
}

impl Head {
    /// Reads a definition, which must be a JSON object with exactly one such key and a text that is not empty under it.
    pub fn of(definition: &str, key: &'static str) -> Result<Self, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(definition);
        let raw = reader.deserialize_map(Finder { key })?;
        reader.end()?;
        let text = decoded(raw.get())?;
        if text.is_empty() {
            return Err(Error::custom(format_args!("`{key}` is empty")));
        }
        let start = raw.get().as_ptr().addr() - definition.as_ptr().addr();
        Ok(Self { text, place: start..start + raw.get().len() })
    }

    /// The definition with this text in place of the found one. `plain` needs no escapes in JSON.
    pub fn replaced(&self, definition: &str, plain: &str) -> Option<String> {
        let before = definition.get(..self.place.start)?;
        let after = definition.get(self.place.end..)?;
        Some([before, "\"", plain, "\"", after].concat())
    }
}

fn decoded(json: &str) -> Result<String, serde_json::Error> {
    let plain = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match plain {
        Some(text) if !text.contains('\\') => Ok(text.to_owned()),
        _ => serde_json::from_str(json),
    }
}

struct Finder {
    key: &'static str,
}

impl<'de> Visitor<'de> for Finder {
    type Value = &'de RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with `{}`", self.key)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(Key(key)) = map.next_key()? {
            if key != self.key {
                map.next_value::<IgnoredAny>()?;
            } else if found.replace(map.next_value::<&RawValue>()?).is_some() {
                return Err(A::Error::duplicate_field(self.key));
            }
        }
        found.ok_or_else(|| A::Error::missing_field(self.key))
    }
}

/// A key that is copied only when it holds escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
