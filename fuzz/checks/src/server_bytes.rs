//! What servers send: lines of a child's output, and the envelopes in them.

use plugway::protocol::{Id, Message};
use plugway::upstream::outside::{envelope, lines};

const LIMIT: usize = 32;

/// Lines are what splitting at line feeds gives, long ones skipped; an envelope is read as the strict parser reads it.
pub(crate) fn check(data: &[u8]) {
    let mut expected: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    // What follows the last line feed is not a line yet.
    expected.pop();
    let found = lines(data, LIMIT);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        match found {
            Some(text) => assert_eq!(**text, *expected.strip_suffix(b"\r").unwrap_or(expected)),
            None => assert!(expected.len() > LIMIT),
        }
    }
    let Ok(message) = Message::parse(data.to_vec().into()) else { return };
    let found = envelope(data);
    assert_eq!(found.as_ref().map(|(kind, _)| *kind), Some(message.kind()));
    let id = found.and_then(|(_, id)| Id::parse(&id?));
    assert_eq!(id.as_ref(), message.id());
}
