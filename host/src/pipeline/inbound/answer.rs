//! What a server says before its response, and what it asks for in it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;

use super::message::{Toward, is_judged, pass};
use crate::fault::{Code, Fault};
use crate::pipeline::answer::json_string;
use crate::pipeline::connector::Connector;
use crate::pipeline::port::{Answer, Ask, Body, Incoming, Json, Notification};
use crate::pipeline::translate::input::{Required, Unreadable, may_ask};
use crate::protocol::{Message, Span, splice};
use crate::telemetry::audit::{self, Said};

/// An answer of the server `upstream`, as the policies leave it. What streams because it is large asks for nothing, and
/// passes.
pub async fn answer(
    connector: &Arc<Connector>,
    toward: Toward,
    upstream: &Arc<str>,
    answer: Answer,
) -> Result<Answer, Fault> {
    if !is_judged(connector) {
        return Ok(answer);
    }
    match answer {
        Answer::Json(Json { body: Body::Whole(text), refusal }) => {
            let text = questions(connector, &toward, upstream, text).await?;
            Ok(Answer::Json(Json { body: Body::Whole(text), refusal }))
        }
        Answer::Json(streamed) => Ok(Answer::Json(streamed)),
        Answer::Messages(messages) => {
            let judges = Arc::new((connector.clone(), toward, upstream.clone()));
            Ok(Answer::messages(messages.filter_map(move |message| {
                let judges = judges.clone();
                async move {
                    let (connector, toward, upstream) = &*judges;
                    match message {
                        Ok(Incoming::Response(text)) => {
                            let text = questions(connector, toward, upstream, text).await;
                            Some(text.map(Incoming::Response))
                        }
                        Ok(message) => incoming(connector, toward, message).await.map(Ok),
                        Err(fault) => Some(Err(fault)),
                    }
                }
            })))
        }
    }
}

/// A request or notification of a server, as the policies leave it. One that they refuse goes no further: the server gets
/// an error for its request.
pub async fn incoming(
    connector: &Arc<Connector>,
    toward: &Toward,
    message: Incoming,
) -> Option<Incoming> {
    if !is_judged(connector) {
        return Some(message);
    }
    match message {
        Incoming::Response(_) | Incoming::Break(_) => Some(message),
        Incoming::Notification(Notification { upstream, text }) => {
            let message = Message::parse(text).ok()?;
            let passed = pass(connector, toward, &upstream, message)
                .await
                .map_err(|fault| refused(toward, &upstream, &fault))
                .ok()?;
            let text = questions(connector, toward, &upstream, passed.text().clone())
                .await
                .map_err(|fault| refused(toward, &upstream, &fault))
                .ok()?;
            Some(Incoming::Notification(Notification { upstream, text }))
        }
        Incoming::Ask(Ask { upstream, message, reply }) => {
            match pass(connector, toward, &upstream, message).await {
                Ok(message) => Some(Incoming::Ask(Ask { upstream, message, reply })),
                Err(fault) => {
                    reply.refuse(&refused(toward, &upstream, &fault));
                    None
                }
            }
        }
    }
}

/// A response or notification, with each request in it that asks for input as the policies leave it.
async fn questions(
    connector: &Arc<Connector>,
    toward: &Toward,
    upstream: &Arc<str>,
    text: Bytes,
) -> Result<Bytes, Fault> {
    if !may_ask(&text) {
        return Ok(text);
    }
    // What cannot be read cannot be judged.
    let message = Message::parse(text.clone()).map_err(|error| broken(upstream).because(error))?;
    let required = match Required::any(&message) {
        Ok(Some(required)) => required,
        Ok(None) => return Ok(text),
        Err(Unreadable) => return Err(broken(upstream)),
    };
    let mut edits: Vec<(Span, Message)> = Vec::new();
    for question in &required.questions {
        let request = Message::parse(required.request(question, 0));
        let request = request.map_err(|error| broken(upstream).because(error))?;
        let before = request.params().map(str::to_owned);
        let passed = pass(connector, toward, upstream, request).await?;
        if passed.params() != before.as_deref() {
            // A question without params has no place for any.
            if question.params.is_empty() {
                return Err(broken(upstream));
            }
            edits.push((question.params, passed));
        }
    }
    let edits: Vec<(Span, &[u8])> = edits
        .iter()
        .map(|(span, message)| (*span, message.params().unwrap_or("{}").as_bytes()))
        .collect();
    Ok(splice(&text, &edits))
}

fn broken(upstream: &str) -> Fault {
    let text = format!("The server {upstream:?} asks for input in a way that cannot be read.");
    Fault::new(Code::UpstreamBroken, text)
}

/// JSON text of the error that a server gets, which leaves a line in the log.
fn refused(toward: &Toward, upstream: &str, fault: &Fault) -> String {
    let cause = fault.cause().map(ToString::to_string);
    audit::event(
        "inbound",
        &[
            ("request_id", Said::Text(&toward.request_id.to_string())),
            ("caller", Said::Text(&toward.caller.display)),
            ("session", Said::Text(toward.session.as_deref().unwrap_or_default())),
            ("upstream", Said::Text(upstream)),
            ("result", Said::Text("refused")),
            ("decided_by", Said::Text(fault.decider().unwrap_or_default())),
            ("reason", Said::Text(cause.as_deref().unwrap_or_else(|| fault.public()))),
        ],
    );
    tracing::debug!(error = ?fault, "a message of a server was refused");
    let code = fault.rpc_code().unwrap_or(-32_603);
    format!(r#"{{"code":{code},"message":{}}}"#, json_string(fault.public()))
}
