//! A strict walk over JSON text (RFC 8259) that reports where values stand instead of building them.

use std::ops::Range;

use memchr::memchr2;

/// Deepest nesting that is accepted, counting objects and arrays: the deepest that `serde_json` reads into a value.
pub const MAX_DEPTH: u32 = 127;

/// Where a piece of JSON text stands inside its message, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The bytes from `start` up to `end`; a place to insert at where both are the same.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        // A body is far smaller than 4 GiB: `Scanner::new` refuses what is not.
        Self { start: saturate(start), end: saturate(end) }
    }

    /// A span of no bytes means that the field is absent: every JSON value has at least one byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span of what stands there inside of a piece of text, in the text that this piece begins at `offset` of.
    pub(crate) fn behind(self, offset: usize) -> Self {
        Self::new(offset + self.start as usize, offset + self.end as usize)
    }

    /// The span as a range of byte offsets.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Characters that stand in strings as escapes only (RFC 8259, section 7).
fn is_control(byte: u8) -> bool {
    byte < 0x20
}

/// Without a way out of the middle, so that many bytes are compared at once.
fn holds_control(text: &[u8]) -> bool {
    text.iter().fold(false, |found, byte| found | is_control(*byte))
}

fn saturate(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// What is wrong with the text, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// The text breaks the grammar of JSON.
    #[error("the JSON text breaks off or is wrong at byte {at}")]
    Syntax {
        /// Offset of the first byte that does not fit.
        at: usize,
    },
    /// Objects and arrays are nested deeper than [`MAX_DEPTH`].
    #[error("the JSON text is nested deeper than {MAX_DEPTH} levels")]
    Depth,
}

/// Where the value of a member of a JSON object stands; none when the text is no object or has no such member.
pub fn member(object: &str, name: &str) -> Option<Span> {
    let mut scanner = Scanner::new(object).ok()?;
    let mut found = None;
    let walked: Result<(), ScanError> = scanner.object(|scanner, key| {
        let value = scanner.value()?;
        let key = object.get(key.range()).and_then(super::message::string);
        if key.is_some_and(|key| key == name) {
            found = Some(value);
        }
        Ok(())
    });
    walked.ok().and(found)
}

/// Keys, quotes included, and values of a JSON object, in order; none when the text is no object.
pub fn members(object: &str) -> Option<Vec<(Span, Span)>> {
    let mut scanner = Scanner::new(object).ok()?;
    let mut found = Vec::new();
    let walked: Result<(), ScanError> = scanner.object(|scanner, key| {
        found.push((key, scanner.value()?));
        Ok(())
    });
    walked.and_then(|()| scanner.end()).ok().and(Some(found))
}

/// Where each item of a JSON array stands; none when the text is no array.
pub fn items(array: &str) -> Option<Vec<Span>> {
    let mut scanner = Scanner::new(array).ok()?;
    let mut found = Vec::new();
    let walked: Result<(), ScanError> = scanner.array(|scanner| {
        found.push(scanner.value()?);
        Ok(())
    });
    walked.and_then(|()| scanner.end()).ok().and(Some(found))
}

/// Whether the text is JSON that is not nested too deep, also with as many levels around it as `around` says.
pub fn check(text: &str, around: u32) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text)?;
    scanner.depth = around;
    scanner.value()?;
    scanner.end()
}

