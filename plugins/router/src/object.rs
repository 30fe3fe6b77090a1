//! A JSON object, member for member: what is not touched stays the bytes that the server sent.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// Members in their order, each with its JSON text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Object<'a> {
    /// Reads an object; none if the text is something else, or names a member twice.
    pub fn parse(json: &'a str) -> Option<Self> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let members = reader.deserialize_map(Members).ok()?;
        reader.end().ok()?;
        Some(Self(members))
    }

    /// JSON text of a member.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, json)| &**json)
    }

    /// A member that holds a text.
    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?).ok()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members, in order.
    pub fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, json)| (&**name, &**json))
    }

    /// Puts JSON text under a name: in the place of what stands there, else at the end.
    pub fn set(&mut self, name: &'a str, json: impl Into<Cow<'a, str>>) {
        let json = json.into();
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = json,
            None => self.0.push((name.into(), json)),
        }
    }

    /// The same, with a member whose name and text are its own.
    #[must_use]
    pub fn with(mut self, name: String, json: String) -> Self {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = json.into(),
            None => self.0.push((name.into(), json.into())),
        }
        self
    }

    /// The same, for as long as anybody wants.
    pub fn owned(self) -> Object<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Object(self.0.into_iter().map(|(name, json)| (own(name), own(json))).collect())
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }
}

impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (place, (name, json)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}:{json}", serde_json::Value::from(&**name))?;
        }
        f.write_str("}")
    }
}

/// The items of a JSON array, each as its text; none for anything else.
pub fn items(json: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// JSON text of an array of these items.
pub fn array<I: AsRef<str>>(items: &[I]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(","))
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(Cow<'de, str>, Cow<'de, str>)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Self::Value = Vec::new();
        let mut names = std::collections::HashSet::new();
        while let Some(Name(name)) = map.next_key()? {
            if !names.insert(name.clone()) {
                return Err(serde::de::Error::custom("a member stands there twice"));
            }
            members.push((name, map.next_value::<&RawValue>()?.get().into()));
        }
        Ok(members)
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
