//! JSON as it was written: numbers keep their text, strings their value, and the order of members means nothing.
//!
//! `1` and `1.0` are two things here, and an integer beyond 2^53 is not rounded, which `serde_json::Value` does not give.

use std::{collections::BTreeMap, fmt};

use anyhow::{Context as _, Result, ensure};
use serde::{
    Deserialize,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// One JSON value. Two are equal when they say the same in the same numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exact {
    /// An object; a member twice is refused.
    Object(BTreeMap<String, Self>),
    /// An array.
    Array(Vec<Self>),
    /// A string, without its escapes.
    Text(String),
    /// A number, `true`, `false` or `null`, as it was written.
    Token(String),
}

impl Exact {
    /// Reads a text.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let Members(members) =
                    serde_json::from_str(text).with_context(|| format!("not JSON: {text}"))?;
                let parsed =
                    members.into_iter().map(|(key, raw)| Ok((key, Self::parse(raw.get())?)));
                Self::Object(parsed.collect::<Result<_>>()?)
            }
            Some(b'[') => {
                let items: Vec<Box<RawValue>> =
                    serde_json::from_str(text).with_context(|| format!("not JSON: {text}"))?;
                Self::Array(items.iter().map(|raw| Self::parse(raw.get())).collect::<Result<_>>()?)
            }
            Some(b'"') => Self::Text(serde_json::from_str(text)?),
            _ => {
                let raw: &RawValue =
                    serde_json::from_str(text).with_context(|| format!("not JSON: {text:?}"))?;
                Self::Token(raw.get().to_owned())
            }
        })
    }

    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The member at this path of keys.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| match value {
            Self::Object(members) => members.get(*key),
            _ => None,
        })
    }

    /// The same, to be changed.
    pub fn at_mut(&mut self, path: &[&str]) -> Option<&mut Self> {
        path.iter().try_fold(self, |value, key| match value {
            Self::Object(members) => members.get_mut(*key),
            _ => None,
        })
    }

    /// The string at this path.
    pub fn str_at(&self, path: &[&str]) -> Option<&str> {
        self.at(path)?.as_str()
    }

    /// Its text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Its items, if it is an array.
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// Removes a member; none where there is no such member.
    pub fn remove(&mut self, key: &str) -> Option<Self> {
        match self {
            Self::Object(members) => members.remove(key),
            _ => None,
        }
    }

    /// Sets a member of an object.
    pub fn set(&mut self, key: &str, value: Self) {
        if let Self::Object(members) = self {
            members.insert(key.to_owned(), value);
        }
    }

    /// The method of a message.
    pub fn method(&self) -> Option<&str> {
        self.str_at(&["method"])
    }

    /// Whether it asks for an answer.
    pub fn is_request(&self) -> bool {
        self.method().is_some() && self.at(&["id"]).is_some()
    }
}

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Object(members) => {
                f.write_str("{")?;
                for (place, (key, value)) in members.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(f, "{comma}{}:{value}", quoted(key))?;
                }
                f.write_str("}")
            }
            Self::Array(items) => {
                f.write_str("[")?;
                for (place, item) in items.iter().enumerate() {
                    let comma = if place == 0 { "" } else { "," };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Token(text) => f.write_str(text),
        }
    }
}

/// The members of an object, each as it was written.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object)
    }
}

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if members.iter().any(|(known, _)| *known == key) {
                return Err(A::Error::custom(format!("the member {key:?} twice")));
            }
            members.push((key, value));
        }
        Ok(Members(members))
    }
}

/// One value a line; empty lines and lines that begin with `#` are left out.
pub fn lines(text: &str) -> Result<Vec<Exact>> {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let lines: Vec<Exact> = lines.map(Exact::parse).collect::<Result<_>>()?;
    ensure!(!lines.is_empty(), "there is nothing in it");
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_text_and_order_means_nothing() {
        let exact = |text: &str| Exact::parse(text).unwrap();
        assert_eq!(exact(r#"{"a":1,"b":["\u00e4"]}"#), exact(r#"{ "b": ["ä"], "a": 1 }"#));
        for (one, other) in [("1", "1.0"), ("1e2", "100"), ("9007199254740993", "9007199254740992")]
        {
            assert_ne!(exact(one), exact(other));
        }
        let text = r#"{"a":[12345678901234567890,1.0,null],"b":"\"\n"}"#;
        assert_eq!(exact(text).to_string(), text);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [r#"{"a":1,"a":2}"#, "", "{", "01", "[1,]"] {
            assert!(Exact::parse(text).is_err(), "{text}");
        }
    }
}
