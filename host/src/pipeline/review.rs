//! Policies after the call, in reverse order: each may replace the result or refuse it.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream;

use super::call::CallContext;
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
    let limit = call.connector.review_max;
    match answered.form {
        Form::Json => {
            let large = match &answered.body {
                Body::Whole(bytes) => bytes.len() > limit,
                Body::Stream(_, length) => length.is_some_and(|length| length > limit as u64),
            };
            if large && policies.iter().all(|policy| policy.fails_open()) {
                return Ok(answered);
            }
            let message = collect::parse(collect::whole(answered.body, limit).await?)?;
            let reviewed = judge(&policies, &context, message).await?;
            Ok(Answer { form: Form::Json, body: Body::Whole(reviewed) })
        }
        Form::Events => {
            Ok(Answer { form: Form::Events, body: events(answered.body, policies, context, limit) })
        }
    }
}

/// The stream with its response reviewed; what comes before the response passes as it comes.
fn events(body: Body, policies: Policies, context: Arc<CallContext>, limit: usize) -> Body {
    let chunks = match body {
        Body::Whole(bytes) => Box::pin(stream::iter([Ok(bytes)])) as Chunks,
        Body::Stream(chunks, _) => chunks,
    };
    let reader = sse::Reader::new(limit);
    let start = (chunks, reader, policies, context);
    let reviewed = stream::try_unfold(start, |(mut chunks, mut reader, policies, context)| async {
        loop {
            let next = reader.next_event().map_err(|error| {
                Fault::new(
                    Code::UpstreamTooLarge,
                    "An event of the answer is too large to be reviewed.",
                )
                .because(error)
            })?;
            if let Some(event) = next {
                if !event.is_message() {
                    continue;
                }
                let message = collect::parse(event.data)?;
                let text = if message.kind() == Kind::Response {
                    judge(&policies, &context, message).await?
                } else {
                    message.text().clone()
                };
                return Ok(Some((sse::encode(&text), (chunks, reader, policies, context))));
            }
            match chunks.next().await {
                None => return Ok(None),
                Some(chunk) => reader.push(&chunk?),
            }
        }
    });
    Body::Stream(Box::pin(reviewed), None)
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
