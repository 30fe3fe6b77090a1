//! JSON-RPC batches: part of revision 2025-03-26, and of no other.

use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::future::join_all;
use http::{HeaderMap, StatusCode};

use super::reply::{self, Asked, Reply};
use super::site::Site;
use super::visitor::Visitor;
use super::{legacy, post};
use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;
use crate::pipeline::collect;
use crate::protocol::{Era, Kind, Message, Method, Revision, scan};
use crate::session::Session;

/// Messages of one batch.
const MAX_MESSAGES: usize = 100;

/// Bytes of one answer within a batch: an array has to be held until its last item is there.
const MAX_ANSWER: usize = 1024 * 1024;

/// Answers a batch with an array of the responses, or with 202 where nothing asks for one.
pub(super) async fn serve(
    site: &Arc<Site>,
    visitor: &Visitor<'_>,
    head: HeaderMap,
    text: Bytes,
) -> Reply {
    let request_id = RequestId::next();
    let checked = legacy::session(site, visitor, &head).and_then(|session| {
        let messages = split(&session, &text)?;
        Ok((session, messages))
    });
    let (session, messages) = match checked {
        Ok(checked) => checked,
        Err(fault) => return site.refuse(&fault, Asked::unknown(request_id)),
    };
    let asking = (visitor, &session);
    let answers = messages.into_iter().map(|message| answer(site, asking, head.clone(), message));
    let answers: Vec<Bytes> = join_all(answers).await.into_iter().flatten().collect();
    if answers.is_empty() {
        return reply::empty(false);
    }
    reply::json(StatusCode::OK, array(&answers))
}

/// The answers of a batch as one.
pub(super) fn array(answers: &[Bytes]) -> Bytes {
    let mut body = BytesMut::new();
    body.put_u8(b'[');
    for (place, answer) in answers.iter().enumerate() {
        if place > 0 {
            body.put_u8(b',');
        }
        body.extend_from_slice(answer);
    }
    body.put_u8(b']');
    body.freeze()
}

/// The messages of a batch in this session.
pub(super) fn split(session: &Session, text: &Bytes) -> Result<Vec<Message>, Fault> {
    if session.party.revision != Revision::V2025_03_26 {
        let text =
            "JSON-RPC batches are part of revision 2025-03-26 only: send one message at a time.";
        return Err(Fault::new(Code::InvalidRequest, text));
    }
    let array = std::str::from_utf8(text).unwrap_or_default();
    let spans = scan::items(array).unwrap_or_default();
    if spans.is_empty() || spans.len() > MAX_MESSAGES {
        let text = format!("A batch holds between 1 and {MAX_MESSAGES} messages.");
        return Err(Fault::new(Code::InvalidRequest, text));
    }
    spans
        .into_iter()
        .map(|span| {
            let message =
                Message::parse(text.slice(span.range())).map_err(|e| post::malformed(&e))?;
            if message.method() == Method::Initialize {
                let text = "The method initialize must not be part of a batch.";
                return Err(Fault::new(Code::InvalidRequest, text));
            }
            Ok(message)
        })
        .collect()
}

/// Takes one message of a batch; its response, where it asks for one.
pub(super) async fn answer(
    site: &Site,
    asking: (&Visitor<'_>, &Arc<Session>),
    head: HeaderMap,
    message: Message,
) -> Option<Bytes> {
    let Some(id) = message.id().cloned().filter(|_| message.kind() == Kind::Request) else {
        legacy::take(asking.0, asking.1, message).await;
        return None;
    };
    let request_id = RequestId::next();
    let method = message.method();
    let answered = match legacy::request(asking, head, message, &id, (request_id, false)).await {
        Ok(answered) => {
            collect::response(answered, MAX_ANSWER).await.map(|message| message.text().clone())
        }
        Err(fault) => Err(fault),
    };
    Some(answered.unwrap_or_else(|fault| {
        let asked = Asked { request_id, era: Era::Legacy, method, id: Some(&id) };
        site.counts.fault(&fault);
        reply::fault_body(&fault, asked)
    }))
}
