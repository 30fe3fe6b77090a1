//! Goes over code, token by token, with the brackets, strings and fields that are open.

use super::cursor::{Cursor, begins, goes_on};
use super::kernel;
use super::numbers::number;
use super::refusal::NotPython;
use super::strings::{PartEnd, Quoting};

/// Brackets, strings and fields that may stand inside each other; Python gives up earlier.
const DEPTH_MAX: usize = 200;

/// What is open.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// A bracket and what closes it.
    Bracket(char),
    /// A string with fields, in its literal part.
    Text(Quoting),
    /// A replacement field of such a string, in its expression or in its format specification.
    Field { string: Quoting, specification: bool },
}

/// The token that came last, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last<'a> {
    /// A logical line begins.
    LineStart,
    /// The name with which the logical line began.
    FirstName(&'a str),
    /// `=` alone.
    Assign,
    Other,
}

/// The reader; tells of each name in the order in which they stand.
pub(super) struct Lexer<'a, F> {
    cursor: Cursor<'a>,
    open: Vec<Open>,
    last: Last<'a>,
    /// Whether nothing but blanks stood on this line of the text.
    fresh: bool,
    told: F,
}

impl<'a, F: FnMut(&str)> Lexer<'a, F> {
    pub(super) fn new(code: &'a str, told: F) -> Self {
        let cursor = Cursor::new(code);
        Self { cursor, open: Vec::new(), last: Last::LineStart, fresh: true, told }
    }

    pub(super) fn run(mut self) -> Result<(), NotPython> {
        loop {
            match self.open.last().copied() {
                Some(Open::Text(string)) => self.part(string, false)?,
                Some(Open::Field { string, specification: true }) => self.part(string, true)?,
                _ => {
                    let Some(found) = self.cursor.peek() else { break };
                    self.token(found)?;
                }
            }
        }
        if self.open.is_empty() { Ok(()) } else { self.cursor.refuse("a bracket is not closed") }
    }

    /// A literal part of a string with fields.
    fn part(&mut self, string: Quoting, specification: bool) -> Result<(), NotPython> {
        match string.part(&mut self.cursor, specification)? {
            PartEnd::String | PartEnd::Specification => {
                self.open.pop();
            }
            PartEnd::Field => self.push(Open::Field { string, specification: false })?,
        }
        Ok(())
    }

    /// One token, or what stands between tokens.
    fn token(&mut self, found: char) -> Result<(), NotPython> {
        match found {
            ' ' | '\t' => {
                self.cursor.take_while(|found| matches!(found, ' ' | '\t'));
                return Ok(());
            }
            // Elsewhere than before everything else on its line a kernel would divide the line.
            '\u{c}' if self.fresh => {
                self.cursor.next();
                return Ok(());
            }
            '\n' | '\r' => return self.line_end(),
            '#' => return self.comment(),
            '\\' => return self.joined_line(),
            _ => {}
        }
        self.fresh = false;
        if self.last == Last::LineStart && kernel::begins_magic(found) {
            return self.cursor.refuse(kernel::MAGIC);
        }
        if self.last == Last::Assign && found == '%' {
            return self.cursor.refuse(kernel::MAGIC);
        }
        let before = std::mem::replace(&mut self.last, Last::Other);
        match found {
            '\'' | '"' => {
                refuse_beside(&self.cursor, before)?;
                self.string("").map(|_| ())
            }
            '0'..='9' => {
                refuse_beside(&self.cursor, before)?;
                number(&mut self.cursor)
            }
            '.' if self.cursor.rest().chars().nth(1).is_some_and(|next| next.is_ascii_digit()) => {
                number(&mut self.cursor)
            }
            _ if begins(found) => self.name(before),
            _ => self.operator(found),
        }
    }

