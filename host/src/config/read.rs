//! Reads a [`Node`] into the types of [`super::file`] and collects everything that does not fit, where serde by itself
//! stops at the first thing: unknown keys are noted and left out, a value of the wrong form is noted, taken out of
//! the tree, and the tree is read again.

use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};
use serde::forward_to_deserialize_any;

use super::key::KeyPath;
use super::misfit::Misfit;
use super::nearest::nearest;
use super::problem::Problem;
use super::tree::{Item, Member, Node, Value};

/// Keys that are known by name but do nothing yet: (name of the struct, key, sentence about it).
pub(super) type NotYet = &'static [(&'static str, &'static str, &'static str)];

/// Keys that stand elsewhere: (name of the struct, key, what is written instead).
pub(super) type Elsewhere = &'static [(&'static str, &'static str, &'static str)];

/// Words that are not read, but may be meant or written: each with the name of the struct that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// Refused by name.
    pub(super) not_yet: NotYet,
    /// Refused with what is written instead.
    pub(super) elsewhere: Elsewhere,
    /// Of another form: the hint for an unknown key may name them.
    pub(super) also: Also,
}

/// Words of another form: (name of the struct, keys).
pub(super) type Also = &'static [(&'static str, &'static [&'static str])];

/// At most so many misfits are reported; a file with more is not a configuration.
const MISFITS: usize = 100;

/// Reads what fits, and says what does not.
pub(super) fn read<T: DeserializeOwned + Default>(tree: &Node, words: Words) -> (T, Vec<Problem>) {
    let mut tree = tree.clone();
    let mut problems = Vec::new();
    for _ in 0..MISFITS {
        let unknown = std::cell::RefCell::new(Vec::new());
        let context = Context { words, unknown: &unknown };
        let reader = Reader { node: &tree, path: KeyPath::top(), context: &context };
        match T::deserialize(reader) {
            Ok(value) => {
                problems.append(&mut unknown.into_inner());
                return (value, problems);
            }
            Err(misfit) => {
                let path = misfit.path.clone().unwrap_or_default();
                problems.push(misfit.into_problem());
                if !tree.prune(&path) {
                    break;
                }
            }
        }
    }
    (T::default(), problems)
}

struct Context<'c> {
    words: Words,
    unknown: &'c std::cell::RefCell<Vec<Problem>>,
}

impl Context<'_> {
    fn refuse_key(&self, owner: &str, path: &KeyPath, key: &str, known: &[&'static str]) {
        let path = path.key(key);
        let Words { not_yet, elsewhere, also } = self.words;
        let is_it = |(name, word, _): &&(&str, &str, &str)| *name == owner && *word == key;
        let problem = if let Some((_, _, instead)) = elsewhere.iter().find(is_it) {
            Problem::new(path, "does not stand here").hint(format!("write {instead}"))
        } else if let Some((_, _, sentence)) = not_yet.iter().find(is_it) {
            Problem::new(path, format!("does nothing yet: {sentence}"))
                .hint("take the key out; plugway refuses what it would ignore")
        } else {
            let also = also.iter().filter(|(name, _)| *name == owner).flat_map(|(_, keys)| *keys);
            let hint = match nearest(key, known.iter().chain(also).copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", known.join(", ")),
            };
            Problem::new(path, "is not a key that plugway knows").hint(hint)
        };
        self.unknown.borrow_mut().push(problem);
    }
}

#[derive(Clone)]
struct Reader<'c, 't> {
    node: &'t Node,
    path: KeyPath,
    context: &'c Context<'c>,
}

impl<'de> de::Deserializer<'de> for Reader<'_, '_> {
    type Error = Misfit;

    fn deserialize_any<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match &self.node.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Unsigned(value) => visitor.visit_u64(*value),
            Value::Signed(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(value) => visitor.visit_str(value),
            Value::List(items) => visitor.visit_seq(Items {
                rest: items.iter(),
                path: &self.path,
                context: self.context,
            }),
            Value::Map(members) => visitor.visit_map(Members {
                rest: members.iter(),
                value: None,
                owner: None,
                path: &self.path,
                context: self.context,
            }),
        }
    }

    fn deserialize_option<V: de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: de::Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: de::Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match &self.node.value {
            Value::Map(members) => visitor.visit_map(Members {
                rest: members.iter(),
                value: None,
                owner: Some((name, fields)),
                path: &self.path,
                context: self.context,
            }),
            Value::Null => visitor.visit_map(Members {
                rest: [].iter(),
                value: None,
                owner: None,
                path: &self.path,
                context: self.context,
            }),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: de::Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match &self.node.value {
            Value::Text(word) => visitor.visit_enum(word.as_str().into_deserializer()),
            _ => Err(Misfit::sentence("must be one word")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string
        bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

struct Items<'c, 't> {
    rest: std::slice::Iter<'t, Item>,
    path: &'c KeyPath,
    context: &'c Context<'c>,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Misfit;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        let Some(item) = self.rest.next() else { return Ok(None) };
        let path = self.path.item(item.index);
        let reader = Reader { node: &item.node, path: path.clone(), context: self.context };
        seed.deserialize(reader).map(Some).map_err(|misfit| misfit.at(path))
    }
}

struct Members<'c, 't> {
    rest: std::slice::Iter<'t, Member>,
    value: Option<&'t Member>,
    /// The struct that is read and its keys; none for a map with free keys.
    owner: Option<(&'static str, &'static [&'static str])>,
    path: &'c KeyPath,
    context: &'c Context<'c>,
}

impl<'de> MapAccess<'de> for Members<'_, '_> {
    type Error = Misfit;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        for member in self.rest.by_ref() {
            if let Some((owner, known)) = self.owner
                && !known.contains(&member.key.as_str())
            {
                self.context.refuse_key(owner, self.path, &member.key, known);
                continue;
            }
            self.value = Some(member);
            return seed.deserialize(member.key.as_str().into_deserializer()).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        let Some(member) = self.value.take() else {
            return Err(Misfit::sentence("has no value"));
        };
        let path = self.path.key(&member.key);
        let reader = Reader { node: &member.node, path: path.clone(), context: self.context };
        seed.deserialize(reader).map_err(|misfit| misfit.at(path))
    }
}
