//! JSON-RPC batches of servers: part of revision 2025-03-26. What one holds is read as so many messages.

use bytes::Bytes;

use super::peek::Peek;
use crate::protocol::{Kind, scan};

/// Messages of one batch; a larger one is no message.
const MOST: usize = 1_000;

/// Whether a text is a batch, if it is anything.
pub(super) fn is_batch(text: &[u8]) -> bool {
    text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

/// The message, or those of a batch, responses last: what comes before one belongs to its call.
pub(super) fn split(text: Bytes) -> impl Iterator<Item = Bytes> + Send {
    let messages = if is_batch(&text) { members(&text) } else { Vec::new() };
    // What is no batch passes as it is, and costs nothing.
    let whole = messages.is_empty().then_some(text);
    whole.into_iter().chain(messages)
}

fn members(text: &Bytes) -> Vec<Bytes> {
    let array = std::str::from_utf8(text).unwrap_or_default();
    let spans = scan::items(array).filter(|spans| spans.len() <= MOST).unwrap_or_default();
    let mut messages: Vec<Bytes> = spans.iter().map(|span| text.slice(span.range())).collect();
    messages.sort_by_key(|one| Peek::read(one).is_ok_and(|one| one.kind() == Some(Kind::Response)));
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let messages = split(Bytes::copy_from_slice(text.as_bytes()));
        messages.map(|one| String::from_utf8(one.to_vec()).unwrap()).collect()
    }

    #[test]
    fn a_batch_is_its_messages_with_the_responses_last() {
        let (response, note) = (r#"{"id":1,"result":{"n":1.0}}"#, r#"{"method":"a"}"#);
        assert_eq!(all(note), [note]);
        assert_eq!(all(&format!(" [ {response} , {note},{note}]")), [note, note, response]);
        for strange in ["", "[]", "[1", "x", &format!("[{}1]", "1,".repeat(MOST))] {
            assert_eq!(all(strange), [strange]);
        }
    }
}
