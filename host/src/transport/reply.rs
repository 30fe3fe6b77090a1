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

/// JSON-RPC text of a fault as the answer to what was asked; leaves a line in the log.
pub fn fault_body(fault: &Fault, asked: Asked<'_>) -> Bytes {
    log(fault, asked);
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
    let own = [Code::Refused, Code::NotLoaded, Code::BadArguments];
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
        Code::Overloaded | Code::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
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
mod tests {
    use std::time::Duration;

    use http::StatusCode;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{Asked, ReplyBody, fault, fault_body, fault_text};
    use crate::fault::{Code, Fault};
    use crate::pipeline::RequestId;
    use crate::protocol::{Era, Id, Method};

    /// Status for the legacy era, status for the modern era, JSON-RPC code.
    fn expected(code: Code) -> (u16, u16, i64) {
        match code {
            Code::ParseError => (400, 400, -32700),
            Code::InvalidRequest
            | Code::SessionMissing
            | Code::StreamUnknown
            | Code::DuplicateId
            | Code::BadHeader => (400, 400, -32600),
            Code::UnknownMethod => (200, 404, -32601),
            Code::InvalidParams | Code::UnknownName => (200, 200, -32602),
            Code::NotLoaded | Code::BadArguments => (200, 200, -32600),
            Code::MissingMeta => (400, 400, -32602),
            Code::BodyTooLarge => (413, 413, -32600),
            Code::UnsupportedMediaType => (415, 415, -32600),
            Code::NotAcceptable => (406, 406, -32600),
            Code::SessionUnknown | Code::UnknownPath => (404, 404, -32600),
            Code::HeaderMismatch => (400, 400, -32020),
            Code::MissingCapability => (400, 400, -32021),
            Code::UnsupportedVersion => (400, 400, -32022),
            Code::ForbiddenOrigin | Code::Forbidden => (403, 403, -32600),
            Code::Unauthenticated => (401, 401, -32600),
            Code::MethodNotAllowed => (405, 405, -32600),
            Code::BodyTimeout => (408, 408, -32600),
            Code::Overloaded | Code::ShuttingDown => (503, 503, -32603),
            _ => (200, 200, -32603),
        }
    }

    fn asked(era: Era, method: Method, id: Option<&Id>) -> Asked<'_> {
        Asked { request_id: RequestId::next(), era, method, id }
    }

    fn body(reply: &super::Reply) -> Value {
        match reply.body() {
            ReplyBody::Whole(Some(bytes)) => serde_json::from_slice(bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_fault_has_its_status_and_its_code_in_each_era() {
        let id = Id::number(7);
        for &code in Code::ALL {
            let (legacy, modern, rpc) = expected(code);
            for (era, status) in [(Era::Legacy, legacy), (Era::Modern, modern)] {
                let reply = fault(&Fault::new(code, "Text."), asked(era, Method::Ping, Some(&id)));
                assert_eq!(reply.status().as_u16(), status, "{code:?} {era:?}");
                let body = body(&reply);
                assert_eq!(body["error"]["code"], rpc, "{code:?}");
                assert_eq!(body["error"]["data"]["code"], code.as_str());
                assert_eq!(body["id"], 7);
            }
        }
    }

    #[test]
    fn what_stopped_a_tool_is_a_result_that_the_agent_reads() {
        let id = Id::number(7);
        for &code in Code::ALL {
            let own = [Code::Refused, Code::NotLoaded, Code::BadArguments];
            let readable = code.as_str().starts_with("upstream-") || own.contains(&code);
            let text = fault_body(
                &Fault::new(code, "Text."),
                asked(Era::Legacy, Method::ToolsCall, Some(&id)),
            );
            let body: Value = serde_json::from_slice(&text).unwrap();
            assert_eq!(body["result"]["isError"].as_bool(), readable.then_some(true), "{code:?}");
        }
        let chosen = Fault::new(Code::Refused, "Text.").with_rpc_code(-1);
        let text = fault_body(&chosen, asked(Era::Legacy, Method::ToolsCall, Some(&id)));
        assert_eq!(serde_json::from_slice::<Value>(&text).unwrap()["error"]["code"], -1);
    }

    #[test]
    fn waits_and_allowed_methods_stand_in_headers() {
        let late = Fault::new(Code::Overloaded, "Later.").retry_after(Duration::from_millis(10));
        let reply = fault(&late, Asked::unknown(RequestId::next()));
        assert_eq!(reply.headers()["retry-after"], "1");
        assert_eq!(body(&reply)["id"], Value::Null);
        let reply =
            fault(&Fault::new(Code::MethodNotAllowed, "No."), Asked::unknown(RequestId::next()));
        assert_eq!(reply.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(reply.headers()["allow"], "GET, POST, DELETE");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_text_of_a_fault_is_json_with_the_id(
            text in any::<String>(),
            id in prop_oneof![any::<String>().prop_map(Value::from), any::<i64>().prop_map(Value::from)],
            data in prop::option::of(prop::sample::select(vec![r#"{"a":[1]}"#, "{}"])),
            place in 0..Code::ALL.len(),
        ) {
            let mut fault = Fault::new(Code::ALL[place], text.clone());
            if let Some(data) = data {
                fault = fault.with_data(data);
            }
            let request_id = RequestId::next();
            let parsed = Id::parse(&id.to_string()).unwrap();
            let body: Value = serde_json::from_slice(&fault_text(&fault, Some(&parsed), request_id)).unwrap();
            prop_assert_eq!(&body["id"], &id);
            prop_assert_eq!(&body["jsonrpc"], "2.0");
            prop_assert_eq!(&body["error"]["message"], &text);
            prop_assert_eq!(&body["error"]["data"]["requestId"], &request_id.to_string());
            if data == Some(r#"{"a":[1]}"#) {
                prop_assert_eq!(&body["error"]["data"]["a"][0], 1);
            }
        }
    }
}
