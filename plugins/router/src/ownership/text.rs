//! Changes single places of a JSON text and leaves all other bytes as they are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// How strings are written that are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Characters beyond ASCII as they are.
    Plain,
    /// As Python's `json.dumps` does without being told otherwise: all ASCII.
    Ascii,
}

/// The JSON text with each of its strings, keys included, that `change` wants otherwise.
pub fn map_strings(
    json: &str,
    style: Style,
    mut change: impl FnMut(&str) -> Option<String>,
) -> String {
    let mut made = String::with_capacity(json.len());
    let mut done = 0;
    for place in strings(json) {
        let token = json.get(place.clone()).unwrap_or_default();
        let Ok(decoded) = serde_json::from_str::<String>(token) else { continue };
        if let Some(changed) = change(&decoded) {
            made.push_str(json.get(done..place.start).unwrap_or_default());
            made.push_str(&encoded(&changed, style));
            done = place.end;
        }
    }
    made.push_str(json.get(done..).unwrap_or_default());
    made
}

/// The texts of a tool's result changed, whichever way they are given: as content, or the same again as structured content.
pub fn map_texts(result: &str, change: impl FnMut(&str) -> Option<String>) -> String {
    map_strings(result, Style::Plain, change)
}

/// The text with every string in it, if it is JSON, or else itself changed.
pub fn map_inner(text: &str, mut change: impl FnMut(&str) -> Option<String>) -> Option<String> {
    if !is_structure(text) {
        return change(text);
    }
    let style = if text.is_ascii() { Style::Ascii } else { Style::Plain };
    let mut any = false;
    let made = map_strings(text, style, |string| {
        let changed = change(string);
        any |= changed.is_some();
        changed
    });
    any.then_some(made)
}

/// Whether a text is a JSON object or array.
pub fn is_structure(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '['])
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The place of a member's value in an object; none where the text is no object or has no such member.
pub fn member(object: &str, name: &str) -> Option<Range<usize>> {
    let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(object).ok()?;
    Some(place_in(object, members.get(name)?))
}

/// The places of the items of an array that stands at this place of a text.
pub fn items(text: &str, array: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let all: Vec<&RawValue> = serde_json::from_str(text.get(array.clone())?).ok()?;
    Some(all.into_iter().map(|item| place_in(text, item)).collect())
}

/// The text with this instead of what stands at a place.
pub fn spliced(text: &str, place: &Range<usize>, instead: &str) -> String {
    let before = text.get(..place.start).unwrap_or_default();
    let after = text.get(place.end..).unwrap_or_default();
    [before, instead, after].concat()
}

/// The object with this value of a member, whether it had one or not. None where it is no object.
pub fn with_member(object: &str, name: &str, value: &str) -> Option<String> {
    if let Some(place) = member(object, name) {
        return Some(spliced(object, &place, value));
    }
    let rest = object.trim_ascii_start().strip_prefix('{')?;
    let comma = if rest.trim_ascii_start().starts_with('}') { "" } else { "," };
    let name = serde_json::Value::from(name);
    Some(format!("{{{name}:{value}{comma}{rest}"))
}

/// The text with every number right behind these words replaced.
pub fn renumbered(text: &str, words: &str, number: usize) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let mut made = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(words) {
        let (before, after) = rest.split_at(at + words.len());
        made.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() < after.len() {
            made.push_str(&number.to_string());
        }
    }
    made.push_str(rest);
    (made != text).then_some(made)
}

fn place_in(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr().addr() - text.as_ptr().addr();
    start..start + part.get().len()
}

/// The places of the strings of a JSON text, with their quotes.
fn strings(json: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes.get(at..)?.iter().position(|byte| *byte == b'"')?;
        let mut end = start + 1;
        loop {
            match bytes.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                _ => end += 1,
            }
        }
        at = end + 1;
        Some(start..at)
    })
}

fn encoded(text: &str, style: Style) -> String {
    let plain = serde_json::Value::from(text).to_string();
    if style == Style::Plain || plain.is_ascii() {
        return plain;
    }
    let mut made = String::with_capacity(plain.len());
    for c in plain.chars() {
        if c.is_ascii() {
            made.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // writing to a text does not fail
                _ = write!(made, "\\u{unit:04x}");
            }
        }
    }
    made
}
