//! However a stream is cut and resumed, what was read is what was written.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use proptest::prelude::*;

use super::call::{Reader, Resumption};
use super::*;
use crate::pipeline::Outbox as _;
use crate::protocol::sse;
use crate::session::outbox::SessionOutbox;
use crate::session::{Waiting, Writer};

/// Id and message of the text of an event.
fn parsed(event: &Bytes) -> (EventId, String) {
    let mut reader = sse::Reader::new(1 << 24);
    reader.push(event);
    let event = reader.next_event().unwrap().unwrap();
    let id = EventId::parse(&event.id.unwrap()).unwrap();
    (id, String::from_utf8(event.data.to_vec()).unwrap())
}

/// What can be read now: events, and whether it ended.
fn read(reader: &Reader) -> (Vec<(EventId, String)>, bool) {
    let mut events = Vec::new();
    loop {
        match reader.next().now_or_never() {
            None => return (events, false),
            Some(None) => return (events, true),
            Some(Some(event)) => events.push(parsed(&event.unwrap())),
        }
    }
}

fn write(streams: &Streams, writer: &Writer, message: &str) {
    streams.append(writer, message.as_bytes()).now_or_never().expect("there is room");
}

fn reader(resumption: Resumption) -> Reader {
    match resumption {
        Resumption::From(reader) => reader,
        other => panic!("{other:?}"),
    }
}

fn at(stream: u64, position: u64) -> EventId {
    EventId { stream, position }
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize),
    Read(usize),
    /// The connection breaks, and so many of the last events never arrived.
    Cut(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0usize..2_000).prop_map(Step::Write),
        (1usize..9).prop_map(Step::Read),
        (0usize..9).prop_map(Step::Cut),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_read_over_all_connections_is_what_was_written(steps in steps()) {
        let streams = Streams::default();
        let (other, _unread) = streams.open();
        let (writer, first) = streams.open();
        let (mut open, mut written, mut got) = (first, Vec::new(), Vec::new());
        for step in steps.into_iter().chain([Step::Cut(3)]) {
            match step {
                Step::Write(size) => {
                    let message = format!("{}{}", written.len(), "x".repeat(size));
                    write(&streams, &writer, &message);
                    write(&streams, &other, "another's");
                    written.push(message);
                }
                Step::Read(count) => {
                    for _ in 0..count {
                        if let Some(Some(event)) = open.next().now_or_never() {
                            got.push(parsed(&event.unwrap()));
                        }
                    }
                }
                Step::Cut(lost) => {
                    got.truncate(got.len().saturating_sub(lost));
                    let last = got.last().map_or(at(2, 0), |(id, _)| *id);
                    let old = std::mem::replace(&mut open, reader(streams.resume(last)));
                    prop_assert!(matches!(old.next().now_or_never(), Some(None)), "it ended");
                }
            }
        }
        drop(writer);
        let (rest, over) = read(&open);
        got.extend(rest);
        prop_assert!(over);
        let ids: Vec<EventId> = got.iter().map(|(id, _)| *id).collect();
        let wanted: Vec<EventId> = (1..=written.len() as u64).map(|n| at(2, n)).collect();
        prop_assert_eq!(ids, wanted);
        let texts: Vec<String> = got.into_iter().map(|(_, text)| text).collect();
        prop_assert_eq!(texts, written);
    }

    #[test]
    fn an_id_reads_back_and_has_one_form(stream in any::<u64>(), position in any::<u64>(), text in "[0-9+-]{1,5}") {
        let id = at(stream, position);
        prop_assert_eq!(EventId::parse(&id.to_string()), Some(id));
        if let Some(id) = EventId::parse(&text) {
            prop_assert_eq!(id.to_string(), text);
        }
    }
}

#[test]
fn nobody_resumes_what_never_was_or_is_too_old() {
    let streams = Streams::default();
    let (writer, first) = streams.open();
    drop(first);
    assert!(matches!(streams.resume(at(1, 1)), Resumption::Gone), "not written yet");
    assert!(matches!(streams.resume(at(2, 0)), Resumption::Gone), "no such stream");
    for n in 0..=MAX_EVENTS {
        write(&streams, &writer, &n.to_string());
    }
    assert!(matches!(streams.resume(at(1, 0)), Resumption::Gone), "the first is gone");
    let (events, over) = read(&reader(streams.resume(at(1, 1))));
    assert_eq!((events.len(), over), (MAX_EVENTS, false));
    drop(writer);
    let last = MAX_EVENTS as u64 + 1;
    assert!(matches!(streams.resume(at(1, last)), Resumption::Over));
    assert_eq!(read(&reader(streams.resume(at(1, last - 1)))).0.len(), 1);
}

#[test]
fn a_large_event_is_sent_and_not_kept() {
    let streams = Streams::default();
    let (writer, first) = streams.open();
    let large = "x".repeat(MAX_BYTES);
    write(&streams, &writer, "1");
    write(&streams, &writer, &large);
    assert_eq!(read(&first).0.len(), 2);
    assert_eq!(writer.0.held(), 0);
    assert!(matches!(streams.resume(at(1, 1)), Resumption::Gone));
    write(&streams, &writer, "3");
    assert_eq!(read(&reader(streams.resume(at(1, 2)))).0, [(at(1, 3), "3".to_owned())]);
    write(&streams, &writer, &large);
    assert_eq!(writer.0.held(), 0, "nobody reads");
}

