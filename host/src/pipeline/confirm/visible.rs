//! Text of others as a person sees it: nothing in it is invisible, turns the direction of writing, steers a terminal, begins a
//! line of its own or leaves the block that it stands in.

use std::fmt::Write as _;

use crate::glyph::hides;

/// A text that takes so many bytes and lines and counts the rest.
pub(super) struct Board {
    text: String,
    bytes: usize,
    lines: usize,
    is_full: bool,
}

impl Board {
    /// Room for so many bytes and lines.
    pub(super) fn new(bytes: usize, lines: usize) -> Self {
        Self { text: String::new(), bytes, lines: lines.saturating_sub(1), is_full: false }
    }

    /// Takes a piece as a whole; false where there is no room, and then there is none for anything that follows.
    pub(super) fn push(&mut self, piece: &str) -> bool {
        self.is_full |= self.text.len() + piece.len() > self.bytes;
        if !self.is_full {
            self.text.push_str(piece);
        }
        !self.is_full
    }

    /// Begins a line that is moved to the right by so many levels.
    pub(super) fn line(&mut self, level: usize) -> bool {
        self.is_full |= self.lines == 0;
        self.lines = self.lines.saturating_sub(1);
        self.push("\n") && self.push(&"  ".repeat(level))
    }

    /// Whether it took less than it was given.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// What it took.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// As much of a text as `limit` bytes hold, and how many bytes of the text that leaves out. `quoted` = it stands in quotes.
pub(super) fn beginning(text: &str, limit: usize, quoted: bool) -> (String, usize) {
    let mut shown = String::new();
    let mut piece = String::new();
    for (at, letter) in text.char_indices() {
        piece.clear();
        put(&mut piece, letter, quoted);
        if shown.len() + piece.len() > limit {
            return (shown, text.len() - at);
        }
        shown.push_str(&piece);
    }
    (shown, 0)
}

/// A name or a string in quotes. What is left out is said behind them, where nothing of the text itself can stand.
pub(super) fn quoted(text: &str, limit: usize) -> String {
    let (shown, left_out) = beginning(text, limit, true);
    match left_out {
        0 => format!("\"{shown}\""),
        bytes => format!("\"{shown}\" … {} more bytes", grouped(bytes)),
    }
}

/// A number with a comma before each three digits.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn put(piece: &mut String, letter: char, quoted: bool) {
    match letter {
        '\\' => piece.push_str("\\\\"),
        '\n' => piece.push_str("\\n"),
        '\t' => piece.push_str("\\t"),
        '\r' => piece.push_str("\\r"),
        '"' if quoted => piece.push_str("\\\""),
        // A row of these would end the block that the text stands in.
        '`' => escape(piece, letter),
        _ if hides(letter) => escape(piece, letter),
        _ => piece.push(letter),
    }
}

fn escape(piece: &mut String, letter: char) {
    // Writing to a string cannot fail.
    write!(piece, "\\u{{{:x}}}", u32::from(letter)).unwrap_or_default();
}
