//! Lists of which the first items are read: whoever sends a million of them does not get memory for a million.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The first `MOST` items of a list, and how many more it had.
#[derive(Debug)]
pub(super) struct Few<T, const MOST: usize> {
    /// In their order.
    pub(super) first: Vec<T>,
    /// How many are not among them.
    pub(super) more: usize,
}

impl<T, const MOST: usize> Default for Few<T, MOST> {
    fn default() -> Self {
        Self { first: Vec::new(), more: 0 }
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Few<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Items(PhantomData))
    }
}

struct Items<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Items<T, MOST> {
    type Value = Few<T, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut few = Few::default();
        while few.first.len() < MOST {
            match items.next_element()? {
                Some(item) => few.first.push(item),
                None => return Ok(few),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            few.more += 1;
        }
        Ok(few)
    }
}

/// The first `MOST` members of an object.
#[derive(Debug, Default)]
pub(super) struct Members<'a, const MOST: usize>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a, const MOST: usize> Deserialize<'de> for Members<'a, MOST> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Pairs(PhantomData))
    }
}

struct Pairs<'a, const MOST: usize>(PhantomData<&'a ()>);

impl<'de: 'a, 'a, const MOST: usize> Visitor<'de> for Pairs<'a, MOST> {
    type Value = Members<'a, MOST>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut few = Vec::new();
        while few.len() < MOST {
            match members.next_entry::<Cow<'a, str>, &'a RawValue>()? {
                Some(member) => few.push(member),
                None => return Ok(Members(few)),
            }
        }
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Members(few))
    }
}
