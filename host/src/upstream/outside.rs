//! The ways in which bytes of servers are taken apart, for the fuzz targets.

use bytes::Bytes;
use futures_util::FutureExt as _;

use super::peek::Peek;
use super::stdio::{Line, Lines};
use crate::protocol::Kind;

/// Lines of a child's output; none stands for one that was too long.
pub fn lines(data: &[u8], limit: usize) -> Vec<Option<Bytes>> {
    let mut lines = Lines::new(data, limit);
    let mut found = Vec::new();
    // Bytes in memory are always ready.
    while let Some(Ok(Some(line))) = lines.next().now_or_never() {
        found.push(match line {
            Line::Text(text) => Some(text),
            Line::TooLong(_) => None,
        });
    }
    found
}

/// What a server's message is, and the JSON text of its id; none when it is no message.
pub fn envelope(text: &[u8]) -> Option<(Kind, Option<String>)> {
    let peek = Peek::read(text).ok()?;
    Some((peek.kind()?, peek.id().map(str::to_owned)))
}
