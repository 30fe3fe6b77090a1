//! Tests of one JSON value: a claim or an argument.

use std::fmt;

use regex_lite::{Regex, RegexBuilder};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::place::{Members, Place, Wrong};
use super::reading::{self, Reading};
use super::when::Truth;

/// Bytes of a pattern.
const PATTERN_MAX: usize = 512;
/// Bytes of a compiled pattern.
const COMPILED_MAX: usize = 256 << 10;
/// Bytes of a text that patterns are matched with: so much takes a part of the time that a plugin has.
const MATCHED_MAX: usize = 32 << 10;

/// The keys that say what a value must be.
pub(super) const KEYS: [&str; 6] = ["equals", "one_of", "matches", "size", "range", "exists"];

/// What a value must be; everything that is written must hold.
#[derive(Clone, Debug)]
pub(super) struct ValueTest {
    /// Any of these.
    one_of: Option<Vec<Value>>,
    /// A string that is matched as a whole.
    pattern: Option<Pattern>,
    /// Characters of a string, items of an array, members of an object.
    size: Option<(usize, usize)>,
    /// A number from, to.
    range: Option<(f64, f64)>,
    exists: Option<bool>,
}

impl ValueTest {
    pub(super) fn read(place: &Place<'_>, members: &Members<'_>) -> Result<Self, Wrong> {
        if KEYS.iter().all(|key| members.get(key).is_none()) {
            return place.wrong(format!("this needs at least one of {}", KEYS.join(", ")));
        }
        let one_of = match (members.get("equals"), members.get("one_of")) {
            (Some(_), Some(both)) => {
                return both.wrong("of equals and one_of only one can be said");
            }
            (Some(equals), None) => Some(vec![equals.value.clone()]),
            (None, Some(list)) => {
                let items = list.items()?;
                if items.is_empty() {
                    return list.wrong("an empty list matches nothing");
                }
                Some(items.iter().map(|item| item.value.clone()).collect())
            }
            (None, None) => None,
        };
        let exists = members.get("exists").map(|place| place.flag()).transpose()?;
        let test = Self {
            one_of,
            pattern: members.get("matches").map(|place| pattern(&place)).transpose()?,
            size: members.get("size").map(|place| size(&place)).transpose()?,
            range: members.get("range").map(|place| range(&place)).transpose()?,
            exists,
        };
        if exists == Some(false) && test.looks_inside() {
            return place.wrong("what does not exist cannot be tested further");
        }
        Ok(test)
    }

    fn looks_inside(&self) -> bool {
        self.one_of.is_some()
            || self.pattern.is_some()
            || self.size.is_some()
            || self.range.is_some()
    }

    /// Whether the value is as it must be; none = it is absent.
    pub(super) fn holds(&self, text: Option<&str>) -> bool {
        let Some(text) = text else { return self.exists == Some(false) };
        if self.exists == Some(false) {
            return false;
        }
        // Measured without reading what is inside: however deep it is, its size is known.
        if let Some((min, max)) = self.size
            && !measure(text).is_some_and(|size| (min..=max).contains(&size))
        {
            return false;
        }
        if self.one_of.is_none() && self.pattern.is_none() && self.range.is_none() {
            return true;
        }
        // What is nested too deeply to be read is deeper than anything that an operator can write here.
        serde_json::from_str::<Value>(text).is_ok_and(|value| self.inside(&value))
    }

    fn inside(&self, value: &Value) -> bool {
        let listed =
            self.one_of.as_ref().is_none_or(|list| list.iter().any(|known| same(known, value)));
        let matched = self
            .pattern
            .as_ref()
            .is_none_or(|pattern| value.as_str().is_some_and(|text| pattern.strict.is_match(text)));
        let within = self.range.is_none_or(|range| {
            value.as_f64().is_some_and(|number| is_within(range, number) == Truth::Yes)
        });
        listed && matched && within
    }

    /// The same for an argument, which servers may read as another type than it has: unknown where that decides.
    pub(super) fn judge(&self, text: Option<&str>) -> Truth {
        let Some(text) = text.map(str::trim) else { return (self.exists == Some(false)).into() };
        // Many servers take null for what was not said.
        let mut truth = match self.exists {
            Some(false) => return if text == "null" { Truth::Unknown } else { Truth::No },
            Some(true) if text == "null" => Truth::Unknown,
            _ => Truth::Yes,
        };
        if text.starts_with('"')
            && self.looks_inside()
            && serde_json::from_str::<String>(text).is_err()
        {
            // Half a surrogate pair: what servers make of it differs.
            return Truth::Unknown;
        }
        if let Some(bounds) = self.size {
            truth = truth.and(sized(bounds, text));
        }
        if truth == Truth::No
            || (self.one_of.is_none() && self.pattern.is_none() && self.range.is_none())
        {
            return truth;
        }
        // None = a number that is too large, or what is nested more deeply than anything that an operator can write here.
        let value = serde_json::from_str::<Value>(text).ok();
        if let Some(list) = &self.one_of {
            truth = truth.and(value.as_ref().map_or(Truth::No, |value| listed(list, value)));
        }
        if let Some(pattern) = &self.pattern {
            truth = truth.and(match &value {
                Some(Value::String(text)) => pattern.matches(text),
                value => {
                    let texts = reading::texts(value.as_ref(), text);
                    let any = texts.iter().any(|text| pattern.loose.is_match(text));
                    if any { Truth::Unknown } else { Truth::No }
                }
            });
        }
        if let Some(range) = self.range {
            truth = truth.and(match &value {
                Some(Value::Number(number)) => {
                    is_within(range, number.as_f64().unwrap_or(f64::NAN))
                }
                None => text.parse().map_or(Truth::No, |number| is_within(range, number)),
                Some(value) => match Reading::of(value).number {
                    Some(number) if is_within(range, number) != Truth::No => Truth::Unknown,
                    _ => Truth::No,
                },
            });
        }
        truth
    }

