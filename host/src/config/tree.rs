//! A configuration file as a tree in which every value knows its line and column.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

use super::key::KeyPath;
use super::problem::{Place, Problem};

/// A value, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) place: Option<Place>,
}

/// The value itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(String),
    List(Vec<Item>),
    Map(Vec<Member>),
}

/// An item of a list; the index is the one in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) index: usize,
    pub(super) node: Node,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) place: Option<Place>,
    pub(super) node: Node,
}

impl Node {
    /// A file without content.
    pub(super) fn empty() -> Self {
        Self { value: Value::Map(Vec::new()), place: None }
    }

    /// Reads YAML, of which JSON is a part.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let options = serde_saphyr::options! {
            strict_booleans: true,
            underscored_numbers_as_strings: true,
            with_snippet: false,
        };
        let spanned: Spanned<Value> =
            serde_saphyr::from_str_with_options(text, options).map_err(|error| {
                let place = error.location().and_then(place_of);
                let mut problem = Problem::general(sentence_of(error.without_snippet()))
                    .hint("indent with spaces, close every quote and bracket, write each key once");
                problem.place = place;
                problem
            })?;
        let node = Self { place: place_of(spanned.referenced), value: spanned.value };
        Ok(if node.value == Value::Null { Self::empty() } else { node })
    }

    /// Where a key stands, or the nearest thing above it that stands in the file.
    pub(super) fn place_of(&self, key: &KeyPath) -> Option<Place> {
        let ((_, place), _) = key.walk(
            (self, None),
            |(node, above), name| {
                let member = node.member(name)?;
                Some((&member.node, member.place.or(*above)))
            },
            |(node, above), index| {
                let item = node.item(index)?;
                Some((item, item.place.or(*above)))
            },
        );
        place
    }

    /// Takes a value out, so that the rest can still be read.
    pub(super) fn prune(&mut self, key: &KeyPath) -> bool {
        let mut at = self;
        let mut steps = key.steps().peekable();
        while let Some((name, index)) = steps.next() {
            let last = steps.peek().is_none();
            at = match (&mut at.value, name, index) {
                (Value::Map(members), Some(name), _) => {
                    let Some(found) = members.iter().position(|member| member.key == name) else {
                        return false;
                    };
                    if last {
                        members.remove(found);
                        return true;
                    }
                    match members.get_mut(found) {
                        Some(member) => &mut member.node,
                        None => return false,
                    }
                }
                (Value::List(items), _, Some(index)) => {
                    let Some(found) = items.iter().position(|item| item.index == index) else {
                        return false;
                    };
                    if last {
                        items.remove(found);
                        return true;
                    }
                    match items.get_mut(found) {
                        Some(item) => &mut item.node,
                        None => return false,
                    }
                }
                _ => return false,
            };
        }
        false
    }

    /// The value of a key of a map.
    pub(super) fn value_of(&self, key: &str) -> Option<&Self> {
        self.member(key).map(|member| &member.node)
    }

    fn member(&self, key: &str) -> Option<&Member> {
        match &self.value {
            Value::Map(members) => members.iter().find(|member| member.key == key),
            _ => None,
        }
    }

    fn item(&self, index: usize) -> Option<&Self> {
        match &self.value {
            Value::List(items) => {
                items.iter().find(|item| item.index == index).map(|item| &item.node)
            }
            _ => None,
        }
    }
}

fn place_of(location: Location) -> Option<Place> {
    (location.line() > 0).then(|| Place { line: location.line(), column: location.column() })
}

/// What is wrong with the form. A long key is not repeated: keys of a map of tokens are secrets.
fn sentence_of(error: &serde_saphyr::Error) -> String {
    match error {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } if key.len() < 16 => {
            format!("has the key `{key}` twice")
        }
        serde_saphyr::Error::DuplicateMappingKey { .. } => "has a key twice".to_owned(),
        error => format!("is not YAML: {}", one_line(&error.to_string())),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(u64::try_from(value).map_or(Value::Signed(value), Value::Unsigned))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(spanned) = access.next_element::<Spanned<Value>>()? {
            let node = Node { place: place_of(spanned.referenced), value: spanned.value };
            items.push(Item { index: items.len(), node });
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = access.next_key::<Spanned<String>>()? {
            let spanned: Spanned<Value> = access.next_value()?;
            members.push(Member {
                key: key.value,
                place: place_of(key.referenced),
                node: Node { place: place_of(spanned.referenced), value: spanned.value },
            });
        }
        Ok(Value::Map(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "the form that places are compared in")]
    fn at(line: u64, column: u64) -> Option<Place> {
        Some(Place { line, column })
    }

    #[test]
    fn every_value_knows_its_place() {
        let node = Node::parse("name: hub\nupstreams:\n  - name: a\n    url: http://x\n").unwrap();
        let url = KeyPath::top().key("upstreams").item(0).key("url");
        assert_eq!(node.place_of(&url), at(4, 5));
        assert_eq!(node.place_of(&url.key("nothing")), at(4, 5));
        assert_eq!(node.place_of(&KeyPath::top().key("absent")), None);
    }

    #[test]
    fn json_and_emptiness_are_yaml() {
        assert_eq!(Node::parse("").unwrap(), Node::empty());
        assert_eq!(Node::parse("# nothing\n").unwrap(), Node::empty());
        let node = Node::parse("{\"name\": \"hub\"}").unwrap();
        assert_eq!(node.place_of(&KeyPath::top().key("name")), at(1, 2));
    }

    #[test]
    fn a_country_is_not_a_boolean() {
        let node = Node::parse("a: no\nb: true\nc: 10\nd: -1\ne: 1.5\nf: ~\n").unwrap();
        let Value::Map(members) = node.value else { panic!("a map") };
        let values: Vec<_> = members.into_iter().map(|member| member.node.value).collect();
        let expected = [
            Value::Text("no".to_owned()),
            Value::Bool(true),
            Value::Unsigned(10),
            Value::Signed(-1),
            Value::Float(1.5),
            Value::Null,
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn broken_yaml_has_a_place() {
        let problem = Node::parse("name: hub\nupstreams: [\n").unwrap_err();
        assert!(problem.place.is_some(), "{problem:?}");
        let double = Node::parse("name: a\nname: b\n").unwrap_err();
        assert_eq!(double.place.map(|place| place.line), Some(2), "{double:?}");
    }

    #[test]
    fn a_pruned_list_keeps_its_numbers() {
        let mut node = Node::parse("l: [a, b, c]").unwrap();
        assert!(node.prune(&KeyPath::top().key("l").item(0)));
        assert!(!node.prune(&KeyPath::top().key("l").item(0)));
        assert_eq!(node.place_of(&KeyPath::top().key("l").item(2)), at(1, 11));
    }
}
