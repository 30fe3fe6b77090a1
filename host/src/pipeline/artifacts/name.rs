//! The path of a link that is a whole string or the beginning of one, and where it ends in it. Servers that give links do not
//! encode the names of files, which may hold spaces and anything else; a text that begins with a link may go on with anything.

use super::PATH;
use super::letter::encoded;
use super::link::is_of_word;

/// Letters of an ending such as `.csv`.
const ENDING: usize = 8;

/// Marks that belong to the text rather than to a name which they stand behind.
const MARKS: &[u8] = b".,:;!)]}>*'`";

/// A path as far as it was read.
pub(super) struct Name {
    path: String,
    /// Its length without the marks at its end.
    solid: usize,
    /// The same in the text.
    solid_at: usize,
    /// Brackets that are open.
    open: usize,
    /// The first word of it, where it has several: length, and end in the text.
    word: Option<(usize, usize)>,
    /// Whether the string is one with an address, and no running text.
    is_address: bool,
}

impl Name {
    /// One that starts with [`PATH`], whose letters follow at this place.
    pub(super) fn new(at: usize, is_address: bool) -> Self {
        let (path, solid) = (PATH.to_owned(), PATH.len());
        Self { path, solid, solid_at: at, open: 0, word: None, is_address }
    }

    /// Whether it ends before this letter, or before one that is not ASCII: behind the ending of a file's name, a space and
    /// what no path holds belong to the text; so does a space behind a mark.
    pub(super) fn ends_before(&self, letter: Option<u8>) -> bool {
        let named = has_ending(self.path.get(..self.solid).unwrap_or_default());
        match letter {
            Some(b' ') => named || (!self.is_address && self.solid < self.path.len()),
            _ if self.is_address => false,
            Some(b'(' | b'[' | b'{') => false,
            Some(b')' | b']' | b'}') if self.open > 0 => false,
            Some(letter) => named && !is_of_word(letter),
            None => named,
        }
    }

    /// One letter more; the text goes on at `behind`.
    pub(super) fn push(&mut self, letter: u8, behind: usize) {
        if letter == b' ' && self.word.is_none() {
            self.word = Some((self.solid, self.solid_at));
        }
        let closes = matches!(letter, b')' | b']' | b'}') && self.open > 0;
        match letter {
            b'(' | b'[' | b'{' => self.open += 1,
            _ if closes => self.open -= 1,
            _ => {}
        }
        if is_of_word(letter) {
            self.path.push(char::from(letter));
        } else {
            self.path.push_str(&encoded(char::from(letter)));
        }
        if closes || !MARKS.contains(&letter) {
            (self.solid, self.solid_at) = (self.path.len(), behind);
        }
    }

    /// Letters more that are encoded.
    pub(super) fn push_encoded(&mut self, letters: &str, behind: usize) {
        self.path.push_str(letters);
        (self.solid, self.solid_at) = (self.path.len(), behind);
    }

    /// The path without the marks at its end, and its end in the text.
    pub(super) fn solid(self) -> (String, usize) {
        let (length, at) = (self.solid, self.solid_at);
        self.upto(length, at)
    }

    /// The path where the string ends at this place. An address is all of it; a text that does not end like the name of a file
    /// is a sentence, and its first word the link.
    pub(super) fn whole(self, at: usize) -> (String, usize) {
        if self.is_address {
            return (self.path, at);
        }
        match self.word {
            Some((length, at)) if !has_ending(self.path.get(..self.solid).unwrap_or_default()) => {
                self.upto(length, at)
            }
            _ => self.solid(),
        }
    }

    fn upto(mut self, length: usize, at: usize) -> (String, usize) {
        self.path.truncate(length);
        (self.path, at)
    }
}

/// Whether a path ends like the name of a file: `plot.png`.
fn has_ending(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, ending)| {
        let known = (1..=ENDING).contains(&ending.len());
        known && ending.bytes().all(|letter| letter.is_ascii_alphanumeric())
    })
}
