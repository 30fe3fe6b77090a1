//! Questions about a text that every kind asks. None of them panics, wherever it is asked.

/// A text in bytes.
#[derive(Clone, Copy)]
pub(super) struct Text<'a>(pub(super) &'a [u8]);

impl<'a> Text<'a> {
    /// The byte there; 0 past the end, which is part of nothing.
    pub(super) fn at(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// The byte so many before it; 0 before the beginning.
    pub(super) fn before(self, at: usize, count: usize) -> u8 {
        at.checked_sub(count).map_or(0, |at| self.at(at))
    }

    /// Everything from there on.
    pub(super) fn from(self, at: usize) -> &'a [u8] {
        self.0.get(at..).unwrap_or_default()
    }

    /// Everything before it.
    pub(super) fn until(self, at: usize) -> &'a [u8] {
        self.0.get(..at).unwrap_or_default()
    }

    /// The part between the two.
    pub(super) fn part(self, start: usize, end: usize) -> &'a [u8] {
        self.0.get(start..end).unwrap_or_default()
    }

    /// Where the bytes of a class end that begin there.
    pub(super) fn run(self, at: usize, class: impl Fn(u8) -> bool) -> usize {
        at + self.from(at).iter().take_while(|byte| class(**byte)).count()
    }

    /// Whether a word may begin there: what stands before it is no letter and no digit, or the end of an escape of a text
    /// within this text (`\n`, `\u0026`, `%3D`).
    pub(super) fn begins(self, at: usize) -> bool {
        !self.before(at, 1).is_ascii_alphanumeric() || self.is_behind_escape(at)
    }

    /// Whether a number may begin there: as for a word, and not inside a name or behind a decimal point.
    pub(super) fn begins_number(self, at: usize) -> bool {
        let before = self.before(at, 1);
        let is_decimal = matches!(before, b'.' | b',') && self.before(at, 2).is_ascii_digit();
        self.begins(at) && before != b'_' && !is_decimal
    }

    /// Whether a number may end before it.
    pub(super) fn ends_number(self, at: usize) -> bool {
        let next = self.at(at);
        let is_decimal = matches!(next, b'.' | b',') && self.at(at + 1).is_ascii_digit();
        !next.is_ascii_alphanumeric() && next != b'_' && !is_decimal
    }

    /// As [`Text::begins_number`], for digits that stand for themselves and not for a quantity: a comma before them separates
    /// fields, as in rows of CSV and in arrays.
    pub(super) fn begins_digits(self, at: usize) -> bool {
        let before = self.before(at, 1);
        let is_decimal = before == b'.' && self.before(at, 2).is_ascii_digit();
        self.begins(at) && before != b'_' && !is_decimal
    }

    /// As [`Text::ends_number`], for the same.
    pub(super) fn ends_digits(self, at: usize) -> bool {
        let next = self.at(at);
        let is_decimal = next == b'.' && self.at(at + 1).is_ascii_digit();
        !next.is_ascii_alphanumeric() && next != b'_' && !is_decimal
    }

    /// How many bytes a space or dash has that separates groups there; 0 if there is none. A space that does not break a
    /// line counts.
    pub(super) fn separator(self, at: usize) -> usize {
        match (self.at(at), self.at(at + 1)) {
            (b' ' | b'-', _) => 1,
            (0xC2, 0xA0) => 2,
            _ => 0,
        }
    }

    fn is_behind_escape(self, at: usize) -> bool {
        let before = |count| self.before(at, count);
        let are_hex = |count: usize| (1..=count).all(|count| before(count).is_ascii_hexdigit());
        (before(2) == b'\\' && matches!(before(1), b'n' | b'r' | b't'))
            || (before(3) == b'%' && are_hex(2))
            || (before(6) == b'\\' && before(5) == b'u' && are_hex(4))
    }
}

/// `A-Z a-z 0-9`
pub(super) fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// `A-Z a-z 0-9 _ -`, the alphabet of Base64 in addresses.
pub(super) fn is_base64url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// `A-Z a-z 0-9 + /`
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}
