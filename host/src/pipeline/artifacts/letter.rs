//! The letters of JSON text, however they are escaped: in strings, and in JSON texts inside of strings. Each level of strings
//! doubles backslashes and may put one before a slash, so that `/`, `\/` and `\\/` are the same letter.

/// Backslashes before one letter: strings inside of strings, four levels deep.
const DEPTH: usize = 16;
/// The text, and whether nothing follows it.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) last: bool,
}

/// One letter of a text.
pub(super) enum Step {
    /// A letter below U+0080, and its length in the text.
    Letter(u8, usize),
    /// Another one, encoded for a path.
    Wide(String, usize),
    /// A quotation mark that ends the string.
    Quote,
    /// No letter of a URL.
    Stop,
    More,
}

impl Text<'_> {
    pub(super) fn get(self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// What the end of the text means.
    fn over(self) -> Step {
        if self.last { Step::Stop } else { Step::More }
    }

    pub(super) fn step(self, at: usize) -> Step {
        match self.get(at) {
            None => self.over(),
            Some(b'\\') => self.escaped(at),
            Some(b'"') => Step::Quote,
            Some(letter @ b' '..=b'~') => Step::Letter(letter, 1),
            Some(letter @ 0x80..) => Step::Wide(percent(letter).collect(), 1),
            Some(_) => Step::Stop,
        }
    }

    fn escaped(self, at: usize) -> Step {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let slashes = rest.iter().take(DEPTH + 1).take_while(|byte| **byte == b'\\').count();
        if slashes > DEPTH {
            return Step::Stop;
        }
        match rest.get(slashes) {
            None => self.over(),
            Some(b'/') => Step::Letter(b'/', slashes + 1),
            Some(b'"') => Step::Quote,
            Some(b'u') => self.unicode(at, slashes + 1),
            Some(_) => Step::Stop,
        }
    }

    /// `\uXXXX`, or two of them for one letter (RFC 8259, section 7). `before` is the length of `\u`.
    fn unicode(self, at: usize, before: usize) -> Step {
        let unit = |at: usize| -> Result<u32, Step> {
            let digits = self.bytes.get(at..at + 4).ok_or_else(|| self.over())?;
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            let value = digits.iter().try_fold(0, |value, byte| Some(value * 16 + digit(byte)?));
            value.ok_or(Step::Stop)
        };
        let first = match unit(at + before) {
            Ok(first) => first,
            Err(step) => return step,
        };
        let length = before + 4;
        if let Some(letter) = char::from_u32(first) {
            return match u8::try_from(first) {
                Ok(letter @ b' '..=b'~') if letter != b'"' && letter != b'\\' => {
                    Step::Letter(letter, length)
                }
                Ok(..0x80) => Step::Stop,
                _ => Step::Wide(encoded(letter), length),
            };
        }
        let opens = self.bytes.get(at..at + before).unwrap_or_default();
        match self.bytes.get(at + length..at + length + before) {
            None => return self.over(),
            Some(again) if again != opens => return Step::Stop,
            Some(_) => {}
        }
        let second = match unit(at + length + before) {
            Ok(second) => second,
            Err(step) => return step,
        };
        let units = [first, second].map(|unit| u16::try_from(unit).unwrap_or_default());
        match char::decode_utf16(units).next() {
            Some(Ok(letter)) => Step::Wide(encoded(letter), 2 * length),
            _ => Step::Stop,
        }
    }
}

/// A letter as a path has it that it cannot stand in (RFC 3986, section 2.1).
pub(super) fn encoded(letter: char) -> String {
    let mut bytes = [0; 4];
    letter.encode_utf8(&mut bytes).bytes().flat_map(percent).collect()
}

fn percent(byte: u8) -> impl Iterator<Item = char> {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0').to_ascii_uppercase();
    ['%', digit(byte >> 4), digit(byte & 15)].into_iter()
}
