//! An MCP server over HTTP, of the legacy era, that serves files beside its endpoint and gives links to them, as servers do that
//! run code: `{origin}/artifacts/{session}/{token}/{name}`.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Result;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    task::{JoinHandle, JoinSet},
};

use crate::faulty;

type Reply = Response<BoxBody<Bytes, Infallible>>;

const BODY_MAX: usize = 1 << 20;
/// What is served as `a.csv`.
pub const CSV: &str = "x,y\n1,2\n";
/// A piece of `slow.bin` and of `endless.bin`.
pub const PIECE: usize = 64 * 1024;
/// What the server wants to be shown before it gives `guarded.csv`.
pub const CREDENTIAL: &str = "Bearer of-the-server-0123456789";

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct Shelf {
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    address: SocketAddr,
    /// Whether it lists a tool that runs code.
    runs_code: bool,
    fetched: Mutex<Vec<Fetched>>,
    /// One permit lets `slow.bin` go on.
    gate: Semaphore,
}

/// A request for a file.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// Its method.
    pub method: Method,
    /// Its path and query.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
}

impl Shelf {
    /// Starts one on a free port.
    pub async fn start() -> Result<Self> {
        Self::serve(true).await
    }

    /// One that lists no tool that runs code.
    pub async fn without_code() -> Result<Self> {
        Self::serve(false).await
    }

    async fn serve(runs_code: bool) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            address,
            runs_code,
            fetched: Mutex::default(),
            gate: Semaphore::new(0),
        });
        let serving = state.clone();
        let task = tokio::spawn(async move {
            // Connections end with the server, those that are kept open too.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = serving.clone();
                let service = service_fn(move |request| {
                    let state = state.clone();
                    async move { Ok::<_, Infallible>(answer(state, request).await) }
                });
                let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                // A client that goes away is no concern of this server.
                connections.spawn(async move { drop(serving.await) });
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(Self { state, task })
    }

    /// Its endpoint.
    pub fn url(&self) -> String {
        format!("{}/mcp", self.origin())
    }

    /// What its links begin with.
    pub fn origin(&self) -> String {
        self.state.origin()
    }

    /// A link to a file, as it writes it.
    pub fn link(&self, name: &str) -> String {
        self.state.link(name)
    }

    /// The requests for files that it got.
    pub fn fetched(&self) -> Vec<Fetched> {
        self.state.fetched.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets `slow.bin` go on by one piece.
    pub fn release(&self) {
        self.state.gate.add_permits(1);
    }
}

impl Drop for Shelf {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl State {
    fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    fn link(&self, name: &str) -> String {
        format!("{}/artifacts/session-1/0a1b2c/{name}", self.origin())
    }
}

async fn answer(state: Arc<State>, request: Request<Incoming>) -> Reply {
    let path = request.uri().path().to_owned();
    if path.starts_with("/artifacts/") {
        let fetched = Fetched {
            method: request.method().clone(),
            path: request.uri().to_string(),
            headers: request.headers().clone(),
        };
        state.fetched.lock().unwrap_or_else(PoisonError::into_inner).push(fetched);
        return file(state, &path, request.headers());
    }
    if request.method() != Method::POST {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "");
    }
    let body = Limited::new(request.into_body(), BODY_MAX).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    match message.get("method").and_then(Value::as_str) {
        Some("initialize") => {
            let capabilities = json!({"tools": {}, "resources": {}});
            let result = json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": {"name": "shelf", "version": "0"},
            });
            json_answer(&message, &result)
        }
        Some("tools/list") => {
            let code = state.runs_code.then_some("execute_code");
            let tools: Vec<Value> = ["links", "large", "steps", "resource"]
                .into_iter()
                .chain(code)
                .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
                .collect();
            json_answer(&message, &json!({"tools": tools}))
        }
        Some("resources/list") => json_answer(&message, &json!({"resources": []})),
        Some("resources/templates/list") => {
            json_answer(&message, &json!({"resourceTemplates": []}))
        }
        Some("resources/read") => {
            let uri = message.pointer("/params/uri").and_then(Value::as_str).unwrap_or_default();
            let contents = json!([{"uri": uri, "text": format!("read {uri}")}]);
            json_answer(&message, &json!({"contents": contents}))
        }
        Some("tools/call") => call(&state, &message),
        _ => {
            let (status, media, _, body) = faulty::good(&message);
            plain(StatusCode::from_u16(status).unwrap_or_default(), media, body)
        }
    }
}

