//! What a server asks inside of a message, as the client of the modern era gets it: what the operator allows and the client
//! declared, and nothing else.

use std::sync::Arc;

use bytes::Bytes;

use super::declared::declared;
use super::input::{Required, Unreadable, may_ask};
use crate::fault::{Code, Fault};
use crate::pipeline::party::Party;
use crate::pipeline::port::{Notification, Upstream};
use crate::protocol::{Message, Span, splice};

/// One question as the client gets it.
pub(super) fn prepared(
    upstream: &dyn Upstream,
    party: &Arc<Party>,
    question: Bytes,
    method: &str,
) -> Result<Message, Fault> {
    let capabilities = party.capabilities.as_deref().unwrap_or("{}");
    let prepared = upstream.prepared(party, question);
    prepared.filter(|question| declared(question, capabilities)).ok_or_else(|| {
        let text = format!(
            "The server {:?} asks for {method:?}, which the client did not declare or the operator does not allow.",
            upstream.name()
        );
        Fault::new(Code::UpstreamBroken, text)
    })
}

/// The message with each of its questions as the client gets it.
pub(super) fn all(
    upstream: &dyn Upstream,
    party: &Arc<Party>,
    required: &Required,
) -> Result<Bytes, Fault> {
    let mut edits: Vec<(Span, Message)> = Vec::new();
    for question in &required.questions {
        let message = prepared(upstream, party, required.request(question, 0), &question.method)?;
        let same = message.params().unwrap_or_default().as_bytes() == required.params(question);
        if !same {
            edits.push((question.params, message));
        }
    }
    let edits: Vec<(Span, &[u8])> = edits
        .iter()
        .map(|(span, message)| (*span, message.params().unwrap_or_default().as_bytes()))
        .collect();
    Ok(splice(required.message.text(), &edits))
}

/// A notification that may tell what a task asks for; none where the client is not asked that.
pub(in crate::pipeline) fn notification(
    upstream: &dyn Upstream,
    party: &Arc<Party>,
    mut note: Notification,
) -> Option<Notification> {
    if !may_ask(&note.text) {
        return Some(note);
    }
    let message = Message::parse(note.text.clone()).ok()?;
    let read = Required::of_task(&message);
    let allowed = match read {
        Ok(None) => return Some(note),
        Ok(Some(required)) => all(upstream, party, &required),
        Err(Unreadable) => return None,
    };
    note.text = allowed
        .map_err(
            |fault| tracing::debug!(error = ?fault, "a task asks what its client is not asked"),
        )
        .ok()?;
    Some(note)
}
