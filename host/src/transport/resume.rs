//! Streams of legacy sessions, which survive their connection (MCP 2025-11-25, "Resumability and Redelivery").

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{StreamExt as _, stream};
use http::HeaderValue;

use super::handover;
use super::reply::{self, Asked, Reply};
use super::site::Site;
use super::stream::{Events, Question};
use crate::fault::{Code, Fault};
use crate::pipeline::port::{Incoming, Messages};
use crate::pipeline::{Connector, Level, Outbox as _, inbound};
use crate::protocol::{Revision, sse};
use crate::session::{EventId, OwnReader, Reader, Resumption, Session, Writer};

/// How long a client waits before it comes back.
const RETRY: Duration = Duration::from_secs(3);

/// An answer that is a stream. It is read to its end, whether or not the client is there.
pub(super) fn answer(
    site: &Site,
    session: &Arc<Session>,
    messages: Messages,
    asked: Asked<'_>,
) -> Reply {
    let (writer, reader) = session.streams.open();
    site.sessions.run(write(session.clone(), messages, writer, Question::of(asked)));
    calls(site, session, reader)
}

/// The rest of an answer, behind this event.
pub(super) fn resumed(site: &Site, session: &Session, id: EventId) -> Result<Reply, Fault> {
    match session.streams.resume(id) {
        Resumption::From(reader) => Ok(calls(site, session, reader)),
        Resumption::Over => Ok(reply::empty(true)),
        Resumption::Gone => Err(unknown()),
    }
}

/// No stream can be resumed from this event. Not 404, which says that the session is gone.
pub(super) fn unknown() -> Fault {
    let text =
        "No stream of this session can be resumed from this event: it is too old, or never was.";
    Fault::new(Code::StreamUnknown, text)
}

async fn write(session: Arc<Session>, mut messages: Messages, writer: Writer, question: Question) {
    while let Some(message) = messages.next().await {
        let last = match message {
            Ok(Incoming::Response(text)) => text,
            Err(fault) => question.answer(&fault),
            Ok(Incoming::Break(wait)) => {
                if may_poll(&session) {
                    writer.rest(wait);
                }
                continue;
            }
            Ok(message) => {
                if let Some(text) = handover::of_session(&session, message) {
                    session.streams.append(&writer, &text).await;
                }
                continue;
            }
        };
        // The request is no longer in flight when the client learns of its end: it may use the id again.
        drop(messages);
        return session.streams.append(&writer, &last).await;
    }
}

/// Clients of 2025-11-25 know that a stream may end before the answer, and when to come back for the rest.
fn may_poll(session: &Session) -> bool {
    session.party.revision >= Revision::V2025_11_25
}

fn calls(site: &Site, session: &Session, reader: Reader) -> Reply {
    let id = reader.id;
    let events = stream::unfold(reader, |reader| async move {
        let event = reader.next().await?;
        Some((event, reader))
    });
    begin(site, session, id, events)
}

/// The stream of what belongs to no request, behind this position. A session has one: a newer one takes over.
pub(super) fn own(
    site: &Site,
    (session, connector): (&Arc<Session>, &Connector),
    credential: Option<HeaderValue>,
    behind: Option<u64>,
) -> Result<Reply, Fault> {
    let reader = session.streams.own.read(&session.outbox, behind).ok_or_else(unknown)?;
    let (id, missed) = (reader.id(), missed(session, &reader));
    let around = (session.clone(), connector.standing(), site.auth.clone(), credential);
    let events = stream::unfold((reader, around), |(mut reader, around)| async move {
        let (session, standing, auth, credential) = &around;
        while reader.ready().await {
            // A token may have ended since the stream was opened. Whether it is still listed is asked anew with each
            // configuration: streams end then.
            if let Some(auth) = auth {
                auth.authenticate(credential.as_ref()).await.ok()?;
            }
            let connector = standing.now()?;
            if let Some(event) = next(&connector, session, &mut reader).await {
                return Some((Ok(event), (reader, around)));
            }
        }
        None
    });
    Ok(begin(site, session, id, stream::iter(missed.map(Ok)).chain(events)))
}

/// The next event. Where policies judge what servers send, a message is out of the queue meanwhile.
async fn next(
    connector: &Arc<Connector>,
    session: &Session,
    reader: &mut OwnReader,
) -> Option<Bytes> {
    if !inbound::is_judged(connector) {
        return reader.take(|waiting| handover::waiting(session, waiting));
    }
    if let Some(event) = reader.replayed() {
        return Some(event);
    }
    let text = handover::judged(connector, session, reader.waiting()?).await?;
    Some(reader.put(&text))
}

/// Says that something is lost: refused, most clients would not open this stream again.
fn missed(session: &Session, reader: &OwnReader) -> Option<Bytes> {
    if reader.missed == 0 || !session.outbox.wants(Level::Warning) {
        return None;
    }
    let count = reader.missed;
    let text = format!(
        "{count} messages to this session are lost: its stream was away for too long. Lists and resources may have changed."
    );
    Some(sse::encode(&Level::Warning.message(&text)))
}

/// A stream from this event on. Clients of 2025-11-25 are told at once where to resume it; older ones take an event
/// without data for broken.
fn begin(
    site: &Site,
    session: &Session,
    id: EventId,
    events: impl Stream<Item = Result<Bytes, Fault>> + Send + 'static,
) -> Reply {
    let first = may_poll(session).then(|| Ok(sse::priming(&id.to_string(), RETRY)));
    let events = stream::iter(first).chain(events);
    reply::events(Events::encoded(events, site.bounds.keep_alive))
}
