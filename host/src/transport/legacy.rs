//! Messages of the legacy era: `initialize` opens a session, everything else is part of one.

use std::future::ready;
use std::sync::Arc;

use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderValue};

use super::reply::{self, Asked, Reply};
use super::site::Site;
use super::stream::counted;
use super::visitor::Visitor;
use super::{form, handover, headers, post, resume};
use crate::fault::{Code, Fault};
use crate::pipeline::port::{Answer, Incoming, Messages};
use crate::pipeline::{Request, RequestId, Shows, Viewer, answer, dispatch, handshake};
use crate::protocol::{Era, Field, Id, Kind, Message, Method, Revision};
use crate::session::{Opener, Session};

/// Answers one message.
pub(super) async fn serve(
    site: &Arc<Site>,
    visitor: &Visitor<'_>,
    head: HeaderMap,
    message: Message,
    request_id: RequestId,
) -> Result<Reply, Fault> {
    if message.method() == Method::Initialize && message.kind() == Kind::Request {
        return initialize(site, visitor, &message, request_id).await;
    }
    let session = session(site, visitor, &head)?;
    let Some(id) = message.id().cloned().filter(|_| message.kind() == Kind::Request) else {
        take(visitor, &session, message).await;
        return Ok(reply::empty(false));
    };
    let asked = Asked { request_id, era: Era::Legacy, method: message.method(), id: Some(&id) };
    let events = form::prefers_events(&head);
    let answered = request((visitor, &session), head, message, &id, (request_id, true)).await?;
    Ok(match counted(answered, &site.counts) {
        Answer::Messages(messages) => {
            let messages = wanted(&session, &id, messages);
            resume::answer(site, &session, messages, asked)
        }
        json @ Answer::Json(_) => {
            // All of it is sent at once: there is nothing that a client could come back for.
            let answered = form::of(json, events);
            reply::answer(answered, site.bounds.keep_alive, asked, handover::stateless)
        }
    })
}

/// The messages of an answer. They end when the client gives its request up: it gets no response, be it late or plugway's own
/// about a server that sends none, and the request is in flight no more.
fn wanted(session: &Session, id: &Id, messages: Messages) -> Messages {
    let Some(flight) = session.flights.find(id) else { return messages };
    let until = flight.clone();
    let is_wanted = move |item: &Result<Incoming, Fault>| {
        let is_last = matches!(item, Ok(Incoming::Response(_)) | Err(_));
        ready(!(is_last && flight.is_cancelled()))
    };
    let given_up = async move { until.cancelled().await };
    Box::pin(messages.take_while(is_wanted).take_until(given_up))
}

/// The session of a request.
pub(super) fn session(
    site: &Site,
    visitor: &Visitor<'_>,
    head: &HeaderMap,
) -> Result<Arc<Session>, Fault> {
    let Some(id) = headers::get(head, &headers::SESSION_ID)? else {
        let text = "The header Mcp-Session-Id is missing: initialize first, or send a request of revision 2026-07-28.";
        return Err(Fault::new(Code::SessionMissing, text));
    };
    post::check_revision(head)?;
    site.sessions.find(&visitor.endpoint.connector.name, visitor.caller.as_deref(), id)
}

async fn initialize(
    site: &Site,
    visitor: &Visitor<'_>,
    message: &Message,
    request_id: RequestId,
) -> Result<Reply, Fault> {
    let (session, answered) = open(site, visitor, message).await?;
    let (method, id) = (Method::Initialize, message.id());
    let asked = Asked { request_id, era: Era::Legacy, method, id };
    let mut reply = reply::answer(answered, site.bounds.keep_alive, asked, handover::stateless);
    if let Ok(value) = HeaderValue::from_str(&session.id.to_string()) {
        reply.headers_mut().insert(headers::SESSION_ID, value);
    }
    Ok(reply)
}

/// Opens the session that `initialize` asks for, and answers it.
pub(super) async fn open(
    site: &Site,
    visitor: &Visitor<'_>,
    message: &Message,
) -> Result<(Arc<Session>, Answer), Fault> {
    let Some(id) = message.id() else {
        return Err(Fault::new(Code::InvalidRequest, "The method initialize needs an id."));
    };
    let Some(wanted) = message.string(Field::ProtocolVersion) else {
        let text = "The params of initialize need a string \"protocolVersion\".";
        return Err(Fault::new(Code::InvalidParams, text));
    };
    // An unknown revision, and the modern one that has no handshake, are answered with the newest that has one.
    let revision = Revision::parse(&wanted)
        .map_or(Revision::NEWEST_LEGACY, |wanted| wanted.min(Revision::NEWEST_LEGACY));
    let connector = &visitor.endpoint.connector;
    let caller = visitor.caller.clone();
    let credential = visitor.credential.as_ref();
    let opener = Opener { caller, credential: credential.filter(|_| connector.lends()) };
    let session = site.sessions.open(&connector.name, opener, revision, message)?;
    session.wants(visitor.filters.as_ref());
    let result = {
        let capabilities = session.party.capabilities.as_ref();
        let shows = Shows::Request(credential);
        let filters = visitor.filters.as_ref();
        let viewer = Viewer { caller: &session.caller, capabilities, shows, filters };
        handshake::initialize(connector, viewer, revision).await
    };
    Ok((session, answer::result(id, result.as_bytes())))
}

/// Runs one request of a session; it counts as in flight until its answer was sent. `streams` = its client hears what is said
/// before its response.
pub(super) async fn request(
    (visitor, session): (&Visitor<'_>, &Arc<Session>),
    head: HeaderMap,
    message: Message,
    id: &Id,
    (request_id, streams): (RequestId, bool),
) -> Result<Answer, Fault> {
    let guard = session.flights.begin(id)?;
    session.wants(visitor.filters.as_ref());
    let request = Request {
        request_id,
        // Another token of the same caller may allow other things than the one that opened the session.
        caller: visitor.caller.as_ref().unwrap_or(&session.caller).clone(),
        party: session.party.clone(),
        message,
        headers: Arc::new(headers::without_credentials(head)),
        session: Some(session.tag.clone()),
        passed: Vec::new(),
        credential: visitor.credential.clone(),
        filters: visitor.filters.clone(),
        flight: guard.flight.clone(),
        depth: 0,
        streams,
        confirmed: None,
        trail: None,
    };
    let answered = dispatch(&visitor.endpoint.connector, request).await?;
    Ok(answered.holding(guard))
}

/// Takes what asks for no answer: a notification, or the client's answer to a server's request.
pub(super) async fn take(visitor: &Visitor<'_>, session: &Session, message: Message) {
    if message.kind() == Kind::Response {
        if !session.asks.answer(&message) {
            tracing::debug!("a response to a request that nobody made, or that was given up");
        }
        return;
    }
    session.notify(&visitor.endpoint.connector, message).await;
}
