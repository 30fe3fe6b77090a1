//! What servers send, as a client gets it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, future, stream};
use http::HeaderValue;

use super::site::Site;
use crate::pipeline::port::{Chunks, Incoming, Messages};
use crate::pipeline::{Connector, inbound};
use crate::session::{Session, Waiting};

/// The messages of an answer in a session: each text is one JSON-RPC message.
pub(super) fn in_session(session: Arc<Session>, messages: Messages) -> Chunks {
    Box::pin(messages.filter_map(move |message| {
        future::ready(message.map(|message| of_session(&session, message)).transpose())
    }))
}

/// One message that waited for the client of a session.
pub(super) fn waiting(session: &Session, waiting: Waiting) -> Option<Bytes> {
    match waiting {
        Waiting::Own(text) => Some(text),
        Waiting::Server(message) => of_session(session, message),
    }
}

/// The same, as the policies of the connector leave it.
pub(super) async fn judged(
    connector: &Arc<Connector>,
    session: &Session,
    waiting: Waiting,
) -> Option<Bytes> {
    match waiting {
        Waiting::Own(text) => Some(text),
        Waiting::Server(message) => {
            let message = inbound::incoming(connector, &session.toward(), message).await?;
            of_session(session, message)
        }
    }
}

/// One message of a server for the client of a session; none where it concerns nothing that the client knows of.
pub(super) fn of_session(session: &Session, message: Incoming) -> Option<Bytes> {
    match message {
        Incoming::Response(text) => Some(text),
        Incoming::Notification(note) => session.asks.notification(note),
        Incoming::Ask(ask) => Some(session.asks.enter(ask)),
        Incoming::Break(_) => None,
    }
}

/// The messages of an answer to a client of the modern era, of whom nothing is asked: a server that does so all the same
/// is refused.
pub(super) fn stateless(messages: Messages) -> Chunks {
    Box::pin(messages.filter_map(|message| {
        future::ready(match message {
            Ok(Incoming::Response(text)) => Some(Ok(text)),
            Ok(Incoming::Notification(note)) => Some(Ok(note.text)),
            Ok(Incoming::Ask(_) | Incoming::Break(_)) => None,
            Err(fault) => Some(Err(fault)),
        })
    }))
}

/// The texts of a stream that stays open, as long as who opened it may: a token may have ended since. Whether it is still
/// listed is asked anew with each configuration: streams end then.
pub(super) fn while_admitted(
    site: Arc<Site>,
    credential: Option<HeaderValue>,
    texts: Chunks,
) -> Chunks {
    Box::pin(stream::unfold((site, credential, texts), |(site, credential, mut texts)| async {
        let text = texts.next().await?;
        if let Some(auth) = &site.auth {
            auth.authenticate(credential.as_ref()).await.ok()?;
        }
        Some((text, (site, credential, texts)))
    }))
}
