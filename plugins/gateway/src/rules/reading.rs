//! What servers make of a value that was sent as another type: many read `"500"` as the number 500, `"true"` as true, `"[1]"`
//! as a list, and some 5 as the text `5`.

use std::cmp::Ordering;

use serde_json::Value;

use super::value::same;

/// A value beside what it is: as far as it can be read as something else.
pub(super) struct Reading {
    /// As a number; NaN = as one that is not known.
    pub(super) number: Option<f64>,
    /// What a text holds as JSON: a list, an object or null.
    opened: Option<Value>,
}

impl Reading {
    /// Of a value.
    pub(super) fn of(value: &Value) -> Self {
        Self { number: number_of(value), opened: value.as_str().and_then(opened) }
    }

    /// Whether this value, of which this is the reading, may be taken for that one.
    pub(super) fn is_like(&self, value: &Value, known: &Value) -> bool {
        if let (Some(one), Some(other)) = (self.number, number_of(known)) {
            return one.partial_cmp(&other).is_none_or(Ordering::is_eq);
        }
        let inside = known.as_str().and_then(opened);
        let known = inside.as_ref().unwrap_or(known);
        match (self.opened.as_ref().unwrap_or(value), known) {
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| alike(a, b)))
            }
            (a, b) => same(a, b),
        }
    }
}

fn alike(value: &Value, known: &Value) -> bool {
    same(value, known) || Reading::of(value).is_like(value, known)
}

/// The texts that a number or a boolean may become; none of anything else.
pub(super) fn texts(value: Option<&Value>, written: &str) -> Vec<String> {
    match value {
        // Too large to be read: as it is written.
        None if written.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            vec![written.to_owned()]
        }
        Some(Value::Number(number)) => {
            let float = number.as_f64().unwrap_or(f64::NAN);
            vec![written.to_owned(), number.to_string(), float.to_string(), format!("{float:?}")]
        }
        Some(Value::Bool(true)) => vec!["true".to_owned(), "True".to_owned(), "1".to_owned()],
        Some(Value::Bool(false)) => vec!["false".to_owned(), "False".to_owned(), "0".to_owned()],
        _ => Vec::new(),
    }
}

/// What a text holds as JSON, where servers look: a list, an object or null.
pub(super) fn opened(text: &str) -> Option<Value> {
    if !(text.trim_start().starts_with(['[', '{']) || text.trim() == "null") {
        return None;
    }
    serde_json::from_str(text).ok()
}

fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::String(text) => number_in(text).or_else(|| flag_in(text).map(f64::from)),
        _ => None,
    }
}

/// The number that a text is, as Python, JavaScript or JSON write them. What is too large is infinite; what has digits of
/// other scripts is NaN.
fn number_in(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_wide = |c: char| !c.is_ascii() && c.is_numeric();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c) || is_wide(c);
    if !text.chars().all(is_part) {
        return None;
    }
    let plain = text.chars().filter(|c| *c != '_').map(|c| if is_wide(c) { '0' } else { c });
    let plain: String = plain.collect();
    let number = plain.parse().ok().or_else(|| with_radix(&plain))?;
    Some(if text.chars().any(is_wide) { f64::NAN } else { number })
}

fn with_radix(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['+', '-']);
    let (digits, radix) = [("0x", 16_u32), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)]
        .into_iter()
        .find_map(|(prefix, radix)| Some((digits.strip_prefix(prefix)?, radix)))?;
    let add =
        |sum: f64, digit: char| Some(sum * f64::from(radix) + f64::from(digit.to_digit(radix)?));
    let number = digits.chars().try_fold(0.0, add).filter(|_| !digits.is_empty())?;
    Some(if text.starts_with('-') { -number } else { number })
}

/// Words that are read as true and false.
fn flag_in(text: &str) -> Option<u8> {
    let is = |words: [&str; 5]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
    if is(["true", "t", "yes", "y", "on"]) {
        return Some(1);
    }
    is(["false", "f", "no", "n", "off"]).then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts() {
        for (text, number) in [
            ("500", 500.0),
            (" +5_00.0 ", 500.0),
            ("5e2", 500.0),
            ("0x1F4", 500.0),
            ("-0b11", -3.0),
            ("1e400", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(number_in(text), Some(number), "{text}");
        }
        assert!(number_in("\u{ff15}00").unwrap().is_nan());
        for text in ["", "5 0", "0x", "0xg", "five", "5%", "1e", "--5"] {
            assert_eq!(number_in(text), None, "{text}");
        }
    }
}
