//! A value of a configuration and where it stands, so that what is wrong can be named.

use serde_json::{Map, Value};

/// Where something is wrong, and what: one sentence.
pub(super) type Wrong = (String, String);

/// Entries of one list.
const ENTRIES_MAX: usize = 256;
/// Bytes of one text.
const TEXT_MAX: usize = 1_024;

/// A value in its place.
#[derive(Clone, Debug)]
pub(super) struct Place<'a> {
    pub(super) path: String,
    pub(super) value: &'a Value,
}

impl<'a> Place<'a> {
    pub(super) fn new(path: impl Into<String>, value: &'a Value) -> Self {
        Self { path: path.into(), value }
    }

    /// The value is wrong.
    pub(super) fn wrong<T>(&self, sentence: impl Into<String>) -> Result<T, Wrong> {
        Err((self.path.clone(), sentence.into()))
    }

    /// The members, all of which have one of these names.
    pub(super) fn members(&self, known: &[&str]) -> Result<Members<'a>, Wrong> {
        let Value::Object(map) = self.value else {
            return self.wrong("this must be an object");
        };
        for key in map.keys() {
            if !known.contains(&key.as_str()) {
                let sentence = format!("there is no such key; known are {}", known.join(", "));
                return Err((format!("{}.{key}", self.path), sentence));
            }
        }
        Ok(Members { path: self.path.clone(), map })
    }

    /// The items of a list; one that is no list counts as a list of itself.
    pub(super) fn any_of(&self) -> Result<Vec<Self>, Wrong> {
        match self.value {
            Value::Array(_) => {
                let items = self.items()?;
                if items.is_empty() {
                    return self.wrong("an empty list matches nothing");
                }
                Ok(items)
            }
            _ => Ok(vec![self.clone()]),
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Result<Vec<Self>, Wrong> {
        let Value::Array(items) = self.value else { return self.wrong("this must be a list") };
        if items.len() > ENTRIES_MAX {
            return self.wrong(format!("a list has at most {ENTRIES_MAX} entries"));
        }
        let path = &self.path;
        Ok(items
            .iter()
            .enumerate()
            .map(|(at, value)| Self::new(format!("{path}[{at}]"), value))
            .collect())
    }

    pub(super) fn text(&self) -> Result<&'a str, Wrong> {
        match self.value {
            Value::String(text) if text.is_empty() => self.wrong("this must not be empty"),
            Value::String(text) if text.len() > TEXT_MAX => {
                self.wrong(format!("a text has at most {TEXT_MAX} bytes"))
            }
            Value::String(text) => Ok(text),
            _ => self.wrong("this must be a text"),
        }
    }

    /// A text, or a list of texts.
    pub(super) fn texts(&self) -> Result<Vec<&'a str>, Wrong> {
        self.any_of()?.iter().map(Self::text).collect()
    }

    pub(super) fn flag(&self) -> Result<bool, Wrong> {
        match self.value {
            Value::Bool(flag) => Ok(*flag),
            _ => self.wrong("this must be true or false"),
        }
    }

    pub(super) fn number(&self) -> Result<f64, Wrong> {
        match self.value.as_f64() {
            Some(number) => Ok(number),
            None => self.wrong("this must be a number"),
        }
    }

    /// A whole number of at least 1.
    pub(super) fn count(&self) -> Result<u32, Wrong> {
        let count = self.value.as_u64().and_then(|number| u32::try_from(number).ok());
        match count {
            Some(count) if count > 0 => Ok(count),
            _ => self.wrong("this must be a whole number of at least 1"),
        }
    }

    /// A whole number.
    pub(super) fn size(&self) -> Result<usize, Wrong> {
        match self.value.as_u64().and_then(|number| usize::try_from(number).ok()) {
            Some(size) => Ok(size),
            None => self.wrong("this must be a whole number of at least 0"),
        }
    }

    /// One of these words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, Wrong> {
        let given = self.value.as_str();
        if let Some((_, meaning)) = words.iter().find(|(word, _)| Some(*word) == given) {
            return Ok(*meaning);
        }
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.wrong(format!("this must be one of {}", words.join(", ")))
    }
}

/// Members of an object, in the order in which they were written.
#[derive(Clone, Debug)]
pub(super) struct Members<'a> {
    path: String,
    map: &'a Map<String, Value>,
}

impl<'a> Members<'a> {
    /// A member; none where it is absent.
    pub(super) fn get(&self, key: &str) -> Option<Place<'a>> {
        self.map.get(key).map(|value| Place::new(self.path_of(key), value))
    }

    /// A member that must be there.
    pub(super) fn need(&self, key: &str) -> Result<Place<'a>, Wrong> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    /// What is wrong where a member is absent.
    pub(super) fn missing(&self, key: &str) -> Wrong {
        (self.path_of(key), "this is needed".to_owned())
    }

    /// Every member.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'a str, Place<'a>)> + '_ {
        self.map.iter().map(|(key, value)| (key.as_str(), Place::new(self.path_of(key), value)))
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}
