//! Arguments as a person sees them: the JSON text that will be sent, a member on each line, and what of it is left out.

use super::limits::{INDENT, VALUE};
use super::visible::{self, Board};
use crate::protocol::message::string;

/// JSON text, as far as so many bytes and lines show it, and how many bytes of it are left out. It was checked before: it is
/// JSON, and has no key twice.
pub(super) fn shown(json: &str, (bytes, lines): (usize, usize)) -> (String, usize) {
    let board = Board::new(bytes, lines);
    let mut sight = Sight { json, at: 0, level: 0, left_out: 0, board };
    while !sight.board.is_full() {
        let at = sight.at;
        if !sight.step() {
            break;
        }
        if sight.board.is_full() {
            // What did not fit begins here.
            sight.at = at;
        }
    }
    let left_out = sight.left_out + json.len().saturating_sub(sight.at);
    (sight.board.into_text(), left_out)
}

struct Sight<'a> {
    json: &'a str,
    at: usize,
    level: usize,
    left_out: usize,
    board: Board,
}

impl Sight<'_> {
    /// Shows the next token; false at the end.
    fn step(&mut self) -> bool {
        self.skip_space();
        let Some(first) = self.peek() else { return false };
        match first {
            b'{' | b'[' => self.open(first),
            b'}' | b']' => self.close(first),
            b',' => {
                self.at += 1;
                let _fits = self.board.push(",") && self.board.line(self.indent());
            }
            b':' => {
                self.at += 1;
                self.board.push(": ");
            }
            b'"' => self.text(),
            _ => self.word(),
        }
        true
    }

    fn open(&mut self, first: u8) {
        self.at += 1;
        self.skip_space();
        let close = if first == b'{' { b'}' } else { b']' };
        let open = if first == b'{' { "{" } else { "[" };
        self.board.push(open);
        if self.peek() == Some(close) {
            self.at += 1;
            self.board.push(if close == b'}' { "}" } else { "]" });
        } else {
            self.level += 1;
            self.board.line(self.indent());
        }
    }

    fn close(&mut self, close: u8) {
        self.at += 1;
        self.level = self.level.saturating_sub(1);
        let _fits = self.board.line(self.indent())
            && self.board.push(if close == b'}' { "}" } else { "]" });
    }

    /// A string: decoded, so that it is seen the same way however it was escaped.
    fn text(&mut self) {
        let start = self.at;
        let mut escaped = false;
        let rest = self.json.as_bytes().get(start + 1..).unwrap_or_default();
        let length = rest.iter().position(|byte| {
            let ends = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            ends
        });
        self.at = start + length.unwrap_or(rest.len()) + 2;
        let raw = self.json.get(start..self.at).unwrap_or_default();
        let text = string(raw).unwrap_or_default();
        let (_, left_out) = visible::beginning(&text, VALUE, true);
        if self.board.push(&visible::quoted(&text, VALUE)) {
            self.left_out += left_out;
        }
    }

    /// A number, `true`, `false` or `null`, as it is written.
    fn word(&mut self) {
        let rest = self.json.get(self.at..).unwrap_or_default();
        let ends = |letter: char| matches!(letter, ',' | '}' | ']') || letter.is_ascii_whitespace();
        let word = rest.find(ends).and_then(|end| rest.get(..end)).unwrap_or(rest);
        self.at += word.len();
        let (shown, left_out) = visible::beginning(word, VALUE, false);
        if self.board.push(&shown) && left_out > 0 {
            let more = format!(" … {} more digits", visible::grouped(left_out));
            if self.board.push(&more) {
                self.left_out += left_out;
            }
        }
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn indent(&self) -> usize {
        self.level.min(INDENT)
    }
}