    /// The same for a claim: where it is an array, any of its items may be as it must be, or the whole.
    pub(super) fn holds_any(&self, value: Option<&Value>) -> bool {
        let whole = value.map(Value::to_string);
        if self.holds(whole.as_deref()) {
            return true;
        }
        let Some(Value::Array(items)) = value else { return false };
        items.iter().any(|item| self.holds(Some(&item.to_string())))
    }
}

fn listed(list: &[Value], value: &Value) -> Truth {
    if list.iter().any(|known| same(known, value)) {
        return Truth::Yes;
    }
    let reading = Reading::of(value);
    let like = list.iter().any(|known| reading.is_like(value, known));
    if like { Truth::Unknown } else { Truth::No }
}

/// Whether a value has this size; unknown where a text is read as the list or object that it holds, or a number as text, and
/// that decides.
fn sized((min, max): (usize, usize), text: &str) -> Truth {
    let fits = |size: Option<usize>| size.is_some_and(|size| (min..=max).contains(&size));
    let own = fits(measure(text));
    let other = if text.starts_with('"') {
        let inside = serde_json::from_str::<String>(text).ok();
        let inside = inside.filter(|inside| inside.trim_start().starts_with(['[', '{']));
        inside.and_then(|inside| measure(&inside)).map_or(own, |size| fits(Some(size)))
    } else if text.starts_with(['[', '{', 'n']) {
        own
    } else {
        fits(Some(text.len()))
    };
    if own == other { own.into() } else { Truth::Unknown }
}

fn is_within((min, max): (f64, f64), number: f64) -> Truth {
    if number.is_nan() {
        return Truth::Unknown;
    }
    (min <= number && number <= max).into()
}

/// A pattern for whole texts.
#[derive(Clone, Debug)]
struct Pattern {
    /// As it is written: a point is no line's end.
    strict: Regex,
    /// A point is a line's end too.
    loose: Regex,
}

impl Pattern {
    /// Unknown where only a line's end stands between text and pattern, and of a text that is too long.
    fn matches(&self, text: &str) -> Truth {
        if text.len() > MATCHED_MAX {
            return Truth::Unknown;
        }
        if self.strict.is_match(text) {
            return Truth::Yes;
        }
        // Without a line's end in it the other says the same.
        let loosely = text.contains('\n') && self.loose.is_match(text);
        if loosely { Truth::Unknown } else { Truth::No }
    }
}

/// Equal as JSON: 1 and 1.0 are one number.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.as_f64() == b.as_f64() && (a.is_f64() || b.is_f64()))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

fn pattern(place: &Place<'_>) -> Result<Pattern, Wrong> {
    let text = place.text()?;
    if text.len() > PATTERN_MAX {
        return place.wrong(format!("a pattern has at most {PATTERN_MAX} bytes"));
    }
    let compile = |text: &str, lines: bool| {
        RegexBuilder::new(text).size_limit(COMPILED_MAX).dot_matches_new_line(lines).build()
    };
    let whole = format!(r"\A(?:{text})\z");
    // Alone first: a parenthesis too many must not close the one that is put around it.
    let both = compile(text, false).and_then(|_| {
        Ok(Pattern { strict: compile(&whole, false)?, loose: compile(&whole, true)? })
    });
    both.or_else(|error| place.wrong(format!("this is no pattern: {error}")))
}

fn size(place: &Place<'_>) -> Result<(usize, usize), Wrong> {
    let members = place.members(&["min", "max"])?;
    let min = members.get("min").map(|place| place.size()).transpose()?;
    let max = members.get("max").map(|place| place.size()).transpose()?;
    ends(place, min, max, (0, usize::MAX))
}

fn range(place: &Place<'_>) -> Result<(f64, f64), Wrong> {
    let members = place.members(&["min", "max"])?;
    let min = members.get("min").map(|place| place.number()).transpose()?;
    let max = members.get("max").map(|place| place.number()).transpose()?;
    ends(place, min, max, (f64::NEG_INFINITY, f64::INFINITY))
}

fn ends<T: PartialOrd + Copy>(
    place: &Place<'_>,
    min: Option<T>,
    max: Option<T>,
    widest: (T, T),
) -> Result<(T, T), Wrong> {
    if min.is_none() && max.is_none() {
        return place.wrong("this needs min, max or both");
    }
    let (min, max) = (min.unwrap_or(widest.0), max.unwrap_or(widest.1));
    if min > max {
        return place.wrong("min is larger than max");
    }
    Ok((min, max))
}

/// How large a JSON text is at its top; none for numbers, booleans and null.
fn measure(text: &str) -> Option<usize> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.deserialize_any(Measure).ok().flatten()
}

struct Measure;

impl<'de> Visitor<'de> for Measure {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(text.chars().count()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut count = 0;
        while items.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Some(count))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut count = 0;
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Some(count))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}
