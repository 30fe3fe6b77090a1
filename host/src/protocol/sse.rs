//! Server-sent events (WHATWG HTML, section 9.2) as MCP uses them: one JSON-RPC message in the data of an event.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The event's type; none means `message`.
    pub event: Option<String>,
    /// The data lines, joined by line feeds.
    pub data: Bytes,
    /// The id, where the event has one.
    pub id: Option<String>,
    /// Milliseconds to wait before a reconnect, where the event says so.
    pub retry: Option<u64>,
}

impl Event {
    /// Whether the event carries a JSON-RPC message. An empty type means `message`, as no type does.
    pub fn is_message(&self) -> bool {
        !self.data.is_empty() && matches!(self.event.as_deref(), None | Some("" | "message"))
    }
}

/// An event grew past the limit that the reader was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {limit} bytes")]
pub struct TooLarge {
    /// The limit in bytes.
    pub limit: usize,
}

/// Splits a byte stream into events, whatever the chunks it arrives in.
#[derive(Debug)]
pub struct Reader {
    pending: BytesMut,
    /// How much of `pending` is known to hold no end of line.
    searched: usize,
    data: BytesMut,
    has_data: bool,
    event: Event,
    limit: usize,
    started: bool,
    /// The last line ended with a carriage return: a line feed that follows belongs to it.
    after_return: bool,
}

/// A line may be so much longer than the value that it adds to its event: the field's name, a colon and a space.
const FIELD_NAME: usize = 16;

impl Reader {
    /// A reader that refuses events of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            pending: BytesMut::new(),
            searched: 0,
            data: BytesMut::new(),
            has_data: false,
            event: Event::default(),
            limit,
            started: false,
            after_return: false,
        }
    }

    /// Takes a chunk of the stream. Call [`next_event`](Self::next_event) until there is none before the next push:
    /// then never more than the limit, a field's name and one chunk are held.
    pub fn push(&mut self, chunk: &[u8]) {
        self.pending.extend_from_slice(chunk);
    }

    /// Bytes of the stream that are held now.
    pub fn held(&self) -> usize {
        self.pending.len() + self.event_size()
    }

    fn event_size(&self) -> usize {
        let text = |field: &Option<String>| field.as_ref().map_or(0, String::len);
        self.data.len() + text(&self.event.event) + text(&self.event.id)
    }

    /// The next complete event of what was pushed. An event without data, id or retry is not reported.
    pub fn next_event(&mut self) -> Result<Option<Event>, TooLarge> {
        while let Some(line) = self.line() {
            if line.is_empty() {
                if let Some(event) = self.complete() {
                    return Ok(Some(event));
                }
                continue;
            }
            self.field(&line);
            self.bounded(self.limit, 0)?;
        }
        // What is left is the beginning of a line of the event that is being read.
        self.bounded(self.limit.saturating_add(FIELD_NAME), self.pending.len())?;
        Ok(None)
    }

    fn bounded(&self, most: usize, line: usize) -> Result<(), TooLarge> {
        if self.event_size().saturating_add(line) > most {
            return Err(TooLarge { limit: self.limit });
        }
        Ok(())
    }

    /// The next whole line without its end.
    fn line(&mut self) -> Option<Bytes> {
        if !self.started {
            if self.pending.len() < 3 && b"\xef\xbb\xbf".starts_with(&self.pending) {
                return None;
            }
            if self.pending.starts_with(b"\xef\xbb\xbf") {
                self.pending.advance(3);
            }
            self.started = true;
        }
        if self.after_return && !self.pending.is_empty() {
            if self.pending.first() == Some(&b'\n') {
                self.pending.advance(1);
            }
            self.after_return = false;
        }
        let rest = self.pending.get(self.searched..).unwrap_or_default();
        let Some(found) = memchr::memchr2(b'\n', b'\r', rest) else {
            self.searched = self.pending.len();
            return None;
        };
        let end = self.searched + found;
        self.after_return = self.pending.get(end) == Some(&b'\r');
        let line = self.pending.split_to(end).freeze();
        self.pending.advance(1);
        self.searched = 0;
        Some(line)
    }

    fn field(&mut self, line: &Bytes) {
        let colon = memchr::memchr(b':', line);
        let name = line.get(..colon.unwrap_or(line.len())).unwrap_or_default();
        let mut value = colon.map_or(Bytes::new(), |at| line.slice(at + 1..));
        if value.first() == Some(&b' ') {
            value.advance(1);
        }
        match name {
            b"data" => {
                if self.has_data {
                    self.data.extend_from_slice(b"\n");
                }
                self.data.extend_from_slice(&value);
                self.has_data = true;
            }
            b"event" => self.event.event = Some(String::from_utf8_lossy(&value).into_owned()),
            b"id" if !value.contains(&0) => {
                self.event.id = Some(String::from_utf8_lossy(&value).into_owned());
            }
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let wait = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
                self.event.retry = wait.or(self.event.retry);
            }
            _ => {}
        }
    }

    fn complete(&mut self) -> Option<Event> {
        let mut event = std::mem::take(&mut self.event);
        event.data = self.data.split().freeze();
        self.has_data = false;
        let empty = event.data.is_empty() && event.id.is_none() && event.retry.is_none();
        (!empty).then_some(event)
    }
}

