//! Policies after the call, in reverse order: each may replace the result or refuse it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;

use super::call::CallContext;
use super::collect::Held;
use super::exchange::{Call, refused};
use super::local::{self, NO_DECISION};
use super::port::{Answer, Body, Chunks, Form, Outcome, Policy, Review};
use super::{answer, collect};
use crate::fault::{Code, Fault};
use crate::protocol::{Kind, Message, sse};

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
    let body = match answered.form {
        Form::Json => match collect::hold(answered.body, bound.limit).await? {
            Held::Whole(text) => {
                Body::Whole(judge(&policies, &context, collect::parse(text)?).await?)
            }
            Held::Large(body) if bound.large_passes => body,
            Held::Large(_) => return Err(collect::large(bound.limit)),
        },
        Form::Events => events(answered.body, policies, context, bound),
    };
    Ok(Answer { form: answered.form, body })
}

/// What is too large to be reviewed, and what becomes of it.
#[derive(Clone, Copy)]
struct Bound {
    limit: usize,
    /// Whether the operator lets pass what no policy can judge (`on_error`).
    large_passes: bool,
}

/// The stream with its response reviewed; what comes before the response passes as it comes.
fn events(body: Body, policies: Policies, context: Arc<CallContext>, bound: Bound) -> Body {
    let chunks = match body {
        Body::Whole(bytes) => Box::pin(stream::iter([Ok(bytes)])) as Chunks,
        Body::Stream(chunks, _) => chunks,
    };
    // What passes unseen was bounded where it came from.
    let reader = sse::Reader::new(if bound.large_passes { usize::MAX } else { bound.limit });
    let start = (chunks, reader, policies, context);
    let review = move |(mut chunks, mut reader, policies, context)| async move {
        loop {
            let next = sse::Reader::next_event(&mut reader);
            let next = next.map_err(|error| collect::large(bound.limit).because(error))?;
            if let Some(event) = next {
                if !event.is_message() {
                    continue;
                }
                let text = event_text(event.data, &policies, &context, bound.limit).await?;
                return Ok(Some((sse::encode(&text), (chunks, reader, policies, context))));
            }
            match Chunks::next(&mut chunks).await {
                None => return Ok(None),
                Some(chunk) => reader.push(&chunk?),
            }
        }
    };
    let reviewed = stream::try_unfold(start, review);
    Body::Stream(Box::pin(reviewed), None)
}

/// What an event says after the review: only a response is judged.
async fn event_text(
    data: Bytes,
    policies: &Policies,
    context: &Arc<CallContext>,
    limit: usize,
) -> Result<Bytes, Fault> {
    if data.len() > limit {
        return Ok(data);
    }
    let message = collect::parse(data)?;
    match message.kind() {
        Kind::Response => judge(policies, context, message).await,
        _ => Ok(message.text().clone()),
    }
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
                let Body::Whole(text) = answer::result(id, result.as_bytes()).body else {
                    continue;
                };
                message = collect::parse(text)?;
            }
        }
    }
    Ok(message.text().clone())
}

fn outcome(message: &Message) -> Outcome {
    let text = message.result().or(message.error()).unwrap_or("null");
    let is_error = message.result().is_none_or(|result| {
        let span = crate::protocol::scan::member(result, "isError");
        span.and_then(|span| result.get(span.range())) == Some("true")
    });
    // The time of an answer is measured where it arrives; review does not need it to decide.
    Outcome { body: message.text().slice_ref(text.as_bytes()), is_error, latency_us: 0 }
}
