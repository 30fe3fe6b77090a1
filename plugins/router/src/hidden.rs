//! Characters that make a text look like another one than it is: to a person who approves a tool, or to a terminal.
//!
//! These are control characters but for tab and line breaks, those that turn the direction of what follows (U+202D, U+202E),
//! and letters without a shape (the tags U+E0000 to U+E007F) outside of flags. Marks, embeddings and isolates, which languages
//! written from right to left need, are none of them.

const FLAG: char = '\u{1f3f4}';
const FLAG_ENDS: char = '\u{e007f}';

/// The first such character of a JSON text, be it written plainly or as an escape.
pub fn first(json: &str) -> Option<char> {
    let plain = |byte: &u8| (b' '..0x7f).contains(byte) && *byte != b'\\';
    if json.as_bytes().iter().all(plain) {
        return None;
    }
    let mut in_flag = false;
    for (letter, escaped) in letters(json) {
        let is_tag = ('\u{e0000}'..=FLAG_ENDS).contains(&letter);
        let hides = match letter {
            '\t' | '\n' | '\r' => false,
            // Between the values of a JSON text, or in a text that is no JSON.
            _ if letter.is_control() => escaped || letter >= '\u{7f}',
            '\u{202d}' | '\u{202e}' => true,
            _ => is_tag && !in_flag,
        };
        if hides {
            return Some(letter);
        }
        in_flag = letter == FLAG || (in_flag && is_tag && letter != FLAG_ENDS);
    }
    None
}

/// The letters of a JSON text, and whether each was an escape.
fn letters(json: &str) -> impl Iterator<Item = (char, bool)> + '_ {
    let mut rest = json.chars();
    std::iter::from_fn(move || match rest.next()? {
        '\\' => Some((escape(&mut rest)?, true)),
        letter => Some((letter, false)),
    })
}

/// The letter of an escape, of which the backslash is gone.
fn escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    match rest.next()? {
        'u' => {
            let high = unit(rest)?;
            if !(0xd800..0xdc00).contains(&high) {
                return char::from_u32(high).or(Some(char::REPLACEMENT_CHARACTER));
            }
            let mut ahead = rest.clone();
            let pair = (ahead.next() == Some('\\') && ahead.next() == Some('u'))
                .then(|| unit(&mut ahead))
                .flatten()
                .filter(|low| (0xdc00..0xe000).contains(low));
            let Some(low) = pair else { return Some(char::REPLACEMENT_CHARACTER) };
            *rest = ahead;
            char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
        }
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        letter => Some(letter),
    }
}

/// Four hexadecimal digits.
fn unit(rest: &mut std::str::Chars<'_>) -> Option<u32> {
    let digits = rest.as_str().get(..4)?;
    *rest = rest.as_str().get(4..)?.chars();
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::first;

    fn of(text: &str) -> Option<char> {
        first(&json!({ "description": text }).to_string())
    }

    #[test]
    fn what_hides_is_found() {
        for letter in [
            '\u{0}',
            '\u{8}',
            '\u{1b}',
            '\u{7f}',
            '\u{9b}',
            '\u{202d}',
            '\u{202e}',
            '\u{e0041}',
            '\u{e007f}',
        ] {
            assert_eq!(of(&format!("fine {letter} not")), Some(letter), "{letter:?}");
        }
        assert_eq!(first(r#"{"a":"\u202E"}"#), Some('\u{202e}'));
        assert_eq!(first(r#"{"a":"\udb40\udc41"}"#), Some('\u{e0041}'));
        assert_eq!(first(r#"{"a":"\\\u001b"}"#), Some('\u{1b}'));
        assert_eq!(of("🏴\u{e0067}\u{e0062}\u{e007f}\u{e0041}"), Some('\u{e0041}'));
    }

    #[test]
    fn what_people_write_is_left_alone() {
        for text in [
            "plain",
            "tab\tline\nline\r\n",
            "\\u202e",
            "Grüße, 世界",
            "مرحبا\u{200f}",
            "\u{2067}עברית\u{2069} ok",
            "\u{202b}سلام\u{202c}",
            "👩\u{200d}🔬",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} flag",
        ] {
            assert_eq!(of(text), None, "{text:?}");
        }
        assert_eq!(first(r#"{"a":"\\u202e \ud83d\ude00"}"#), None);
    }

    proptest! {
        /// However a text is escaped, the same is found.
        #[test]
        fn escapes_say_the_same(text in "\\PC{0,20}[\u{1}\u{202e}\u{e0041}a]?\\PC{0,20}") {
            let plain = Value::from(text.as_str()).to_string();
            let escaped: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            prop_assert_eq!(first(&plain), first(&format!("\"{}\"", escaped.concat())));
        }

        #[test]
        fn whatever_comes_nothing_breaks(text in "\\PC*") {
            let _ = first(&text);
        }
    }
}
