//! Answers and faults as HTTP: the only place where status codes and JSON-RPC codes are chosen.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use serde_json::{Map, Value};

use super::stream::Events;
use crate::fault::{Blame, Code, Fault};
use crate::pipeline::RequestId;
use crate::pipeline::answer::{json_string, tool_error};
use crate::pipeline::port::{Answer, Body as Payload, Chunks, Json, Messages};
use crate::protocol::{Era, Id, Method};
use crate::telemetry::audit::{self, Said};

/// An HTTP answer.
pub type Reply = Response<ReplyBody>;

/// The body of an answer.
pub enum ReplyBody {
    /// All of it at once; none once it was sent.
    Whole(Option<Bytes>),
    /// As it comes, and how long it will be where that is known.
    Stream(Chunks, Option<u64>),
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Fault;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        match self.get_mut() {
            Self::Whole(bytes) => {
                Poll::Ready(bytes.take().filter(|b| !b.is_empty()).map(|b| Ok(Frame::data(b))))
            }
            Self::Stream(chunks, _) => {
                chunks.as_mut().poll_next(cx).map(|next| next.map(|chunk| chunk.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.as_ref().is_none_or(Bytes::is_empty))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64))
            }
            Self::Stream(_, Some(length)) => SizeHint::with_exact(*length),
            Self::Stream(_, None) => SizeHint::default(),
        }
    }
}

impl std::fmt::Debug for ReplyBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(bytes) => f.debug_tuple("Whole").field(bytes).finish(),
            Self::Stream(_, length) => f.debug_tuple("Stream").field(length).finish(),
        }
    }
}

/// What a fault answers to.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Finds the request in the log.
    pub request_id: RequestId,
    /// The era of the request, as far as it is known.
    pub era: Era,
    /// Its method.
    pub method: Method,
    /// Its id; none where it could not be read.
    pub id: Option<&'a Id>,
}

impl Asked<'_> {
    /// A request of which nothing is known yet.
    pub fn unknown(request_id: RequestId) -> Self {
        Self { request_id, era: Era::Legacy, method: Method::Other, id: None }
    }
}

/// The answer of an upstream, or of plugway itself. `hand_over` says what the client gets of a server's messages.
pub fn answer(
    answered: Answer,
    keep_alive: Duration,
    asked: Asked<'_>,
    hand_over: impl FnOnce(Messages) -> Chunks,
) -> Reply {
    match answered {
        Answer::Json(Json { body, refusal }) => {
            let mut reply = match body {
                Payload::Whole(bytes) => json(StatusCode::OK, bytes),
                Payload::Stream(chunks, length) => {
                    let mut reply = Response::new(ReplyBody::Stream(chunks, length));
                    let json = HeaderValue::from_static("application/json");
                    reply.headers_mut().insert(CONTENT_TYPE, json);
                    reply
                }
            };
            if let (Era::Modern, Some(code)) = (asked.era, refusal) {
                *reply.status_mut() = refused(code);
            }
            reply
        }
        Answer::Messages(messages) => {
            events(Events::new(hand_over(messages), keep_alive, Some(asked)))
        }
    }
}

