//! A place in a text.

use super::kernel;
use super::refusal::NotPython;

/// Whether a name may begin so. As `CPython` does we take every character beyond ASCII into a name: which of them may stand there
/// it looks up later, and none means anything else. What no name has is no program, and nothing that we could overlook. White space
/// and what a kernel divides lines at is no part of a name.
pub(super) fn begins(found: char) -> bool {
    found == '_'
        || found.is_ascii_alphabetic()
        || !(found.is_ascii() || found.is_whitespace() || kernel::divides(found))
}

/// Whether a name may go on so.
pub(super) fn goes_on(found: char) -> bool {
    begins(found) || found.is_ascii_digit()
}

/// The rest of a text, and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    /// At the beginning, behind a byte order mark.
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text.strip_prefix('\u{feff}').unwrap_or(text), line: 1 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// The line, from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    /// One character further; `\r`, `\n` and `\r\n` are one line's end, given as `\n`.
    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let mut found = chars.next()?;
        self.rest = chars.as_str();
        if found == '\r' {
            self.rest = self.rest.strip_prefix('\n').unwrap_or(self.rest);
            found = '\n';
        }
        self.line += usize::from(found == '\n');
        Some(found)
    }

    /// Further if this comes next.
    pub(super) fn skip(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Everything from here for which this holds; no line ends.
    pub(super) fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'a str {
        let end = self.rest.find(|found| !wanted(found)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    pub(super) fn refuse<T>(&self, why: &'static str) -> Result<T, NotPython> {
        Err(NotPython { line: self.line, why })
    }
}
