//! Event streams, against a reader that has the whole stream at once.

use bytes::Bytes;
use plugway::protocol::Message;
use plugway::protocol::sse::{Event, Reader, TooLarge, encode};

/// Two bytes say how the rest is cut and limited; the rest is a stream, and a message to be encoded.
pub(crate) fn check(data: &[u8]) {
    let [cut, limit, stream @ ..] = data else { return };
    let expected = reference(stream);
    let whole = read(stream, stream.len().max(1), usize::MAX);
    assert_eq!(whole, Ok(expected.clone()), "as one chunk");
    let cut = usize::from(*cut % 17) + 1;
    assert_eq!(read(stream, cut, usize::MAX), Ok(expected.clone()), "in chunks of {cut}");
    if let Ok(events) = read(stream, cut, usize::from(*limit)) {
        assert_eq!(events, expected, "within the limit");
    }
    encoded(stream);
}

fn read(stream: &[u8], cut: usize, limit: usize) -> Result<Vec<Event>, TooLarge> {
    let mut reader = Reader::new(limit);
    let mut events = Vec::new();
    for chunk in stream.chunks(cut) {
        reader.push(chunk);
        while let Some(event) = reader.next_event()? {
            assert!(event.data.len() <= limit, "an event is within the limit");
            events.push(event);
        }
        assert!(reader.held() <= limit.saturating_add(16), "{} bytes are held", reader.held());
    }
    Ok(events)
}

/// The algorithm of the standard, line by line.
fn reference(stream: &[u8]) -> Vec<Event> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let (mut events, mut event, mut data) = (Vec::new(), Event::default(), Vec::new());
    for line in lines(stream) {
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"" if colon.is_none() => {
                let mut done = std::mem::take(&mut event);
                data.pop();
                done.data = Bytes::from(std::mem::take(&mut data));
                if !done.data.is_empty() || done.id.is_some() || done.retry.is_some() {
                    events.push(done);
                }
            }
            b"data" => {
                data.extend_from_slice(value);
                data.push(b'\n');
            }
            b"event" => event.event = Some(String::from_utf8_lossy(value).into_owned()),
            b"id" if !value.contains(&0) => {
                event.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let number = String::from_utf8_lossy(value).parse().ok();
                event.retry = number.or(event.retry);
            }
            _ => {}
        }
    }
    events
}

/// Lines that have ended: by a carriage return, a line feed, or both.
fn lines(stream: &[u8]) -> Vec<Vec<u8>> {
    let (mut lines, mut line, mut last) = (Vec::new(), Vec::new(), 0);
    for byte in stream {
        match (*byte, last) {
            (b'\n', b'\r') => {}
            (b'\n' | b'\r', _) => lines.push(std::mem::take(&mut line)),
            (other, _) => line.push(other),
        }
        last = *byte;
    }
    lines
}

/// What is encoded reads back; a message is still the same message.
fn encoded(text: &[u8]) {
    let lines = lines(&[text, b"\n"].concat());
    let joined = lines.join(&b'\n');
    let Ok(events) = read(&encode(text), 7, usize::MAX) else { return };
    let data: Vec<&Bytes> = events.iter().map(|event| &event.data).collect();
    // A return at the very end and the line feed that was added above are one end of a line.
    let joined = if text.ends_with(b"\r") { [joined, b"\n".to_vec()].concat() } else { joined };
    let expected = if joined.is_empty() { vec![] } else { vec![Bytes::from(joined)] };
    assert_eq!(data, expected.iter().collect::<Vec<_>>());
    let Ok(message) = Message::parse(Bytes::copy_from_slice(text)) else { return };
    let Some(event) = events.first() else { return };
    let again = Message::parse(event.data.clone());
    assert!(event.is_message() && again.is_ok());
    let Ok(again) = again else { return };
    assert_eq!((again.kind(), again.id()), (message.kind(), message.id()));
    assert_eq!(again.method_name(), message.method_name());
}
