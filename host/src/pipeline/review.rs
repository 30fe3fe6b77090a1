//! Policies after the call, in reverse order: each may replace the result or refuse it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;

use super::call::CallContext;
use super::collect::Held;
use super::exchange::{Call, refused};
use super::local::{self, NO_DECISION};
use super::port::{Answer, Body, Incoming, Json, Messages, Outcome, Policy, Review};
use super::{answer, collect};
use crate::fault::{Code, Fault};
use crate::protocol::Message;

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
    for policy in policies {
        let outcome = outcome(&message);
        match policy.review(context.clone(), outcome).await? {
            Review::Keep => {}
            Review::Reject(rejection) => return Err(refused(policy.name(), rejection)),
            Review::Replace(result) => {
                if let Err(error) = serde_json::from_str::<local::AnObject>(&result) {
                    let why = format!("the reviewed result is no JSON object: {error}");
                    return Err(Fault::new(Code::PluginInvalid, NO_DECISION).because(why));
                }
                let Some(id) = message.id() else { continue };
                message = collect::parse(answer::result_text(id, result.as_bytes()))?;
            }
        }
    }
    Ok(message.text().clone())
}

/// What came back, for a plugin that may ask about it.
pub(super) fn outcome(message: &Message) -> Outcome {
    let text = message.result().or(message.error()).unwrap_or("null");
    let is_error = message.result().is_none_or(|result| {
        let span = crate::protocol::scan::member(result, "isError");
        span.and_then(|span| result.get(span.range())) == Some("true")
    });
    // The time of an answer is measured where it arrives; review does not need it to decide.
    Outcome { body: message.text().slice_ref(text.as_bytes()), is_error, latency_us: 0 }
}