/// The status of an error of the modern era with which a server refused a request (MCP 2026-07-28, "Streamable HTTP").
fn refused(code: i64) -> StatusCode {
    match code {
        -32_601 => StatusCode::NOT_FOUND,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// A stream of server-sent events. The head goes out at once; nothing on the way may hold events back.
pub fn events(stream: Events) -> Reply {
    event_stream(Box::pin(stream))
}

/// The same, of events that are framed already.
pub fn event_stream(framed: Chunks) -> Reply {
    let mut reply = Response::new(ReplyBody::Stream(framed, None));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

/// A JSON body.
pub fn json(status: StatusCode, body: Bytes) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(Some(body)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// A notification or response was taken (202), or there is nothing more: a session ended, a stream is complete (204).
pub fn empty(ended: bool) -> Reply {
    let mut reply = Response::new(ReplyBody::Whole(None));
    *reply.status_mut() = if ended { StatusCode::NO_CONTENT } else { StatusCode::ACCEPTED };
    reply
}

/// JSON-RPC text of a fault as the answer to what was asked; leaves a line in the log, and one in the audit where that has not
/// heard of it.
pub fn fault_body(fault: &Fault, asked: Asked<'_>) -> Bytes {
    log(fault, asked);
    if !fault.is_told() {
        tell(fault, asked);
    }
    tool_result(fault, asked).unwrap_or_else(|| fault_text(fault, asked.id, asked.request_id))
}

/// A fault as an answer.
pub fn fault(fault: &Fault, asked: Asked<'_>) -> Reply {
    let mut reply = json(http_status(fault, asked), fault_body(fault, asked));
    if let Some(wait) = fault.wait() {
        let seconds = wait.as_secs().max(1);
        reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if let Some(Ok(challenge)) = fault.challenge().map(HeaderValue::from_str) {
        reply.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    if fault.code() == Code::MethodNotAllowed {
        reply.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
    }
    reply
}

/// A tool call that a server or a policy refused is a result that the agent reads (`isError`), not an error of the
/// protocol, which many clients do not show to the model.
fn tool_result(fault: &Fault, asked: Asked<'_>) -> Option<Bytes> {
    let own = [
        Code::Refused,
        Code::NotLoaded,
        Code::BadArguments,
        Code::NotConfirmed,
        Code::ConfirmationTimeout,
        Code::CannotConfirm,
    ];
    let readable = fault.blame() == Blame::Upstream || own.contains(&fault.code());
    if asked.method != Method::ToolsCall || !readable || fault.rpc_code().is_some() {
        return None;
    }
    let id = asked.id?;
    let result = tool_error(fault.public(), asked.era);
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into())
}

/// JSON-RPC text of a fault.
fn fault_text(fault: &Fault, id: Option<&Id>, request_id: RequestId) -> Bytes {
    let id = id.map_or("null", Id::as_json);
    let code = rpc_code(fault);
    let message = json_string(fault.public());
    let data = error_data(fault, request_id);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message},"data":{data}}}}}"#
    )
    .into()
}

/// What the fault carries as data, with the stable code and the request id beside it.
fn error_data(fault: &Fault, request_id: RequestId) -> Value {
    let carried = fault.data().and_then(|data| serde_json::from_str(data).ok());
    let mut data: Map<String, Value> = carried.unwrap_or_default();
    data.insert("code".to_owned(), fault.code().as_str().into());
    data.insert("requestId".to_owned(), request_id.to_string().into());
    Value::Object(data)
}

fn rpc_code(fault: &Fault) -> i32 {
    if let Some(code) = fault.rpc_code() {
        return code;
    }
    match fault.code() {
        Code::ParseError => -32700,
        Code::UnknownMethod => -32601,
        Code::InvalidParams | Code::UnknownName | Code::MissingMeta => -32602,
        Code::HeaderMismatch => -32020,
        Code::MissingCapability => -32021,
        Code::UnsupportedVersion => -32022,
        // The request is as it should be.
        Code::NotConfirmed | Code::ConfirmationTimeout | Code::CannotConfirm => -32603,
        code if code.blame() == Blame::Client => -32600,
        _ => -32603,
    }
}

/// What is wrong with the HTTP request is told by its status. What is wrong with the call it carries is told by the
/// JSON-RPC error alone (200): clients take other statuses for a broken transport.
fn http_status(fault: &Fault, asked: Asked<'_>) -> StatusCode {
    match fault.code() {
        Code::ParseError
        | Code::InvalidRequest
        | Code::SessionMissing
        | Code::StreamUnknown
        | Code::DuplicateId
        | Code::HeaderMismatch
        | Code::BadHeader
        | Code::UnsupportedVersion
        | Code::MissingMeta
        | Code::MissingCapability => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::ForbiddenOrigin | Code::Forbidden => StatusCode::FORBIDDEN,
        Code::SessionUnknown | Code::UnknownPath => StatusCode::NOT_FOUND,
        Code::UnknownMethod if asked.era == Era::Modern => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        Code::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::Overloaded | Code::ShuttingDown | Code::AuditUnavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        _ => StatusCode::OK,
    }
}

fn tell(fault: &Fault, asked: Asked<'_>) {
    if audit::is_taken() {
        audit::event(
            "refusal",
            &[
                ("request_id", Said::Text(&asked.request_id.to_string())),
                ("method", Said::Text(asked.method.as_str())),
                ("fault", Said::Text(fault.code().as_str())),
                ("reason", Said::Text(fault.public())),
            ],
        );
    }
}

fn log(fault: &Fault, asked: Asked<'_>) {
    let code = fault.code().as_str();
    let blame = fault.blame().as_str();
    let request_id = asked.request_id;
    match fault.blame() {
        Blame::Client => {
            tracing::debug!(%request_id, code, blame, error = ?fault, "request refused");
        }
        Blame::Plugin | Blame::Upstream => {
            tracing::warn!(%request_id, code, blame, error = ?fault, "call failed");
        }
        Blame::Us => tracing::error!(%request_id, code, blame, error = ?fault, "request failed"),
    }
}

#[cfg(test)]
mod tests;
