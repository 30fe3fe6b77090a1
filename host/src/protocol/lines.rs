//! Messages as lines (MCP, "stdio"): splits what arrives, and makes one line of one message.

use bytes::{Buf as _, Bytes, BytesMut};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Without its end.
    Text(Bytes),
    /// Longer than the limit; it was skipped.
    TooLong,
}

/// Splits a stream of bytes into lines, whatever the chunks it arrives in. Never more than the limit and one chunk is
/// held.
#[derive(Debug)]
pub struct Splitter {
    buffer: BytesMut,
    searched: usize,
    limit: usize,
    skipping: bool,
}

impl Splitter {
    /// A splitter that skips lines of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, limit, skipping: false }
    }

    /// Where the next chunk goes: at its end, with room for `chunk` bytes. Take every [`line`](Self::line) before the
    /// next chunk.
    pub fn room(&mut self, chunk: usize) -> &mut BytesMut {
        self.buffer.reserve(chunk);
        &mut self.buffer
    }

    /// The next whole line of what arrived.
    pub fn line(&mut self) -> Option<Line> {
        let rest = self.buffer.get(self.searched..).unwrap_or_default();
        if let Some(found) = memchr::memchr(b'\n', rest) {
            let mut line = self.buffer.split_to(self.searched + found).freeze();
            self.buffer.advance(1);
            self.searched = 0;
            if std::mem::take(&mut self.skipping) || line.len() > self.limit {
                return Some(Line::TooLong);
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            return Some(Line::Text(line));
        }
        self.searched = self.buffer.len();
        if self.searched > self.limit {
            self.skipping = true;
            self.buffer.clear();
            self.searched = 0;
        }
        None
    }

    /// What followed the last line end when the stream ended; none where nothing did.
    pub fn rest(&mut self) -> Option<Line> {
        let rest = self.buffer.split().freeze();
        self.searched = 0;
        if std::mem::take(&mut self.skipping) {
            return Some(Line::TooLong);
        }
        (!rest.is_empty()).then_some(Line::Text(rest))
    }
}

/// A message as one line, its end included. Line ends between the parts of a message are white space and become
/// spaces; a JSON string cannot hold one.
pub fn one_line(message: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(message.len() + 1);
    line.extend_from_slice(message);
    if memchr::memchr2(b'\n', b'\r', message).is_some() {
        for byte in line.iter_mut().filter(|byte| matches!(**byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &[u8], chunk: usize, limit: usize) -> (Vec<Line>, Option<Line>) {
        let mut splitter = Splitter::new(limit);
        let mut lines = Vec::new();
        for piece in text.chunks(chunk) {
            splitter.room(piece.len()).extend_from_slice(piece);
            lines.extend(std::iter::from_fn(|| splitter.line()));
        }
        (lines, splitter.rest())
    }

    fn text(text: &'static str) -> Line {
        Line::Text(Bytes::from_static(text.as_bytes()))
    }

    #[test]
    fn lines_are_split_and_long_ones_skipped() {
        let all = format!("a\r\n\n{}\nend\nrest", "x".repeat(1_000));
        for chunk in [1, 7, 100, 10_000] {
            let (lines, rest) = split(all.as_bytes(), chunk, 100);
            assert_eq!(lines, [text("a"), text(""), Line::TooLong, text("end")], "{chunk}");
            assert_eq!(rest, Some(text("rest")));
        }
        assert_eq!(split(b"x\n", 1, 10).1, None);
        assert_eq!(split(&[b'x'; 50], 10, 20), (Vec::new(), Some(Line::TooLong)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn one_message_is_one_line(message in "[ -~\n\r\t\u{e4}]{0,60}", chunk in 1usize..20) {
            let line = one_line(message.as_bytes());
            let (lines, rest) = split(&line, chunk, 1_000);
            let wanted = message.replace(['\n', '\r'], " ");
            prop_assert_eq!(lines, [Line::Text(wanted.into())]);
            prop_assert_eq!(rest, None);
        }
    }
}
