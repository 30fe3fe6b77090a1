//! Event ids: opaque to clients, which give them back as they got them.

use std::fmt;

/// A place in a stream of a session: behind the event of this position, or before the first one where that is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId {
    /// The number of the stream; the session's own has [`EventId::OWN`].
    pub stream: u64,
    /// How many events the stream had with this one.
    pub position: u64,
}

impl EventId {
    /// The session's own stream, which answers nothing.
    pub const OWN: u64 = 0;

    /// The place that an id names; none for what is no id of plugway's.
    pub fn parse(text: &str) -> Option<Self> {
        let (stream, position) = text.split_once('-')?;
        Some(Self { stream: number(stream)?, position: number(position)? })
    }
}

/// Each number has one way to be written.
fn number(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text == "0" || !text.starts_with('0');
    (digits && canonical).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.position)
    }
}
