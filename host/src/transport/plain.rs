//! Answers that are no messages of MCP: JSON of plugway's own, and text. Beside `reply` the only place that picks status codes.

use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::reply::{Reply, ReplyBody, json as reply};
use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;

/// What was asked for, or what was done (200); where it was not done, what the answer says (422).
pub fn outcome(done: bool, body: &Value) -> Reply {
    let status = if done { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    uncached(reply(status, body.to_string().into()))
}

/// JSON that is another one for the next caller, and at the next moment.
pub fn unkept(body: String) -> Reply {
    uncached(reply(StatusCode::OK, body.into()))
}

/// A body of plain text in another media type.
pub fn text(media_type: &'static str, body: String) -> Reply {
    let mut reply = Reply::new(ReplyBody::Whole(Some(body.into())));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    reply
}

/// Health and readiness: 200 or 503.
pub fn health(good: bool, body: String) -> Reply {
    reply(if good { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, body.into())
}

/// A fault: `{"error": {"code": .., "message": .., "requestId": ..}}`. `allowed` is the method that the path takes.
pub fn fault(fault: &Fault, request_id: RequestId, allowed: &'static str) -> Reply {
    let error = json!({
        "code": fault.code().as_str(), "message": fault.public(),
        "requestId": request_id.to_string(),
    });
    let mut reply = reply(status(fault), json!({ "error": error }).to_string().into());
    if let Some(Ok(challenge)) = fault.challenge().map(HeaderValue::from_str) {
        reply.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    if fault.code() == Code::MethodNotAllowed {
        reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    }
    tracing::debug!(%request_id, code = fault.code().as_str(), error = ?fault, "request refused");
    uncached(reply)
}

fn uncached(mut reply: Reply) -> Reply {
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

fn status(fault: &Fault) -> StatusCode {
    match fault.code() {
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Forbidden | Code::ForbiddenOrigin => StatusCode::FORBIDDEN,
        Code::UnknownPath | Code::UnknownName => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::Overloaded | Code::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}
