//! The forms of an answer.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub(super) type Reply = Response<BoxBody<Bytes, Infallible>>;

/// What stands at a place of a message; null where nothing does.
pub(super) fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

pub(super) fn response(message: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": at(message, "/id"), "result": result}).to_string()
}

pub(super) fn result(message: &Value, result: &Value) -> Reply {
    whole(StatusCode::OK, response(message, result))
}

pub(super) fn error(status: StatusCode, message: &Value, code: i64, text: &str) -> Reply {
    let error = json!({"code": code, "message": text});
    whole(status, json!({"jsonrpc": "2.0", "id": at(message, "/id"), "error": error}).to_string())
}

/// A JSON body with its length.
pub(super) fn whole(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()).boxed());
    *reply.status_mut() = status;
    typed(reply, "application/json")
}

/// A stream of events: one for each message that comes.
pub(super) fn events(messages: mpsc::Receiver<String>) -> Reply {
    let event = |message| format!("event: message\ndata: {message}\n\n");
    typed(pieces(messages, event), "text/event-stream")
}

/// A body that comes piece by piece.
pub(super) fn pieces(pieces: mpsc::Receiver<String>, write: fn(String) -> String) -> Reply {
    let frames = futures_util::stream::unfold(pieces, move |mut pieces| async move {
        let piece = Bytes::from(write(pieces.recv().await?));
        Some((Ok::<_, Infallible>(Frame::data(piece)), pieces))
    });
    Response::new(BodyExt::boxed(StreamBody::new(frames)))
}

pub(super) fn typed(mut reply: Reply, kind: &'static str) -> Reply {
    reply.headers_mut().insert("content-type", http::HeaderValue::from_static(kind));
    reply
}
