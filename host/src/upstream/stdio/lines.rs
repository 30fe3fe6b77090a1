//! Lines of a child's output, within a bound.

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// How much is read at once.
const CHUNK: usize = 16 * 1024;

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::upstream) enum Line {
    /// Without its end.
    Text(Bytes),
    /// Longer than the limit; it was skipped.
    TooLong,
}

/// Splits a stream into lines.
#[derive(Debug)]
pub(in crate::upstream) struct Lines<R> {
    from: R,
    buffer: BytesMut,
    searched: usize,
    limit: usize,
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(in crate::upstream) fn new(from: R, limit: usize) -> Self {
        Self { from, buffer: BytesMut::new(), searched: 0, limit, skipping: false }
    }

    /// The next line; none at the end. What follows the last line end is not a line.
    pub(in crate::upstream) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let rest = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(found) = memchr::memchr(b'\n', rest) {
                let mut line = self.buffer.split_to(self.searched + found).freeze();
                self.buffer.advance(1);
                self.searched = 0;
                if std::mem::take(&mut self.skipping) || line.len() > self.limit {
                    return Ok(Some(Line::TooLong));
                }
                if line.last() == Some(&b'\r') {
                    line.truncate(line.len() - 1);
                }
                return Ok(Some(Line::Text(line)));
            }
            self.searched = self.buffer.len();
            if self.searched > self.limit {
                self.skipping = true;
                self.buffer.clear();
                self.searched = 0;
            }
            self.buffer.reserve(CHUNK);
            if self.from.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_split_and_long_ones_skipped() {
        let text = format!("a\r\n\n{}\nend\nrest", "x".repeat(40_000));
        let mut lines = Lines::new(text.as_bytes(), 100);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(line);
        }
        let text = |text: &'static str| Line::Text(Bytes::from_static(text.as_bytes()));
        assert_eq!(seen, [text("a"), text(""), Line::TooLong, text("end")]);
    }
}