/// The text of an event that carries one message. A message of one line costs one copy; in others each end of a line,
/// which is white space in JSON, reads back as a line feed.
pub fn encode(message: &[u8]) -> Bytes {
    event(BytesMut::with_capacity(message.len() + 24), message)
}

/// [`encode`], with an id from which a client can resume the stream.
pub fn encode_as(id: &str, message: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(message.len() + id.len() + 32);
    id_line(&mut out, id);
    event(out, message)
}

/// The event that a stream begins with: an id to resume it from, and how long to wait before that; no message.
pub fn priming(id: &str, retry: Duration) -> Bytes {
    let mut out = BytesMut::new();
    id_line(&mut out, id);
    out.extend_from_slice(format!("retry: {}\ndata: \n\n", retry.as_millis()).as_bytes());
    out.freeze()
}

fn event(mut out: BytesMut, message: &[u8]) -> Bytes {
    out.extend_from_slice(b"event: message\n");
    let mut rest = message;
    while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
        let (line, after) = rest.split_at(end);
        data_line(&mut out, line);
        rest = after.strip_prefix(b"\r\n").or_else(|| after.get(1..)).unwrap_or_default();
    }
    data_line(&mut out, rest);
    out.extend_from_slice(b"\n");
    out.freeze()
}

fn id_line(out: &mut BytesMut, id: &str) {
    out.extend_from_slice(b"id: ");
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(b"\n");
}

fn data_line(out: &mut BytesMut, line: &[u8]) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(line);
    out.extend_from_slice(b"\n");
}

/// A comment line: keeps an idle stream open.
pub const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &[u8], cuts: &[usize]) -> Vec<Event> {
        let mut reader = Reader::new(1 << 20);
        let mut events = Vec::new();
        let mut from = 0;
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        for cut in cuts {
            reader.push(&text[from..cut]);
            from = cut;
            while let Some(event) = reader.next_event().unwrap() {
                events.push(event);
            }
        }
        events
    }

    proptest! {
        #[test]
        fn chunks_make_no_difference(
            lines in proptest::collection::vec("(data|id|event|retry|)(:| )?[ a-z:{}0-9\u{e4}]{0,12}", 0..24),
            ends in proptest::collection::vec(prop_oneof![Just("\n"), Just("\r\n"), Just("\r"), Just("\n\n")], 24),
            bom in any::<bool>(),
            cuts in proptest::collection::vec(any::<usize>(), 0..12),
        ) {
            let mut text = if bom { "\u{feff}".to_owned() } else { String::new() };
            for (line, end) in lines.iter().zip(&ends) {
                text.push_str(line);
                text.push_str(end);
            }
            text.push_str("\n\n");
            let every: Vec<_> = (0..=text.len()).collect();
            let whole = read(text.as_bytes(), &[]);
            prop_assert_eq!(&read(text.as_bytes(), &cuts), &whole);
            prop_assert_eq!(&read(text.as_bytes(), &every), &whole);
        }

        #[test]
        fn what_is_encoded_is_read_back(
            messages in proptest::collection::vec("[ -~\u{e4}\u{1f600}]{1,40}", 1..6),
            cuts in proptest::collection::vec(any::<usize>(), 0..8),
        ) {
            let mut text = Vec::new();
            for message in &messages {
                text.extend_from_slice(&encode(message.as_bytes()));
                text.extend_from_slice(KEEP_ALIVE);
            }
            let events = read(&text, &cuts);
            prop_assert!(events.iter().all(Event::is_message));
            let datas: Vec<_> = events.iter().map(|event| event.data.to_vec()).collect();
            let wanted: Vec<_> = messages.iter().map(|message| message.as_bytes().to_vec()).collect();
            prop_assert_eq!(datas, wanted);
        }
    }

    #[test]
    fn ids_are_read_back_and_a_priming_event_carries_no_message() {
        let mut text = priming("3-0", Duration::from_secs(3)).to_vec();
        text.extend_from_slice(&encode_as("3-1", b"{}"));
        let events = read(&text, &[]);
        assert_eq!((events[0].id.as_deref(), events[0].retry), (Some("3-0"), Some(3_000)));
        assert!(!events[0].is_message() && events[1].is_message());
        assert_eq!((events[1].id.as_deref(), &events[1].data[..]), (Some("3-1"), &b"{}"[..]));
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut reader = Reader::new(1_000);
        reader.push(b"data: ");
        let mut refused = false;
        for _ in 0..300 {
            reader.push(b"0123456789");
            refused |= reader.next_event().is_err();
        }
        assert!(refused);
        let mut reader = Reader::new(1_000);
        let refused = (0..300).any(|_| {
            reader.push(b"data: 0123456789\n");
            reader.next_event().is_err()
        });
        assert!(refused);
    }
}
