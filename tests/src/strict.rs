//! A server that lets in whoever has a token that it knows, and offers something else to each. It says nothing to anybody
//! without one but at `/health` and `/catalog`.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Method, Request, Response, header::AUTHORIZATION};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use crate::coder::{catalogue, function};

const BODY_MAX: usize = 1 << 20;
const SESSION: &str = "mcp-session-id";

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct Strict {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    /// Whether it speaks 2026-07-28 only; else it has sessions.
    modern: bool,
    /// The tools of each token.
    tools: Mutex<BTreeMap<String, Vec<String>>>,
    /// Token and method of each message; an empty token for none.
    asked: Mutex<Vec<(String, String)>>,
    /// Each session that is open, and its token.
    sessions: Mutex<BTreeMap<String, String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Strict {
    /// Starts one on a free port that knows nobody.
    pub async fn start(modern: bool) -> Result<Self> {
        Self::start_at("127.0.0.1:0", modern).await
    }

    /// The same on this address.
    pub async fn start_at(address: &str, modern: bool) -> Result<Self> {
        let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            modern,
            tools: Mutex::default(),
            asked: Mutex::default(),
            sessions: Mutex::default(),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { address, state, task })
    }

    /// Its endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on it knows this token, and offers these tools to who has it.
    pub fn lets_in(&self, token: &str, tools: &[&str]) {
        let tools = tools.iter().map(|tool| (*tool).to_owned()).collect();
        locked(&self.state.tools).insert(token.to_owned(), tools);
    }

    /// It does not know this token any more.
    pub fn shuts_out(&self, token: &str) {
        locked(&self.state.tools).remove(token);
    }

    /// How often this was asked with this token; without any where it is empty.
    pub fn asked(&self, token: &str, method: &str) -> usize {
        let asked = locked(&self.state.asked);
        asked.iter().filter(|(by, what)| by == token && what == method).count()
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> usize {
        locked(&self.state.sessions).len()
    }
}

impl Drop for Strict {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    // Connections end with the server.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        let service = service_fn(move |request| {
            let state = Arc::clone(&state);
            async move { Ok::<_, Infallible>(answer(&state, request).await) }
        });
        let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // A client that goes away is no concern of this server.
        connections.spawn(async move { drop(serving.await) });
    }
}

async fn answer(state: &State, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let authorization = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = authorization.and_then(|text| text.strip_prefix("Bearer ")).unwrap_or_default();
    if parts.method == Method::GET && parts.uri.path() != "/mcp" {
        locked(&state.asked).push((token.to_owned(), parts.uri.path().to_owned()));
        return match parts.uri.path() {
            "/health" => reply(200, "{}"),
            "/catalog" => {
                let functions = [function("melt", "Melts a lattice", &[], &[])];
                reply(200, &catalogue("lab", &functions).to_string())
            }
            _ => reply(404, "{}"),
        };
    }
    let body = Limited::new(body, BODY_MAX).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    locked(&state.asked).push((token.to_owned(), method.to_owned()));
    let tools = locked(&state.tools).get(token).cloned();
    let Some(tools) = tools else { return reply(401, r#"{"error":"invalid_token"}"#) };
    let session = parts.headers.get(SESSION).and_then(|value| value.to_str().ok());
    match parts.method {
        Method::DELETE => {
            session.map(|session| locked(&state.sessions).remove(session));
            reply(200, "{}")
        }
        Method::POST if state.modern => modern(token, &tools, method, &message),
        Method::POST => legacy(state, (token, session), &tools, (method, &message)),
        _ => reply(405, "{}"),
    }
}

fn reply(status: u16, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text.to_owned()));
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert("content-type", json);
    response
}

fn answered(message: &Value, what: &str, value: &Value) -> Response<Full<Bytes>> {
    let answer = json!({"jsonrpc": "2.0", "id": message.get("id"), (what): value});
    reply(200, &answer.to_string())
}

fn refused(message: &Value) -> Response<Full<Bytes>> {
    answered(message, "error", &json!({"code": -32601, "message": "no such method"}))
}

fn listed(tools: &[String]) -> Value {
    let tool = |name: &String| json!({"name": name, "inputSchema": {"type": "object"}});
    tools.iter().map(tool).collect()
}

/// A tool says which it is, and who called it; one that is not the caller's is unknown.
fn called(token: &str, tools: &[String], message: &Value) -> Value {
    let name = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
    let known = tools.iter().any(|tool| tool == name);
    let text = if known { format!("{name} for {token}") } else { "unknown".to_owned() };
    json!({"content": [{"type": "text", "text": text}], "isError": !known})
}

fn modern(token: &str, tools: &[String], method: &str, message: &Value) -> Response<Full<Bytes>> {
    let mut result = match method {
        "server/discover" => {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}}})
        }
        "tools/list" => json!({"tools": listed(tools)}),
        "tools/call" => called(token, tools, message),
        _ => return refused(message),
    };
    if let Some(members) = result.as_object_mut() {
        members.insert("resultType".to_owned(), json!("complete"));
        members.insert("ttlMs".to_owned(), json!(600_000));
        members.insert("cacheScope".to_owned(), json!("public"));
    }
    answered(message, "result", &result)
}

fn legacy(
    state: &State,
    (token, session): (&str, Option<&str>),
    tools: &[String],
    (method, message): (&str, &Value),
) -> Response<Full<Bytes>> {
    if method == "initialize" {
        let mut sessions = locked(&state.sessions);
        let id = format!("s{}-{}", sessions.len(), locked(&state.asked).len());
        sessions.insert(id.clone(), token.to_owned());
        let result = json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "strict", "version": "0"},
        });
        let mut response = answered(message, "result", &result);
        if let Ok(id) = http::HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION, id);
        }
        return response;
    }
    let known = session.is_some_and(|session| locked(&state.sessions).contains_key(session));
    match method {
        _ if !known => reply(404, "{}"),
        "notifications/initialized" => reply(202, ""),
        "ping" => answered(message, "result", &json!({})),
        "tools/list" => answered(message, "result", &json!({"tools": listed(tools)})),
        "tools/call" => answered(message, "result", &called(token, tools, message)),
        _ => refused(message),
    }
}
