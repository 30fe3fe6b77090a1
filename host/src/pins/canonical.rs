//! The one text that a JSON value has (RFC 8785): the same whatever white space, order of members, escapes and ways to write
//! a number its author chose.
//!
//! One thing is beyond that RFC: a whole number that no double is, such as `9007199254740993`, stands as it was written. The
//! RFC leaves it out (RFC 7493, section 2.2); some readers keep all its digits, and its neighbours would have the same digest.
//! So does what is too large for any double.

use std::fmt::Write as _;

use crate::protocol::Document;
use crate::protocol::document::Ambiguous;
use crate::protocol::message;

/// The canonical text; fails where two readers would read the value differently: a key that stands twice, half a surrogate.
/// `see` is given each string of it, keys included.
pub(super) fn canonical(json: &str, see: &mut dyn FnMut(&str)) -> Result<String, Ambiguous> {
    Document::parse(json)?;
    let mut reader = Reader { json, at: 0, see };
    let mut out = String::with_capacity(json.len());
    // What was checked has no other end than the end of the text.
    reader.value(&mut out).unwrap_or_default();
    Ok(out)
}

/// Reads text that is known to be JSON; none only where it is not.
struct Reader<'a, 'b> {
    json: &'a str,
    at: usize,
    see: &'b mut dyn FnMut(&str),
}

impl<'a> Reader<'a, '_> {
    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.json.as_bytes();
        while matches!(bytes.get(self.at)?, b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// Takes a byte if it is the next one.
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Recursion ends at the depth that was checked.
    fn value(&mut self, out: &mut String) -> Option<()> {
        match self.peek()? {
            b'{' => self.object(out),
            b'[' => self.array(out),
            b'"' => {
                let text = self.string()?;
                out.push_str(&json_string(&text));
                Some(())
            }
            b'-' | b'0'..=b'9' => {
                let token = self.token();
                number(token, out);
                Some(())
            }
            _ => {
                out.push_str(self.token());
                Some(())
            }
        }
    }

    /// Members are sorted by the UTF-16 code units of their names.
    fn object(&mut self, out: &mut String) -> Option<()> {
        self.at += 1;
        let mut members: Vec<(Vec<u16>, String)> = Vec::new();
        while !self.takes(b'}') {
            self.takes(b',');
            self.peek()?;
            let name = self.string()?;
            self.takes(b':');
            let mut member = json_string(&name);
            member.push(':');
            self.value(&mut member)?;
            members.push((name.encode_utf16().collect(), member));
        }
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        joined(('{', '}'), members.into_iter().map(|(_, member)| member), out);
        Some(())
    }

    fn array(&mut self, out: &mut String) -> Option<()> {
        self.at += 1;
        out.push('[');
        let mut first = true;
        while !self.takes(b']') {
            if !first {
                self.takes(b',');
                out.push(',');
            }
            first = false;
            self.value(out)?;
        }
        out.push(']');
        Some(())
    }

    /// The text of the string that begins here.
    fn string(&mut self) -> Option<String> {
        let start = self.at;
        let bytes = self.json.as_bytes();
        self.at += 1;
        while *bytes.get(self.at)? != b'"' {
            self.at += if bytes.get(self.at) == Some(&b'\\') { 2 } else { 1 };
        }
        self.at += 1;
        let text = message::string(self.json.get(start..self.at)?)?.into_owned();
        (self.see)(&text);
        Some(text)
    }

    /// A number or a word.
    fn token(&mut self) -> &'a str {
        let rest = self.json.get(self.at..).unwrap_or_default();
        let ends = |c: char| matches!(c, ',' | ']' | '}' | ' ' | '\t' | '\n' | '\r');
        let end = rest.find(ends).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }
}

/// JSON text of a string as RFC 8785 writes it: nothing is escaped but what has to be, in the shortest way.
pub(super) fn json_string(text: &str) -> String {
    // A string always has JSON text.
    serde_json::to_string(text).unwrap_or_default()
}

fn joined(around: (char, char), parts: impl Iterator<Item = String>, out: &mut String) {
    out.push(around.0);
    for (place, part) in parts.enumerate() {
        if place > 0 {
            out.push(',');
        }
        out.push_str(&part);
    }
    out.push(around.1);
}

/// Digits without zeros around them, and the place of the point behind the first of them, as a power of ten.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    digits: String,
    /// Of nothing but zeros it is 0.
    power: i64,
}

/// A number as ECMAScript writes it (`Number::toString`), or as it stands where no double is that whole number.
fn number(token: &str, out: &mut String) {
    let read = token.parse::<f64>().ok().filter(|double| double.is_finite());
    let shortest = read.and_then(|double| Some((double, shortest(double)?)));
    match (shortest, decimal(token)) {
        (Some((double, shortest)), Some(written))
            if !written.is_whole()
                || written == shortest
                || Some(&written) == decimal(&format!("{double:.0}")).as_ref() =>
        {
            ecmascript(double.is_sign_negative(), &shortest, out);
        }
        _ => out.push_str(token),
    }
}

/// The fewest digits that read as this double; of two that are equally near the even one (ECMA-262, note 2).
fn shortest(double: f64) -> Option<Decimal> {
    let found = decimal(&format!("{double:e}"))?;
    let count = found.digits.len();
    if !format!("{double:.count$e}").contains("5e") {
        return Some(found);
    }
    // A double has at most 767 digits: this is all of it.
    let exact = decimal(&format!("{double:.800e}"))?;
    let below = exact.digits.strip_suffix('5').filter(|below| below.len() == count);
    let even = below.filter(|below| below.ends_with(['0', '2', '4', '6', '8']));
    let Some(digits) = even else { return Some(found) };
    let lower = Decimal { digits: digits.to_owned(), power: exact.power };
    let mut text = String::new();
    ecmascript(double.is_sign_negative(), &lower, &mut text);
    Some(if text.parse() == Ok(double) { lower } else { found })
}

impl Decimal {
    fn is_whole(&self) -> bool {
        usize::try_from(self.power).is_ok_and(|power| power + 1 >= self.digits.len())
    }
}

/// What a number says; none where its exponent is beyond all use.
fn decimal(token: &str) -> Option<Decimal> {
    let token = token.strip_prefix('-').unwrap_or(token);
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0').to_owned();
    let point = i64::try_from(whole.len()).ok()? - i64::try_from(leading).ok()? - 1;
    let power = if digits.is_empty() { 0 } else { exponent.checked_add(point)? };
    Some(Decimal { digits, power })
}

/// ECMA-262, `Number::toString` with radix 10.
fn ecmascript(negative: bool, Decimal { digits, power }: &Decimal, out: &mut String) {
    if digits.is_empty() {
        out.push('0');
        return;
    }
    if negative {
        out.push('-');
    }
    let (count, places) = (digits.len(), power.saturating_add(1));
    match usize::try_from(places) {
        Ok(places @ 1..=21) if count <= places => {
            out.push_str(digits);
            out.push_str(&"0".repeat(places - count));
        }
        Ok(places @ 1..=21) => {
            let (whole, fraction) = digits.split_at(places);
            // Writing to a string cannot fail.
            write!(out, "{whole}.{fraction}").unwrap_or_default();
        }
        _ if (-5..=0).contains(&places) => {
            let zeros = usize::try_from(-places).unwrap_or_default();
            write!(out, "0.{}{digits}", "0".repeat(zeros)).unwrap_or_default();
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            let sign = if *power < 0 { '-' } else { '+' };
            write!(out, "{first}{point}{rest}e{sign}{}", power.unsigned_abs()).unwrap_or_default();
        }
    }
}