    fn line_end(&mut self) -> Result<(), NotPython> {
        self.cursor.next();
        self.fresh = true;
        if self.open.is_empty() {
            self.last = Last::LineStart;
        }
        let in_field = self.open.iter().any(|open| matches!(open, Open::Field { .. }));
        if in_field && kernel::is_prompted(self.cursor.rest()) {
            return self.cursor.refuse("a prompt of a kernel in a replacement field");
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), NotPython> {
        let comment = self.cursor.take_while(|found| !matches!(found, '\n' | '\r'));
        if comment.contains(kernel::divides) {
            return self.cursor.refuse(kernel::DIVIDED);
        }
        if self.fresh && self.cursor.line() <= 2 && kernel::declares_other_encoding(comment) {
            return self.cursor.refuse("a declaration of another encoding than UTF-8");
        }
        Ok(())
    }

    fn joined_line(&mut self) -> Result<(), NotPython> {
        self.cursor.next();
        self.fresh = false;
        match self.cursor.next() {
            Some('\n') => Ok(()),
            _ => self.cursor.refuse("a backslash that joins no lines"),
        }
    }

    /// A name, or a string with a prefix.
    fn name(&mut self, before: Last<'a>) -> Result<(), NotPython> {
        let name = self.cursor.take_while(goes_on);
        if self.string(name)? {
            return refuse_beside(&self.cursor, before);
        }
        (self.told)(name);
        if !kernel::joins(name) {
            refuse_beside(&self.cursor, before)?;
        }
        if before == Last::LineStart {
            self.last = Last::FirstName(name);
        }
        Ok(())
    }

    /// A string where one begins.
    fn string(&mut self, prefix: &str) -> Result<bool, NotPython> {
        let Some(string) = Quoting::begin(prefix, &mut self.cursor) else { return Ok(false) };
        if string.has_fields {
            self.push(Open::Text(string))?;
        } else {
            string.plain(&mut self.cursor)?;
        }
        Ok(true)
    }

    fn operator(&mut self, found: char) -> Result<(), NotPython> {
        self.cursor.next();
        match found {
            '(' => self.push(Open::Bracket(')')),
            '[' => self.push(Open::Bracket(']')),
            '{' => self.push(Open::Bracket('}')),
            ')' | ']' | '}' => self.close(found),
            ':' if self.begins_specification() => Ok(()),
            '!' if self.cursor.skip("=")
                || matches!(self.open.last(), Some(Open::Field { .. })) =>
            {
                Ok(())
            }
            '=' if !self.cursor.skip("=") => {
                self.last = Last::Assign;
                Ok(())
            }
            '+' | '-' | '*' | '/' | '%' | '@' | '&' | '|' | '^' | '<' | '>' | ':' => {
                self.cursor.skip("=");
                Ok(())
            }
            '=' | '~' | ',' | ';' | '.' => Ok(()),
            _ => self.cursor.refuse("a character that is none of Python's"),
        }
    }

    /// A colon in a field, outside of all brackets, ends the expression, whatever it means elsewhere.
    fn begins_specification(&mut self) -> bool {
        match self.open.last_mut() {
            Some(Open::Field { specification, .. }) => {
                *specification = true;
                true
            }
            _ => false,
        }
    }

    fn close(&mut self, found: char) -> Result<(), NotPython> {
        let closes = match self.open.last() {
            Some(Open::Bracket(wanted)) => *wanted == found,
            Some(Open::Field { .. }) => found == '}',
            Some(Open::Text(_)) | None => false,
        };
        if !closes {
            return self.cursor.refuse("a bracket closes what was not opened");
        }
        self.open.pop();
        Ok(())
    }

    fn push(&mut self, open: Open) -> Result<(), NotPython> {
        if self.open.len() >= DEPTH_MAX {
            return self.cursor.refuse("too many brackets inside each other");
        }
        self.open.push(open);
        Ok(())
    }
}

/// Two words side by side at the beginning of a line are no Python, but a magic without its percent sign.
fn refuse_beside(cursor: &Cursor<'_>, before: Last<'_>) -> Result<(), NotPython> {
    match before {
        Last::FirstName(first) if !kernel::begins_statement(first) => cursor.refuse(kernel::MAGIC),
        _ => Ok(()),
    }
}