/// `links` gives the text of its argument `text` in every way that texts have, `large` the same behind many others and in pieces
/// of `piece` bytes, `steps` the same as progress and then as the result; `resource` gives resources that have the text as their
/// URI, in pieces behind many others where `piece` is given.
fn call(state: &State, message: &Value) -> Reply {
    let argument = |name: &str| message.pointer(&format!("/params/arguments/{name}")).cloned();
    let text = argument("text").unwrap_or_default();
    let text = text.as_str().unwrap_or_default().replace("ORIGIN", &state.origin());
    let inner = json!({"saved": text, "again": [text]}).to_string().replace('/', "\\/");
    let result = json!({
        "content": [{"type": "text", "text": text}, {"type": "text", "text": inner}],
        "structuredContent": {"result": inner, "link": text},
    });
    match message.pointer("/params/name").and_then(Value::as_str) {
        Some("resource") => {
            let filler =
                argument("piece").map(|_| "http://127.0.0.1/artifact http:// ".repeat(4_000));
            let result = json!({"content": [
                {"type": "text", "text": filler.unwrap_or_default()},
                {"type": "resource_link", "name": "one", "uri": text},
                {"type": "resource", "resource": {"text": text, "uri": text}},
            ]});
            match argument("piece").and_then(|piece| piece.as_u64()) {
                Some(piece) => {
                    let piece = usize::try_from(piece).unwrap_or(1000);
                    pieces(&response(message, &result), piece, None)
                }
                None => json_answer(message, &result),
            }
        }
        Some("large") => {
            let piece = argument("piece").and_then(|piece| piece.as_u64()).unwrap_or(1000);
            let mut result = result;
            let filler = "http://127.0.0.1/artifact http:// ".repeat(4_000);
            if let Some(content) = result.get_mut("content").and_then(Value::as_array_mut) {
                content.push(json!({"type": "text", "text": filler}));
                content.push(json!({"type": "text", "text": text}));
            }
            let body = response(message, &result);
            let length = argument("length").is_some().then_some(body.len());
            pieces(&body, usize::try_from(piece).unwrap_or(1000), length)
        }
        Some("steps") => {
            let progress = json!({"progressToken": 1, "progress": 1, "message": text});
            let note =
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress});
            let events = format!("data: {note}\n\ndata: {}\n\n", response(message, &result));
            plain(StatusCode::OK, "text/event-stream", events)
        }
        _ => json_answer(message, &result),
    }
}

fn response(message: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).to_string()
}

fn json_answer(message: &Value, result: &Value) -> Reply {
    plain(StatusCode::OK, "application/json", response(message, result))
}

/// A file by the last part of its path.
fn file(state: Arc<State>, path: &str, headers: &HeaderMap) -> Reply {
    let mut reply = match path.rsplit('/').next().unwrap_or_default() {
        "a.csv" | "my%20file%20%281%29.csv" => {
            plain(StatusCode::OK, "text/csv; charset=utf-8; x=y", CSV)
        }
        "page.html" => plain(StatusCode::OK, "text/html", "<script>alert(1)</script>"),
        "odd.bin" => plain(StatusCode::OK, "text/html, text/plain", "x"),
        "packed.csv" => with(plain(StatusCode::OK, "text/csv", "x"), "content-encoding", "gzip"),
        "guarded.csv" if headers.get("authorization").is_none_or(|sent| sent != CREDENTIAL) => {
            plain(StatusCode::UNAUTHORIZED, "text/plain", "who are you")
        }
        "guarded.csv" => plain(StatusCode::OK, "text/csv", CSV),
        "elsewhere.csv" => {
            let moved = plain(StatusCode::FOUND, "text/plain", "");
            with(moved, "location", "/artifacts/session-1/0a1b2c/a.csv")
        }
        "broken.csv" => {
            plain(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "trace of the server")
        }
        "huge.bin" => with(stream(None), "content-length", "300000000"),
        // Four pieces are announced, and three come.
        "cut.bin" => with(stream(Some(state)), "content-length", "262144"),
        "endless.bin" => stream(None),
        "slow.bin" => stream(Some(state)),
        _ => plain(StatusCode::NOT_FOUND, "application/json", r#"{"error":"artifact not found"}"#),
    };
    for (name, value) in [
        ("set-cookie", "of=the-server"),
        ("content-disposition", "inline"),
        ("x-of-the-server", "secret"),
        ("cache-control", "public, max-age=99"),
        ("access-control-allow-origin", "*"),
    ] {
        reply = with(reply, name, value);
    }
    reply
}

fn with(mut reply: Reply, name: &'static str, value: &'static str) -> Reply {
    reply.headers_mut().insert(name, http::HeaderValue::from_static(value));
    reply
}

fn plain(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()).boxed());
    *reply.status_mut() = status;
    with(reply, "content-type", media)
}

/// A body without end, or three pieces of which all but the first wait at the gate.
fn stream(gated: Option<Arc<State>>) -> Reply {
    let frames = futures_util::stream::unfold((gated, 0), |(gated, count)| async move {
        if let Some(state) = &gated {
            if count == 3 {
                return None;
            }
            if count > 0 {
                state.gate.acquire().await.ok()?.forget();
            }
        }
        let piece = Bytes::from(vec![b'x'; PIECE]);
        Some((Ok::<_, Infallible>(Frame::data(piece)), (gated, count + 1)))
    });
    let reply = Response::new(BodyExt::boxed(StreamBody::new(frames)));
    with(reply, "content-type", "application/octet-stream")
}

/// A JSON body that comes in pieces of so many bytes, with or without its length.
fn pieces(body: &str, piece: usize, length: Option<usize>) -> Reply {
    let pieces: Vec<Bytes> =
        body.as_bytes().chunks(piece.max(1)).map(Bytes::copy_from_slice).collect();
    let frames = pieces.into_iter().map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    let reply = Response::new(BodyExt::boxed(StreamBody::new(futures_util::stream::iter(frames))));
    let mut reply = with(reply, "content-type", "application/json");
    if let Some(length) = length {
        reply.headers_mut().insert("content-length", length.into());
    }
    reply
}
