//! Messages as lines (MCP, "stdio"): splits what arrives, and makes one line of one message.

use bytes::{Buf as _, Bytes, BytesMut};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Without its end.
    Text(Bytes),
    /// Longer than the limit; it was skipped but for its ends.
    TooLong(Ends),
}

/// Bytes that are kept of each end of a line that is skipped: enough to see what message it was.
const END: usize = 256;

/// How a line begins and ends that was skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Its first 256 bytes.
    pub head: Vec<u8>,
    /// Its last 256 bytes.
    pub tail: Vec<u8>,
}

impl Ends {
    /// Takes the next piece of the line.
    fn take(&mut self, piece: &[u8]) {
        let room = END.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(piece.get(..room).unwrap_or_default());
        let last = piece.get(piece.len().saturating_sub(END)..).unwrap_or_default();
        self.tail.extend_from_slice(last);
        let over = self.tail.len().saturating_sub(END);
        drop(self.tail.drain(..over));
    }
}

/// Splits a stream of bytes into lines, whatever the chunks it arrives in. Never more than the limit and one chunk is
/// held.
#[derive(Debug)]
pub struct Splitter {
    buffer: BytesMut,
    searched: usize,
    limit: usize,
    /// What is kept of the line that is being skipped.
    skipped: Option<Ends>,
}

impl Splitter {
    /// A splitter that skips lines of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, limit, skipped: None }
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
            if self.skipped.is_some() || line.len() > self.limit {
                return Some(Line::TooLong(self.skipped(&line)));
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            return Some(Line::Text(line));
        }
        self.searched = self.buffer.len();
        if self.searched > self.limit {
            self.skipped.get_or_insert_default().take(&self.buffer);
            self.buffer.clear();
            self.searched = 0;
        }
        None
    }

    /// What followed the last line end when the stream ended; none where nothing did.
    pub fn rest(&mut self) -> Option<Line> {
        let rest = self.buffer.split().freeze();
        self.searched = 0;
        if self.skipped.is_some() {
            return Some(Line::TooLong(self.skipped(&rest)));
        }
        (!rest.is_empty()).then_some(Line::Text(rest))
    }
}

impl Splitter {
    /// The ends of the line that is skipped, whose last piece this is.
    fn skipped(&mut self, last: &[u8]) -> Ends {
        let mut ends = self.skipped.take().unwrap_or_default();
        ends.take(last);
        ends
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
        let long: Vec<String> = (0..300).map(|n| format!("{n:04}")).collect();
        let long = long.concat();
        let all = format!("a\r\n\n{long}\nend\nrest");
        let end = |range: std::ops::Range<usize>| long.as_bytes()[range].to_vec();
        let ends = Ends { head: end(0..END), tail: end(long.len() - END..long.len()) };
        for chunk in [1, 7, 100, 10_000] {
            let (lines, rest) = split(all.as_bytes(), chunk, 100);
            let wanted = [text("a"), text(""), Line::TooLong(ends.clone()), text("end")];
            assert_eq!(lines, wanted, "{chunk}");
            assert_eq!(rest, Some(text("rest")));
        }
        assert_eq!(split(b"x\n", 1, 10).1, None);
        let short = Ends { head: vec![b'x'; 50], tail: vec![b'x'; 50] };
        assert_eq!(split(&[b'x'; 50], 10, 20), (Vec::new(), Some(Line::TooLong(short))));
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
