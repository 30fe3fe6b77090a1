//! String literals, and the literal parts of f-strings and t-strings.

use super::cursor::Cursor;
use super::kernel;
use super::refusal::NotPython;

/// How a string is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quoting {
    /// `'` or `"`.
    quote: char,
    triple: bool,
    raw: bool,
    /// Whether it has replacement fields.
    pub(super) has_fields: bool,
}

/// Where the literal part of a string with fields ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartEnd {
    /// The string is over.
    String,
    /// A replacement field begins.
    Field,
    /// The field whose format specification this is ends.
    Specification,
}

impl Quoting {
    /// Reads the quotes that begin a string with this prefix; none where no string begins.
    pub(super) fn begin(prefix: &str, cursor: &mut Cursor<'_>) -> Option<Self> {
        let quote = cursor.peek().filter(|found| matches!(found, '\'' | '"'))?;
        let mut lower = [0; 2];
        let lower = lower.get_mut(..prefix.len())?;
        lower.copy_from_slice(prefix.as_bytes());
        lower.make_ascii_lowercase();
        let (raw, has_fields) = match &*lower {
            b"" | b"u" | b"b" => (false, false),
            b"r" | b"br" | b"rb" => (true, false),
            b"f" | b"t" => (false, true),
            b"fr" | b"rf" | b"tr" | b"rt" => (true, true),
            _ => return None,
        };
        let triple = cursor.skip(if quote == '"' { "\"\"\"" } else { "'''" });
        if !triple {
            cursor.next();
        }
        Some(Self { quote, triple, raw, has_fields })
    }

    /// Reads a string without fields to its end.
    pub(super) fn plain(self, cursor: &mut Cursor<'_>) -> Result<(), NotPython> {
        while let Some(found) = self.character(cursor)? {
            if found == '\\' {
                escaped(cursor)?;
            }
        }
        Ok(())
    }

    /// Reads what is literal: up to a field, the end of the string or, in a format specification, the end of its field.
    pub(super) fn part(
        self,
        cursor: &mut Cursor<'_>,
        specification: bool,
    ) -> Result<PartEnd, NotPython> {
        loop {
            match self.character(cursor)? {
                None if specification => {
                    return cursor.refuse("a replacement field does not end before its string");
                }
                None => return Ok(PartEnd::String),
                Some('{') if !cursor.starts_with("{") => return Ok(PartEnd::Field),
                // Whether these are a field or text depends on what stands before them, and on the version.
                Some('{') if specification => {
                    return cursor.refuse("two braces in a format specification");
                }
                Some('{') => {
                    cursor.next();
                }
                Some('}') if specification => return Ok(PartEnd::Specification),
                Some('}') if !cursor.skip("}") => {
                    return cursor.refuse("a closing brace without an opening one");
                }
                Some('\\') => self.backslash(cursor)?,
                Some(_) => {}
            }
        }
    }

    /// The next character; none behind the quotes that end the string.
    fn character(self, cursor: &mut Cursor<'_>) -> Result<Option<char>, NotPython> {
        if cursor.peek() == Some(self.quote) {
            if !self.triple {
                cursor.next();
                return Ok(None);
            }
            if cursor.skip(if self.quote == '"' { "\"\"\"" } else { "'''" }) {
                return Ok(None);
            }
        }
        match cursor.next() {
            None => cursor.refuse("a string does not end"),
            Some('\n') if !self.triple => cursor.refuse("a string does not end on its line"),
            Some(found) if kernel::divides(found) => cursor.refuse(kernel::DIVIDED),
            found => Ok(found),
        }
    }

    /// Behind a backslash in a string with fields, where braces stay what they are.
    fn backslash(self, cursor: &mut Cursor<'_>) -> Result<(), NotPython> {
        if cursor.peek().is_some_and(|found| matches!(found, '{' | '}')) {
            return Ok(());
        }
        if !self.raw && cursor.skip("N{") {
            cursor
                .take_while(|found| found == '-' || found == ' ' || found.is_ascii_alphanumeric());
            return if cursor.skip("}") {
                Ok(())
            } else {
                cursor.refuse("a character's name does not end")
            };
        }
        escaped(cursor)
    }
}

/// Whatever follows a backslash, a quote or a line's end too, is part of the string.
fn escaped(cursor: &mut Cursor<'_>) -> Result<(), NotPython> {
    match cursor.next() {
        None => cursor.refuse("a string does not end"),
        Some(found) if kernel::divides(found) => cursor.refuse(kernel::DIVIDED),
        Some(_) => Ok(()),
    }
}
