//! An MCP server of the legacy era that answers every call at once with 1 KiB of text.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The tool's name at this server.
pub(crate) const TOOL: &str = "echo";
const BODY_LIMIT: usize = 1 << 20;

/// Serves on a free port and prints its address.
pub(crate) async fn serve() -> Result<()> {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let served = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
            drop(served);
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    if head.method != http::Method::POST {
        return Ok(empty(StatusCode::METHOD_NOT_ALLOWED));
    }
    let Ok(body) = Limited::new(body, BODY_LIMIT).collect().await else {
        return Ok(empty(StatusCode::BAD_REQUEST));
    };
    let message: Value = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    let id = message["id"].clone();
    let reply = match message["method"].as_str() {
        Some("tools/call") => {
            result(&id, &json!({ "content": [{ "type": "text", "text": text() }] }))
        }
        Some("tools/list") => result(&id, &json!({ "tools": [tool()] })),
        Some("initialize") => initialized(&id),
        Some("ping") => result(&id, &json!({})),
        Some(method) if method.starts_with("notifications/") => empty(StatusCode::ACCEPTED),
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            body_of(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        }
    };
    Ok(reply)
}

fn text() -> &'static str {
    const LETTERS: &[u8] = &[b'x'; 1024];
    std::str::from_utf8(LETTERS).unwrap_or_default()
}

fn tool() -> Value {
    let properties = json!({ "message": { "type": "string" } });
    let schema = json!({ "type": "object", "properties": properties });
    json!({ "name": TOOL, "description": "Answers at once.", "inputSchema": schema })
}

fn initialized(id: &Value) -> Response<Full<Bytes>> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let session = format!("s-{:016x}", NEXT.fetch_add(1, Ordering::Relaxed));
    let mut reply = result(
        id,
        &json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "echo", "version": "1" },
        }),
    );
    if let Ok(value) = session.parse() {
        reply.headers_mut().insert("mcp-session-id", value);
    }
    reply
}

fn result(id: &Value, result: &Value) -> Response<Full<Bytes>> {
    body_of(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

fn body_of(message: &Value) -> Response<Full<Bytes>> {
    let mut reply = Response::new(Full::from(message.to_string()));
    let json = http::HeaderValue::from_static("application/json");
    reply.headers_mut().insert(http::header::CONTENT_TYPE, json);
    reply
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = status;
    reply
}