#[tokio::test]
async fn a_client_that_reads_is_waited_for_and_one_that_does_not_loses_its_stream() {
    let streams = Streams::default();
    let (writer, first) = streams.open();
    for n in 0..MAX_UNREAD {
        write(&streams, &writer, &n.to_string());
    }
    let waits = streams.append(&writer, b"x");
    let mut waits = std::pin::pin!(waits);
    assert!(waits.as_mut().now_or_never().is_none(), "it is full");
    assert!(first.next().now_or_never().is_some());
    assert!(waits.now_or_never().is_some(), "something was read");
    // It takes nothing more: that is waited for once, and then nothing holds up the writer.
    streams.append(&writer, b"x").await;
    for _ in 0..MAX_EVENTS {
        write(&streams, &writer, "x");
    }
    assert!(first.next().now_or_never().unwrap().unwrap().is_err());
    assert!(writer.0.held() < MAX_BYTES);
    // A client that comes back a little late goes on.
    let last = streams.resume(at(1, MAX_EVENTS as u64));
    assert!(!read(&reader(last)).0.is_empty());
}

#[test]
fn a_session_keeps_few_streams_and_first_those_that_somebody_may_come_back_for() {
    let streams = Streams::default();
    let (lost, _) = streams.open();
    write(&streams, &lost, "x");
    let (writer, had) = streams.open();
    write(&streams, &writer, "x");
    assert_eq!(read(&had).0.len(), 1);
    drop((writer, had));
    let open: Vec<_> = (2..=MAX_STREAMS).map(|_| streams.open()).collect();
    assert_eq!(streams.len(), MAX_STREAMS);
    assert!(matches!(streams.resume(at(2, 0)), Resumption::Gone), "all of it was read");
    assert!(matches!(streams.resume(at(1, 0)), Resumption::From(_)));
    // Together they hold no more than a session may, whoever reads.
    let half = "x".repeat(MAX_BYTES / 2);
    for (writer, reader) in &open {
        write(&streams, writer, &half);
        assert_eq!(read(reader).0.len(), 1);
    }
    let held: usize = open.iter().map(|(writer, _)| writer.0.held()).sum();
    assert!(held <= MAX_SESSION_BYTES && held > MAX_SESSION_BYTES / 2, "{held}");
    assert!(matches!(streams.resume(at(1, 0)), Resumption::From(_)));
}

#[test]
fn a_stream_that_ended_is_kept_for_a_while() {
    let streams = Streams::default();
    let (writer, first) = streams.open();
    write(&streams, &writer, "x");
    drop(first);
    streams.sweep(1_000_000);
    drop(writer);
    streams.sweep(2_000_000);
    streams.sweep(2_000_000 + KEPT_MS - 1);
    assert!(matches!(streams.resume(at(1, 0)), Resumption::From(_)));
    streams.sweep(2_000_000 + KEPT_MS);
    assert!(streams.is_empty());
}

#[test]
fn a_client_is_let_go_while_the_server_rests_and_reads_on_when_it_is_back() {
    let streams = Streams::default();
    let (writer, first) = streams.open();
    write(&streams, &writer, "1");
    writer.rest(Duration::from_millis(100));
    let (events, over) = read(&first);
    assert_eq!(events, [(at(1, 1), "1".to_owned()), (at(1, 1), String::new())]);
    assert!(over, "the connection ends, and the answer does not");
    write(&streams, &writer, "2");
    let second = reader(streams.resume(at(1, 1)));
    assert_eq!(read(&second), (vec![(at(1, 2), "2".to_owned())], false));
    drop(writer);
    assert_eq!(read(&second), (vec![], true));
}

#[test]
fn the_own_stream_sends_again_what_a_lost_connection_was_sent() {
    let (outbox, streams) = (Arc::new(SessionOutbox::default()), Streams::default());
    let offer = |text: &'static str| assert!(outbox.offer(Bytes::from_static(text.as_bytes())));
    let own = |waiting| match waiting {
        Waiting::Own(text) => Some(text),
        Waiting::Server(message) => panic!("{message:?}"),
    };
    offer("1");
    offer("2");
    let mut first = streams.own.read(&outbox, None).unwrap();
    assert_eq!(first.id(), at(0, 0));
    assert_eq!(parsed(&first.take(own).unwrap()), (at(0, 1), "1".to_owned()));
    assert_eq!(parsed(&first.take(own).unwrap()), (at(0, 2), "2".to_owned()));
    assert!(first.take(own).is_none() && first.ready().now_or_never().is_none());
    offer("3");
    let mut second = streams.own.read(&outbox, Some(1)).unwrap();
    assert_eq!(first.ready().now_or_never(), Some(false));
    assert!(first.take(own).is_none(), "another reads on");
    assert_eq!(parsed(&second.take(own).unwrap()), (at(0, 2), "2".to_owned()));
    assert_eq!(parsed(&second.take(own).unwrap()), (at(0, 3), "3".to_owned()));
    assert_eq!((second.id(), second.missed), (at(0, 3), 0));
    // A new stream begins with what was never sent; an id that was never given out ends nobody's.
    assert!(streams.own.read(&outbox, Some(4)).is_none());
    assert!(second.ready().now_or_never().is_none());
    let mut third = streams.own.read(&outbox, None).unwrap();
    offer("4");
    assert_eq!(parsed(&third.take(own).unwrap()), (at(0, 4), "4".to_owned()));
    for _ in 0..=MAX_EVENTS {
        offer("x");
        assert!(third.take(own).is_some());
    }
    assert_eq!(streams.own.read(&outbox, Some(2)).unwrap().missed, 3);
}
