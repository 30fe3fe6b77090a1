//! Policies after the call, in reverse order: each may replace the result or refuse it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use serde::Deserialize;

use super::call::CallContext;
use super::collect::Held;
use super::exchange::{Call, refused};
use super::local::{self, NO_DECISION};
use super::port::{Answer, Body, Incoming, Json, Messages, Outcome, Policy, Review};
use super::{answer, collect};
use crate::fault::{Code, Fault};
use crate::protocol::{Message, scan};

type Policies = Vec<Arc<dyn Policy>>;

/// Lets the reviewing policies judge an answer. Without any, the answer passes untouched.
pub(super) async fn review(
    call: &Call<'_>,
    context: Arc<CallContext>,
    answered: Answer,
) -> Result<Answer, Fault> {
    let all = call.connector.policies.iter().rev();
    let policies: Policies = all.filter(|policy| policy.hooks().reviewing).cloned().collect();
    if policies.is_empty() {
        return Ok(answered);
    }
    let bound = Bound {
        limit: call.connector.review_max,
        large_passes: policies.iter().all(|policy| policy.fails_open()),
    };
    match answered {
        Answer::Json(Json { body, refusal }) => {
            let body = match collect::hold(body, bound.limit).await? {
                Held::Whole(text) => {
                    Body::Whole(judge(&policies, &context, collect::parse(text)?).await?)
                }
                Held::Large(body) if bound.large_passes => body,
                Held::Large(_) => return Err(collect::large(bound.limit)),
            };
            Ok(Answer::Json(Json { body, refusal }))
        }
        Answer::Messages(messages) => {
            Ok(Answer::Messages(judged(messages, policies, context, bound)))
        }
    }
}

/// What is too large to be reviewed, and what becomes of it.
#[derive(Clone, Copy)]
struct Bound {
    limit: usize,
    /// Whether the operator lets pass what no policy can judge (`on_error`).
    large_passes: bool,
}

/// The messages with the response reviewed; what comes before it passes as it comes.
fn judged(
    messages: Messages,
    policies: Policies,
    context: Arc<CallContext>,
    bound: Bound,
) -> Messages {
    let policies = Arc::new(policies);
    Box::pin(messages.and_then(move |message| {
        let (policies, context) = (policies.clone(), context.clone());
        async move {
            let Incoming::Response(text) = message else { return Ok(message) };
            if text.len() <= bound.limit {
                let text = judge(&policies, &context, collect::parse(text)?).await?;
                return Ok(Incoming::Response(text));
            }
            if bound.large_passes {
                return Ok(Incoming::Response(text));
            }
            Err(collect::large(bound.limit))
        }
    }))
}

async fn judge(
    policies: &Policies,
    context: &Arc<CallContext>,
    mut message: Message,
) -> Result<Bytes, Fault> {
    message = plain(message)?;
    for policy in policies {
        let outcome = outcome(&message);
        match policy.review(context.clone(), outcome).await? {
            Review::Keep => {}
            Review::Reject(rejection) => return Err(refused(policy.name(), rejection)),
            Review::Replace(text) => message = replaced(message, &text)?,
        }
    }
    Ok(message.text().clone())
}

/// The message without members that no response has and no policy is shown.
fn plain(message: Message) -> Result<Message, Fault> {
    const MEMBERS: usize = 3;
    let is_plain = scan::members(text_of(&message)).is_some_and(|found| found.len() == MEMBERS);
    let (result, error) = (message.result(), message.error());
    match (message.id(), result, error) {
        _ if is_plain => Ok(message),
        (Some(id), Some(result), _) => collect::parse(answer::result_text(id, result.as_bytes())),
        (Some(id), None, Some(error)) => collect::parse(answer::error_text(id, error.as_bytes())),
        _ => Ok(message),
    }
}

fn text_of(message: &Message) -> &str {
    std::str::from_utf8(message.text()).unwrap_or_default()
}

/// The message with another result, or with another error where it is one: what a policy saw of it is what it replaces.
fn replaced(message: Message, text: &str) -> Result<Message, Fault> {
    let is_error = message.result().is_none();
    let checked = if is_error {
        serde_json::from_str::<AnError>(text).map(drop)
    } else {
        serde_json::from_str::<local::AnObject>(text).map(drop)
    };
    if let Err(error) = checked {
        let what = if is_error { "error is no JSON-RPC error" } else { "result is no JSON object" };
        let why = format!("the reviewed {what}: {error}");
        return Err(Fault::new(Code::PluginInvalid, NO_DECISION).because(why));
    }
    let Some(id) = message.id() else { return Ok(message) };
    let text = text.as_bytes();
    collect::parse(if is_error {
        answer::error_text(id, text)
    } else {
        answer::result_text(id, text)
    })
}

/// An error of JSON-RPC, as far as it must have a form.
#[derive(Deserialize)]
struct AnError {
    #[serde(rename = "code")]
    _code: i64,
    #[serde(rename = "message")]
    _message: String,
}

/// What came back, for a plugin that may ask about it.
pub(super) fn outcome(message: &Message) -> Outcome {
    let text = message.result().or(message.error()).unwrap_or("null");
    let is_error = message.result().is_none_or(|result| {
        let span = scan::member(result, "isError");
        span.and_then(|span| result.get(span.range())) == Some("true")
    });
    // The time of an answer is measured where it arrives; review does not need it to decide.
    Outcome { body: message.text().slice_ref(text.as_bytes()), is_error, latency_us: 0 }
}
