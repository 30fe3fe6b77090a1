//! Lines of a child's output, within a bound.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

pub(in crate::upstream) use crate::protocol::lines::Line;
use crate::protocol::lines::Splitter;

/// How much is read at once.
const CHUNK: usize = 16 * 1024;

/// Splits a stream into lines.
#[derive(Debug)]
pub(in crate::upstream) struct Lines<R> {
    from: R,
    splitter: Splitter,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(in crate::upstream) fn new(from: R, limit: usize) -> Self {
        Self { from, splitter: Splitter::new(limit) }
    }

    /// The next line; none at the end. What follows the last line end is not a line.
    pub(in crate::upstream) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.splitter.line() {
                return Ok(Some(line));
            }
            if self.from.read_buf(self.splitter.room(CHUNK)).await? == 0 {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

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
        let long = seen.remove(2);
        assert_eq!(seen, [text("a"), text(""), text("end")]);
        assert!(matches!(long, Line::TooLong(ends) if ends.head.starts_with(b"xx")));
    }
}
