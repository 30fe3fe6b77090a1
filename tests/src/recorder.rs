//! An upstream that keeps every call as it came, to the byte, and answers as the call's arguments say.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

type Reply = Response<BoxBody<Bytes, Infallible>>;

/// One `tools/call` as it reached the upstream.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Call {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A running upstream with the tools `look` (answers JSON) and `look_events` (answers an event stream).
///
/// Arguments: `text` is what the answer says, `bytes` how long it is instead, `chunked` that its length is not told.
#[derive(Debug)]
pub struct Recorder {
    address: SocketAddr,
    calls: Arc<Mutex<Vec<Call>>>,
    server: JoinHandle<()>,
}

impl Recorder {
    /// Starts it on a free port.
    pub async fn start() -> Result<Self> {
        Self::start_in(false).await
    }

    /// Starts one of the modern era.
    pub async fn modern() -> Result<Self> {
        Self::start_in(true).await
    }

    async fn start_in(modern: bool) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let calls = Arc::new(Mutex::new(Vec::new()));
        let server = tokio::spawn(serve(listener, modern, calls.clone()));
        Ok(Self { address, calls, server })
    }

    /// Its endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The latest call.
    pub fn last(&self) -> Result<Call> {
        self.calls().pop().context("the upstream was not called")
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, modern: bool, calls: Arc<Mutex<Vec<Call>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let calls = calls.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, modern, calls.clone()));
            // A client that breaks its own connection is no event here.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    modern: bool,
    calls: Arc<Mutex<Vec<Call>>>,
) -> Result<Reply> {
    let (parts, body) = request.into_parts();
    if parts.method != Method::POST {
        return whole(StatusCode::METHOD_NOT_ALLOWED, "text/plain", String::new());
    }
    let body = body.collect().await?.to_bytes();
    let message: Value = serde_json::from_slice(&body)?;
    let id = message.get("id").cloned();
    let respond = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let result = match text_at(&message, "/method").unwrap_or_default() {
        "server/discover" if modern => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "ttlMs": 60_000, "cacheScope": "public",
        }),
        "initialize" if !modern => json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "recorder", "version": "0"},
        }),
        "tools/list" => {
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            let tools = json!([tool("look"), tool("look_events")]);
            let cached = json!({"resultType": "complete", "ttlMs": 60_000, "cacheScope": "public"});
            let mut result = if modern { cached } else { json!({}) };
            if let Some(result) = result.as_object_mut() {
                result.insert("tools".to_owned(), tools);
            }
            result
        }
        "tools/call" => {
            let call = Call { headers: parts.headers, body };
            calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
            return called(&message, respond);
        }
        note if note.starts_with("notifications/") => {
            return whole(StatusCode::ACCEPTED, "text/plain", String::new());
        }
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            let text = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return whole(StatusCode::OK, "application/json", text.to_string());
        }
    };
    whole(StatusCode::OK, "application/json", respond(result))
}

fn called(message: &Value, respond: impl Fn(Value) -> String) -> Result<Reply> {
    let text = match message.pointer("/params/arguments/bytes").and_then(Value::as_u64) {
        Some(count) => "x".repeat(usize::try_from(count)?),
        None => text_at(message, "/params/arguments/text").unwrap_or("seen").to_owned(),
    };
    let text = respond(json!({"content": [{"type": "text", "text": text}]}));
    if text_at(message, "/params/name").is_some_and(|name| name.ends_with("_events")) {
        return whole(StatusCode::OK, "text/event-stream", format!("data: {text}\n\n"));
    }
    if message.pointer("/params/arguments/chunked") == Some(&Value::Bool(true)) {
        let frames = futures_util::stream::iter([Ok(Frame::data(Bytes::from(text)))]);
        return reply(StatusCode::OK, "application/json", StreamBody::new(frames).boxed());
    }
    whole(StatusCode::OK, "application/json", text)
}

fn text_at<'a>(message: &'a Value, pointer: &str) -> Option<&'a str> {
    message.pointer(pointer)?.as_str()
}

fn whole(status: StatusCode, kind: &str, text: String) -> Result<Reply> {
    reply(status, kind, Full::new(Bytes::from(text)).boxed())
}

fn reply(status: StatusCode, kind: &str, body: BoxBody<Bytes, Infallible>) -> Result<Reply> {
    Ok(Response::builder().status(status).header("content-type", kind).body(body)?)
}
