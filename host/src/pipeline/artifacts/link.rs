//! One link, as it stands in JSON text: in running text, or as a whole string.

use std::sync::Arc;

use super::PATH;
use super::letter::{Step, Text};
use super::name::Name;
use super::place::Place;

/// Longest link that is looked at, in bytes of the text; a longer one stays as it is.
const LONGEST: usize = 2 * 1024;

/// A link to a file of a server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The origin that it names.
    pub(super) origin: Arc<str>,
    /// The path with everything encoded that a path cannot hold; it starts with [`PATH`].
    pub(super) path: String,
    /// The place in the text behind it.
    pub(super) end: usize,
}

impl Link {
    /// The last part of the path: the name of the file, encoded.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// What stands at a place of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Link(Link),
    /// No link, and none up to this place.
    Nothing(usize),
    /// What follows in the text decides it.
    More,
}

/// Looks for a link to one of these origins at a place of the text.
pub(super) fn at(text: Text<'_>, start: usize, place: Place, origins: &[Arc<str>]) -> Seen {
    if place == Place::Resource {
        return Seen::Nothing(start + 1);
    }
    let mut more = false;
    for origin in origins {
        match text.prefix(start, origin) {
            Prefix::Until(at) => return text.link(start, at, place, origin),
            Prefix::More => more = true,
            Prefix::Other => {}
        }
    }
    if more { Seen::More } else { Seen::Nothing(start + 1) }
}

enum Prefix {
    Until(usize),
    Other,
    More,
}

/// A path that was read.
struct Path {
    path: String,
    end: usize,
}

enum Read {
    Path(Path),
    /// It is none in this way; it was read up to here. Nothing in it is looked at again: no text costs more than its
    /// length.
    None(usize),
    More,
}

impl Read {
    fn path((path, end): (String, usize)) -> Self {
        Self::Path(Path { path, end })
    }
}

impl Text<'_> {
    /// Whether the text has the origin and [`PATH`] here. Schemes and hosts are the same in upper and lower case.
    fn prefix(self, start: usize, origin: &str) -> Prefix {
        let origin = origin.bytes().map(|letter| (letter, true));
        let mut at = start;
        for (wanted, any_case) in origin.chain(PATH.bytes().map(|letter| (letter, false))) {
            match self.step(at) {
                Step::Letter(letter, length)
                    if letter == wanted || (any_case && letter.eq_ignore_ascii_case(&wanted)) =>
                {
                    at += length;
                }
                Step::More => return Prefix::More,
                _ => return Prefix::Other,
            }
        }
        Prefix::Until(at)
    }

    fn link(self, start: usize, at: usize, place: Place, origin: &Arc<str>) -> Seen {
        let read = match place {
            Place::Text => Read::None(at),
            place => self.string(start, Name::new(at, place == Place::Address), at),
        };
        let read = match read {
            Read::None(_) => self.word(start, at),
            read => read,
        };
        match read {
            Read::More => Seen::More,
            Read::Path(Path { path, end }) if is_sound(&path) => {
                Seen::Link(Link { origin: origin.clone(), path, end })
            }
            Read::Path(Path { end: behind, .. }) | Read::None(behind) => Seen::Nothing(behind),
        }
    }

    /// A link in running text: it ends before the first letter that a URL would have encoded, or that belongs to the text
    /// around it. One that goes on with a query is none.
    fn word(self, start: usize, mut at: usize) -> Read {
        let mut path = PATH.to_owned();
        loop {
            if at - start > LONGEST {
                return Read::None(at);
            }
            match self.step(at) {
                Step::More => return Read::More,
                Step::Letter(letter, length) if is_of_word(letter) => {
                    path.push(char::from(letter));
                    at += length;
                }
                Step::Letter(b'?' | b'#', length) => match self.step(at + length) {
                    Step::More => return Read::More,
                    Step::Letter(letter, _) if is_of_word(letter) => return Read::None(at),
                    _ => break,
                },
                _ => break,
            }
        }
        // A full stop behind a link is the sentence's.
        while at > 0
            && let Some(mark @ (b'.' | b',' | b':' | b';' | b'!')) = self.get(at - 1)
            && path.ends_with(char::from(mark))
        {
            path.pop();
            at -= 1;
        }
        Read::Path(Path { path, end: at })
    }

    /// A link that is a whole string, or that one begins with. One that goes on with a query is none in this way.
    fn string(self, start: usize, mut name: Name, mut at: usize) -> Read {
        loop {
            if at - start > LONGEST {
                return Read::None(at);
            }
            match self.step(at) {
                Step::More => return Read::More,
                Step::Quote => return Read::path(name.whole(at)),
                Step::Letter(b'?' | b'#', _) | Step::Stop => return Read::None(at),
                Step::Letter(letter, _) if name.ends_before(Some(letter)) => {
                    return Read::path(name.solid());
                }
                Step::Wide(..) if name.ends_before(None) => return Read::path(name.solid()),
                Step::Letter(letter, length) => {
                    at += length;
                    name.push(letter, at);
                }
                Step::Wide(letter, length) => {
                    at += length;
                    name.push_encoded(&letter, at);
                }
            }
        }
    }
}

/// Letters of a path (RFC 3986, section 3.3) but for those that close brackets and quotations in a text.
pub(super) fn is_of_word(letter: u8) -> bool {
    letter.is_ascii_alphanumeric() || b"-._~/%:@!$&+,;=".contains(&letter)
}

/// Whether every reader takes a path for the same file below [`PATH`]: nothing goes up, nothing is hidden in an encoding.
pub(super) fn is_sound(path: &str) -> bool {
    let Some(below) = path.strip_prefix(PATH) else { return false };
    below.split('/').all(|part| {
        decoded(part).is_some_and(|part| {
            let plain = |byte: &u8| !byte.is_ascii_control() && !b"/\\".contains(byte);
            !part.is_empty() && part != b"." && part != b".." && part.iter().all(plain)
        })
    })
}

/// The bytes of a part of a path; none where a `%` encodes nothing.
pub(super) fn decoded(part: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let value = digit()? * 16 + digit()?;
        bytes.push(u8::try_from(value).ok()?);
    }
    Some(bytes)
}
