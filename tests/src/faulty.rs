//! An MCP server over HTTP, of the legacy era, that answers as a test wants, however wrong.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Result;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::Plugway;

const BODY_MAX: usize = 1 << 20;

/// Status, content type, further header, body.
pub type Raw = (u16, &'static str, Option<(&'static str, &'static str)>, String);

/// Answers a message; the number counts messages of this method, from 1. None = as a good server would.
pub type Handler = fn(&Value, u64) -> Option<Raw>;

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct Faulty {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Faulty {
    /// plugway before one and another, which it knows as `one` and `two`.
    pub async fn two(one: Handler, two: Handler) -> Result<(Self, Self, Plugway)> {
        let (one, two) = (Self::start(one).await?, Self::start(two).await?);
        let plugway = Plugway::start(format!(
            "name: hub\nupstreams: [{{name: one, url: '{}'}}, {{name: two, url: '{}'}}]\n",
            one.url(),
            two.url()
        ))
        .await?;
        Ok((one, two, plugway))
    }

    /// Starts one on a free port. Without the handler's say it has the tools `good` and `bad`.
    pub async fn start(handler: Handler) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let lists = Arc::new(AtomicU64::new(0));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let lists = Arc::clone(&lists);
                let service =
                    service_fn(move |request| answer(handler, Arc::clone(&lists), request));
                let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                // A client that goes away is no concern of this server.
                tokio::spawn(async move { drop(serving.await) });
            }
        });
        Ok(Self { address, task })
    }

    /// Its endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    handler: Handler,
    lists: Arc<AtomicU64>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    if request.method() != Method::POST {
        return Ok(response((405, "text/plain", None, String::new())));
    }
    let body = Limited::new(request.into_body(), BODY_MAX).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let listed = message.get("method").is_some_and(|method| method == "tools/list");
    let count = lists.fetch_add(u64::from(listed), Ordering::SeqCst) + u64::from(listed);
    Ok(response(handler(&message, count).unwrap_or_else(|| good(&message))))
}

fn response((status, media, further, body): Raw) -> Response<Full<Bytes>> {
    let mut builder = Response::builder().status(status).header("content-type", media);
    if let Some((name, value)) = further {
        builder = builder.header(name, value);
    }
    builder.body(Full::from(body)).unwrap_or_default()
}

/// What a server without faults answers.
pub fn good(message: &Value) -> Raw {
    let id = message.get("id").cloned().unwrap_or_default();
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let result = match message.get("method").and_then(Value::as_str).unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "faulty", "version": "0" },
        }),
        "tools/list" => json!({ "tools": [tool("good"), tool("bad")] }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "fine" }] }),
        "ping" => json!({}),
        method if method.starts_with("notifications/") => {
            return (202, "text/plain", None, String::new());
        }
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return body(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    body(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// A JSON answer.
pub fn body(message: &Value) -> Raw {
    (200, "application/json", None, message.to_string())
}