/// A cursor over text that is known to be UTF-8.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, ScanError> {
        if u32::try_from(text.len()).is_err() {
            return Err(ScanError::Syntax { at: 0 });
        }
        Ok(Self { text: text.as_bytes(), at: 0, depth: 0 })
    }

    /// Offset of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    fn wrong<T>(&self) -> Result<T, ScanError> {
        Err(ScanError::Syntax { at: self.at })
    }

    /// The next byte that is not white space, without taking it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.get(self.at) {
            if matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                self.at += 1;
            } else {
                return Some(*byte);
            }
        }
        None
    }

    fn expect(&mut self, byte: u8) -> Result<(), ScanError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.wrong()
    }

    /// Nothing but white space may follow.
    pub(super) fn end(&mut self) -> Result<(), ScanError> {
        if self.peek().is_none() { Ok(()) } else { self.wrong() }
    }

    /// Walks an object and hands each key, quotes included, to `visit`, which must take exactly the value.
    pub(super) fn object<E: From<ScanError>>(
        &mut self,
        mut visit: impl FnMut(&mut Self, Span) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(b'{')?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ScanError::Depth.into());
        }
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                self.peek();
                let key = self.string()?;
                self.expect(b':')?;
                visit(self, key)?;
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => {
                        self.at += 1;
                        break;
                    }
                    _ => return Err(ScanError::Syntax { at: self.at }.into()),
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Walks an array; `visit` must take exactly one value.
    pub(super) fn array<E: From<ScanError>>(
        &mut self,
        mut visit: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.expect(b'[')?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ScanError::Depth.into());
        }
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                visit(self)?;
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => {
                        self.at += 1;
                        break;
                    }
                    _ => return Err(ScanError::Syntax { at: self.at }.into()),
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Takes one value of any kind and says where it stands.
    pub(super) fn value(&mut self) -> Result<Span, ScanError> {
        self.peek();
        let start = self.at;
        // One bit for each open container, the innermost lowest: 1 = object.
        let mut open: u128 = 0;
        let mut level = 0;
        loop {
            let opened = self.scalar_or_open(&mut open, &mut level)?;
            if opened {
                continue;
            }
            if self.close(&mut open, &mut level)? {
                return Ok(Span::new(start, self.at));
            }
        }
    }

    /// Takes a scalar or an empty container (false), or steps into a container (true).
    fn scalar_or_open(&mut self, open: &mut u128, level: &mut u32) -> Result<bool, ScanError> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| false),
            Some(b'{') => self.step_in(open, level, true),
            Some(b'[') => self.step_in(open, level, false),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.wrong(),
        }
    }

    fn step_in(
        &mut self,
        open: &mut u128,
        level: &mut u32,
        object: bool,
    ) -> Result<bool, ScanError> {
        self.at += 1;
        if self.depth + *level >= MAX_DEPTH {
            return Err(ScanError::Depth);
        }
        let close = if object { b'}' } else { b']' };
        if self.peek() == Some(close) {
            self.at += 1;
            return Ok(false);
        }
        *open = (*open << 1) | u128::from(object);
        *level += 1;
        if object {
            self.key()?;
        }
        Ok(true)
    }

    fn key(&mut self) -> Result<(), ScanError> {
        self.peek();
        self.string()?;
        self.expect(b':')
    }

    /// After a value: closes what ends here (true when the outermost value is complete) or takes the comma.
    fn close(&mut self, open: &mut u128, level: &mut u32) -> Result<bool, ScanError> {
        while *level > 0 {
            let object = *open & 1 == 1;
            match (self.peek(), object) {
                (Some(b','), _) => {
                    self.at += 1;
                    if object {
                        self.key()?;
                    }
                    return Ok(false);
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    self.at += 1;
                    *open >>= 1;
                    *level -= 1;
                }
                _ => return self.wrong(),
            }
        }
        Ok(true)
    }

    fn string(&mut self) -> Result<Span, ScanError> {
        let start = self.at;
        if self.text.get(self.at) != Some(&b'"') {
            return self.wrong();
        }
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(length) = memchr2(b'"', b'\\', rest) else {
                self.at = self.text.len();
                return self.wrong();
            };
            let plain = rest.get(..length).unwrap_or_default();
            if holds_control(plain) {
                self.at += plain.iter().copied().position(is_control).unwrap_or_default();
                return self.wrong();
            }
            self.at += length + 1;
            if rest.get(length) == Some(&b'"') {
                return Ok(Span::new(start, self.at));
            }
            self.escape()?;
        }
    }

    fn escape(&mut self) -> Result<(), ScanError> {
        match self.text.get(self.at) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let digits = self.text.get(self.at + 1..self.at + 5).unwrap_or_default();
                if digits.len() != 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    return self.wrong();
                }
                self.at += 5;
            }
            _ => return self.wrong(),
        }
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<bool, ScanError> {
        if self.text.get(self.at..self.at + word.len()) == Some(word) {
            self.at += word.len();
            return Ok(false);
        }
        self.wrong()
    }

    fn number(&mut self) -> Result<bool, ScanError> {
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.text.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return self.wrong(),
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(false)
    }

    fn digits(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        while matches!(self.text.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { self.wrong() } else { Ok(()) }
    }
}
