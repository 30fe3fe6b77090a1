//! Answers that are no messages of MCP: JSON of plugway's own, and text. Beside `reply` the only place that picks status codes.

use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, REFERRER_POLICY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::reply::{Reply, ReplyBody, json as reply};
use crate::fault::{Blame, Code, Fault};
use crate::pipeline::RequestId;

/// What was asked for, or what was done (200); where it was not done, what the answer says (422).
pub fn outcome(done: bool, body: &Value) -> Reply {
    let status = if done { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    uncached(reply(status, body.to_string().into()))
}

/// What was made (201).
pub fn made(body: &Value) -> Reply {
    uncached(reply(StatusCode::CREATED, body.to_string().into()))
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

/// What is said of a file of a server.
#[derive(Debug)]
pub struct Download {
    /// `attachment`, and its name.
    pub disposition: HeaderValue,
    /// Its media type.
    pub media_type: HeaderValue,
    /// Its length, where the body does not say it.
    pub length: Option<u64>,
}

/// A file of a server. No browser shows it in the place of plugway, takes it for another kind of content, or runs anything in
/// it; nobody keeps it on the way.
pub fn download(about: Download, body: ReplyBody) -> Reply {
    let mut reply = uncached(Reply::new(body));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, about.media_type);
    headers.insert(CONTENT_DISPOSITION, about.disposition);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let policy = HeaderValue::from_static("default-src 'none'; sandbox");
    headers.insert(CONTENT_SECURITY_POLICY, policy);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if let Some(length) = about.length {
        headers.insert(CONTENT_LENGTH, length.into());
    }
    reply
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
        Code::NameTaken => StatusCode::CONFLICT,
        Code::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::Overloaded | Code::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        Code::UpstreamTimeout => StatusCode::GATEWAY_TIMEOUT,
        code if code.blame() == Blame::Plugin => StatusCode::INTERNAL_SERVER_ERROR,
        code if code.blame() == Blame::Upstream => StatusCode::BAD_GATEWAY,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    }
}
