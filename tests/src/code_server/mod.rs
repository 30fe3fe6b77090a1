//! A server that runs code, as those of agora-workbench look from outside: the same tools, texts and carelessness. It is of
//! the legacy era, calls itself `chem-executor` unless told otherwise, and asks nobody whose a session is. Code is not run: it says what the
//! server does.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::Result;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

mod kernels;
mod tools;

use self::kernels::Kernels;

const SESSION: &str = "mcp-session-id";
const BODY_MAX: usize = 1 << 20;

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct CodeServer {
    address: SocketAddr,
    state: Arc<Mutex<Kernels>>,
    task: JoinHandle<()>,
}

impl CodeServer {
    /// Starts one on a free port.
    pub async fn start() -> Result<Self> {
        Self::start_as("chem-executor").await
    }

    /// Starts one that calls itself this in the handshake; in its tools it is `chem`.
    pub async fn start_as(name: &'static str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state: Arc<Mutex<Kernels>> = Arc::default();
        let kernels = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kernels = Arc::clone(&kernels);
                let service =
                    service_fn(move |request| answer(Arc::clone(&kernels), name, request));
                let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                // A client that goes away is no concern of this server.
                tokio::spawn(async move { drop(serving.await) });
            }
        });
        Ok(Self { address, state, task })
    }

    /// Its endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Forgets everything, as a process that was started again.
    pub fn restart(&self) {
        *lock(&self.state) = Kernels::default();
    }

    /// Lets it send to another server, which it knows by this name.
    pub fn sends_to(&self, name: &str, other: &Self) {
        lock(&self.state).peers.insert(name.to_owned(), Arc::clone(&other.state));
    }

    /// How many sessions it has.
    pub fn sessions(&self) -> usize {
        lock(&self.state).count()
    }

    /// The ids that it was asked about since this was last asked.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.state).asked)
    }
}

impl Drop for CodeServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(state: &Mutex<Kernels>) -> MutexGuard<'_, Kernels> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

type Reply = Response<Full<Bytes>>;

fn reply(status: u16, media: &str, body: impl Into<Bytes>) -> Reply {
    let builder = Response::builder().status(status).header("content-type", media);
    builder.body(Full::new(body.into())).unwrap_or_default()
}

async fn answer(
    state: Arc<Mutex<Kernels>>,
    name: &str,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
    let session = session.unwrap_or_default().to_owned();
    if request.method() != Method::POST {
        return Ok(reply(405, "text/plain", ""));
    }
    let body = Limited::new(request.into_body(), BODY_MAX).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    Ok(post(&mut lock(&state), name, &session, &message))
}

fn post(kernels: &mut Kernels, own_name: &str, session: &str, message: &Value) -> Reply {
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    if method == "initialize" {
        let result = json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": own_name, "version": "4.2.3"},
        });
        let mut reply = reply(200, "application/json", response(message, &result).to_string());
        if let Ok(id) = kernels.connect().parse() {
            reply.headers_mut().insert(SESSION, id);
        }
        return reply;
    }
    if !kernels.is_connected(session) {
        return reply(404, "text/plain", "unknown session");
    }
    match method {
        "tools/list" => {
            let list = response(message, &json!({"tools": tools::list()}));
            reply(200, "application/json", list.to_string())
        }
        "tools/call" => {
            let params = message.get("params").cloned().unwrap_or_default();
            let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
            let arguments = params.get("arguments").cloned().unwrap_or_default();
            let result = response(message, &tools::call(kernels, session, name, &arguments));
            if name.starts_with("execute_") {
                let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
                    "params": {"level": "error", "data": "running"}});
                let events = format!("data: {log}\n\ndata: {result}\n\n");
                return reply(200, "text/event-stream", events);
            }
            reply(200, "application/json", result.to_string())
        }
        "ping" => reply(200, "application/json", response(message, &json!({})).to_string()),
        _ if message.get("id").is_none() => reply(202, "text/plain", ""),
        _ => {
            let id = message.get("id");
            let error = json!({"code": -32601, "message": "no such method"});
            let error = json!({"jsonrpc": "2.0", "id": id, "error": error});
            reply(200, "application/json", error.to_string())
        }
    }
}

fn response(message: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": message.get("id"), "result": result})
}
