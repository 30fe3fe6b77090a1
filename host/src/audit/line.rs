//! A line: a JSON object, written as it goes into a buffer that is used again.

use crate::telemetry::audit::Said;

/// Characters of one text in a line; what is longer is cut, and ends in `…`.
pub(super) const LONGEST: usize = 1_024;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Writes the members of one object.
#[derive(Debug)]
pub(super) struct Line<'a>(&'a mut Vec<u8>);

impl<'a> Line<'a> {
    /// Begins an object.
    pub(super) fn begin(buffer: &'a mut Vec<u8>) -> Self {
        buffer.push(b'{');
        Self(buffer)
    }

    /// Ends it, and the line.
    pub(super) fn end(self) {
        self.0.extend_from_slice(b"}\n");
    }

    fn name(&mut self, name: &str) {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        self.0.push(b'"');
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    /// A text, cut where it is too long; nothing where it is empty.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.name(name);
            string(self.0, text);
        }
    }

    /// A text, cut where it is too long; nothing where there is none.
    pub(super) fn some(&mut self, name: &str, text: Option<&str>) {
        self.text(name, text.unwrap_or_default());
    }

    /// A whole number.
    pub(super) fn number(&mut self, name: &str, number: u64) {
        self.name(name);
        decimal(self.0, number);
    }

    /// JSON text as it is.
    pub(super) fn raw(&mut self, name: &str, json: &[u8]) {
        self.name(name);
        self.0.extend_from_slice(json);
    }

    /// Bytes as digits.
    pub(super) fn hex(&mut self, name: &str, bytes: &[u8]) {
        self.name(name);
        self.0.push(b'"');
        digits(self.0, bytes);
        self.0.push(b'"');
    }

    /// A list of objects, each with two texts of these names; nothing where it is empty.
    pub(super) fn objects<T: AsRef<str>>(
        &mut self,
        name: &str,
        names: [&str; 2],
        objects: impl Iterator<Item = [T; 2]>,
    ) {
        let mut any = false;
        for object in objects {
            if any {
                self.0.push(b',');
            } else {
                self.name(name);
                self.0.push(b'[');
                any = true;
            }
            let mut inner = Line::begin(self.0);
            for (name, text) in names.iter().zip(&object) {
                inner.text(name, text.as_ref());
            }
            self.0.push(b'}');
        }
        if any {
            self.0.push(b']');
        }
    }

    /// A value, whichever it is.
    pub(super) fn said(&mut self, name: &str, said: Said<'_>) {
        match said {
            Said::Text(text) => self.text(name, text),
            Said::Number(number) => self.number(name, number),
            Said::List(texts) => {
                self.name(name);
                self.0.push(b'[');
                for (place, text) in texts.iter().enumerate() {
                    if place > 0 {
                        self.0.push(b',');
                    }
                    string(self.0, text);
                }
                self.0.push(b']');
            }
        }
    }

    /// The moment, as RFC 3339 writes it, with microseconds.
    pub(super) fn moment(&mut self, name: &str, at: std::time::SystemTime) {
        self.name(name);
        self.0.push(b'"');
        super::time::write(self.0, at);
        self.0.push(b'"');
    }
}

/// Digits of bytes, without quotes.
pub(super) fn digits(buffer: &mut Vec<u8>, bytes: &[u8]) {
    let digit = |four: u8| DIGITS.get(usize::from(four & 15)).copied().unwrap_or(b'0');
    buffer.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
}

/// A number.
pub(super) fn decimal(buffer: &mut Vec<u8>, mut number: u64) {
    let mut reversed = [0; 20];
    let mut length = 0;
    for place in &mut reversed {
        // A digit is below ten.
        *place = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        length += 1;
        if number == 0 {
            break;
        }
    }
    buffer.extend(reversed.iter().take(length).rev());
}

/// A string, cut where it is too long.
fn string(buffer: &mut Vec<u8>, text: &str) {
    let (text, rest) = match text.char_indices().nth(LONGEST) {
        Some((at, _)) if text.len() > LONGEST => text.split_at_checked(at).unwrap_or((text, "")),
        _ => (text, ""),
    };
    buffer.push(b'"');
    let mut utf8 = [0; 4];
    for letter in text.chars() {
        match letter {
            '"' => buffer.extend_from_slice(b"\\\""),
            '\\' => buffer.extend_from_slice(b"\\\\"),
            '\n' => buffer.extend_from_slice(b"\\n"),
            ' '..='~' => buffer.extend(u8::try_from(letter)),
            _ if is_unseen(letter) => {
                buffer.extend_from_slice(b"\\u");
                // All of these are one unit of UTF-16.
                digits(buffer, &u16::try_from(u32::from(letter)).unwrap_or_default().to_be_bytes());
            }
            _ => buffer.extend_from_slice(letter.encode_utf8(&mut utf8).as_bytes()),
        }
    }
    if !rest.is_empty() {
        buffer.extend_from_slice("…".as_bytes());
    }
    buffer.push(b'"');
}

/// Whether a character does something to whoever looks at a line, and is not seen: controls, ends of lines, and what changes
/// the direction of the text.
fn is_unseen(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};
    use serde_json::Value;

    use super::*;

    fn written(write: impl FnOnce(&mut Line<'_>)) -> Value {
        let mut buffer = Vec::new();
        let mut line = Line::begin(&mut buffer);
        write(&mut line);
        line.end();
        assert_eq!(memchr::memchr_iter(b'\n', &buffer).count(), 1);
        serde_json::from_slice(&buffer).unwrap()
    }

    #[test]
    fn members_stand_in_their_order_and_empty_texts_do_not() {
        let mut buffer = Vec::new();
        let mut line = Line::begin(&mut buffer);
        line.text("a", "");
        line.number("b", 0);
        line.objects("c", ["x", "y"], [["1", ""], ["2", "3"]].into_iter());
        line.objects("d", ["x", "y"], std::iter::empty::<[&str; 2]>());
        line.hex("e", &[0, 255, 16]);
        line.said("f", Said::List(&["g".to_owned()]));
        line.end();
        let text = String::from_utf8(buffer).unwrap();
        assert_eq!(
            text,
            "{\"b\":0,\"c\":[{\"x\":\"1\"},{\"x\":\"2\",\"y\":\"3\"}],\"e\":\"00ff10\",\"f\":[\"g\"]}\n"
        );
    }

    #[test]
    fn what_is_not_seen_is_written_as_its_number() {
        let mut buffer = Vec::new();
        let mut line = Line::begin(&mut buffer);
        line.text("a", "\u{9b}31m\u{202e}é\u{2028}\u{2066}\u{7f}\t");
        line.end();
        let text = String::from_utf8(buffer).unwrap();
        assert_eq!(text, "{\"a\":\"\\u009b31m\\u202eé\\u2028\\u2066\\u007f\\u0009\"}\n");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = "é".repeat(LONGEST + 1);
        let line = written(|line| line.text("a", &text));
        assert_eq!(line["a"], format!("{}…", "é".repeat(LONGEST)));
    }

    proptest! {
        #[test]
        fn whatever_stands_in_a_line_is_read_as_it_was(text in any::<String>(), number: u64) {
            let line = written(|line| {
                line.number("n", number);
                line.text("t", &text);
            });
            assert_eq!(line["n"], number);
            assert_eq!(line["t"].as_str().unwrap_or_default(), text);
        }
    }
}
