//! Strings of JSON, on bytes: halves of surrogate pairs that stand alone are no text, and come out as they went in.

use std::borrow::Cow;

/// What stands between the quotes, decoded; borrowed where nothing is escaped.
pub(crate) fn decode(raw: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'\\', raw) else { return Cow::Borrowed(raw) };
    let (mut rest, mut decoded) = (raw, Vec::with_capacity(raw.len()));
    let mut next = Some(first);
    while let Some(at) = next {
        let (plain, escape) = rest.split_at(at);
        decoded.extend_from_slice(plain);
        rest = unescape(escape, &mut decoded);
        next = memchr::memchr(b'\\', rest);
    }
    decoded.extend_from_slice(rest);
    Cow::Owned(decoded)
}

/// Decodes the escape at the beginning and gives what is behind it. What is no escape stays as it is.
fn unescape<'a>(text: &'a [u8], decoded: &mut Vec<u8>) -> &'a [u8] {
    let (byte, rest) = match text {
        [b'\\', b'n', rest @ ..] => (b'\n', rest),
        [b'\\', b'r', rest @ ..] => (b'\r', rest),
        [b'\\', b't', rest @ ..] => (b'\t', rest),
        [b'\\', b'b', rest @ ..] => (8, rest),
        [b'\\', b'f', rest @ ..] => (12, rest),
        [b'\\', b'u', rest @ ..] => {
            let Some((unit, behind)) = unit(rest) else {
                decoded.extend_from_slice(b"\\u");
                return rest;
            };
            if (0xD800..0xDC00).contains(&unit)
                && let [b'\\', b'u', second @ ..] = behind
                && let Some((low @ 0xDC00..0xE000, behind)) = self::unit(second)
            {
                push(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), decoded);
                return behind;
            }
            push(unit, decoded);
            return behind;
        }
        [b'\\', byte @ (b'"' | b'\\' | b'/'), rest @ ..] | [byte, rest @ ..] => (*byte, rest),
        [] => return text,
    };
    decoded.push(byte);
    rest
}

/// Four hexadecimal digits.
fn unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(4)?;
    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

/// In UTF-8; half a pair in the same way, which is none.
fn push(point: u32, decoded: &mut Vec<u8>) {
    if let Some(letter) = char::from_u32(point) {
        decoded.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let [_, _, high, low] = point.to_be_bytes();
    decoded.extend([0xE0 | high >> 4, 0x80 | (high & 0xF) << 2 | low >> 6, 0x80 | low & 0x3F]);
}

/// Writes what stands between the quotes of a string.
pub(crate) fn encode(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        match *byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte @ 0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            // Half a pair.
            0xED if matches!(after, [0xA0..=0xBF, _, ..]) => {
                let [second, third, behind @ ..] = after else { return };
                let unit = 0xD000 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F);
                out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                rest = behind;
            }
            byte => out.push(byte),
        }
    }
}
