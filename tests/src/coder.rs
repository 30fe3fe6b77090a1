//! A server that runs code, as those of agora-workbench do, over HTTP and of the legacy era: its tools, and the catalogue of
//! what its code can call (`GET /catalog`), which the test decides.

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

const BODY_MAX: usize = 1 << 20;

/// Status, content type and body of what is answered to `GET`.
pub type Page = (u16, &'static str, String);

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct Coder {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    /// Its own name.
    name: String,
    /// What stands at which path.
    pages: Mutex<BTreeMap<String, Page>>,
    /// Paths and credentials of all `GET` but for `/health`.
    asked: Mutex<Vec<(String, Option<String>)>>,
    /// Params of all `tools/call`.
    called: Mutex<Vec<Value>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A catalogue as a page.
pub fn page(catalogue: &Value) -> Page {
    (200, "application/json", catalogue.to_string())
}

/// A function as catalogues list it.
pub fn function(name: &str, description: &str, requires: &[&str], produces: &[&str]) -> Value {
    json!({
        "name": name, "description": description,
        "required_parameters": [{"name": "x", "type": "numpy.ndarray", "description": "The x.", "default": null}],
        "optional_parameters": [], "return_spec": [], "module": "m", "server_name": null,
        "state_transition": {"requires": requires, "produces": produces}, "affordances": [], "id": 0,
    })
}

/// The catalogue of a server with these functions, and a skill called like it.
pub fn catalogue(name: &str, functions: &[Value]) -> Value {
    let skill = json!({"name": format!("{name}-skill"), "description": format!("How to use {name}"), "domain": name, "states": []});
    json!({
        "server_name": name, "tools": functions, "skills": [skill],
        "execution": {"mode": "sync", "default_timeout": 300, "max_timeout": 600, "promotion_threshold_s": 60.0},
    })
}

impl Coder {
    /// Starts one of this name on a free port, with a catalogue of these functions at `/catalog`.
    pub async fn start(name: &str, functions: &[Value]) -> Result<Self> {
        Self::start_at("127.0.0.1:0", name, functions).await
    }

    /// The same on this address.
    pub async fn start_at(address: &str, name: &str, functions: &[Value]) -> Result<Self> {
        let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
        let address = listener.local_addr()?;
        let first = ("/catalog".to_owned(), page(&catalogue(name, functions)));
        let state = Arc::new(State {
            name: name.to_owned(),
            pages: Mutex::new([first].into()),
            asked: Mutex::default(),
            called: Mutex::default(),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { address, state, task })
    }

    /// Its endpoint.
    pub fn url(&self) -> String {
        self.url_at("/mcp")
    }

    /// An endpoint at this path: it answers at every one.
    pub fn url_at(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Another page at `/catalog`.
    pub fn shows(&self, page: Page) {
        self.shows_at("/catalog", page);
    }

    /// Another page at this path.
    pub fn shows_at(&self, path: &str, page: Page) {
        locked(&self.state.pages).insert(path.to_owned(), page);
    }

    /// Paths and credentials with which something was asked for by `GET`, but for `/health`.
    pub fn asked(&self) -> Vec<(String, Option<String>)> {
        locked(&self.state.asked).clone()
    }

    /// What its tools were called with.
    pub fn called(&self) -> Vec<Value> {
        locked(&self.state.called).clone()
    }
}

impl Drop for Coder {
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
    if request.method() == Method::GET {
        return shown(state, &request);
    }
    if request.method() != Method::POST {
        return response((405, "text/plain", String::new()));
    }
    let body = Limited::new(request.into_body(), BODY_MAX).collect().await;
    let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    response(posted(state, &serde_json::from_slice(&body).unwrap_or_default()))
}

fn shown(state: &State, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    // The stream of a session, which it does not have.
    if path.ends_with("/mcp") {
        return response((405, "text/plain", String::new()));
    }
    if path == "/health" {
        return response((200, "application/json", "{}".to_owned()));
    }
    let credential = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    locked(&state.asked).push((path.to_owned(), credential.map(str::to_owned)));
    let page = locked(&state.pages).get(path).cloned();
    response(page.unwrap_or_else(|| (404, "text/plain", String::new())))
}

fn response((status, media, body): Page) -> Response<Full<Bytes>> {
    let builder = Response::builder().status(status).header("content-type", media);
    builder.body(Full::from(body)).unwrap_or_default()
}

fn posted(state: &State, message: &Value) -> Page {
    let at = |pointer: &str| message.pointer(pointer).cloned().unwrap_or_default();
    let method = at("/method");
    let method = method.as_str().unwrap_or_default();
    if method.starts_with("notifications/") {
        return (202, "text/plain", String::new());
    }
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": format!("{}-executor", state.name), "version": "0"},
        }),
        "tools/list" => tools(state),
        "tools/call" => {
            locked(&state.called).push(at("/params"));
            called(&at("/params"))
        }
        "ping" => json!({}),
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            return page(&json!({"jsonrpc": "2.0", "id": at("/id"), "error": error}));
        }
    };
    page(&json!({"jsonrpc": "2.0", "id": at("/id"), "result": result}))
}

fn tools(state: &State) -> Value {
    let tool = |name: String, description: &str, argument: &str| {
        json!({"name": name, "description": description, "inputSchema": {
            "type": "object", "properties": {argument: {"type": "string"}}, "required": [argument],
        }})
    };
    let State { name, .. } = state;
    json!({"tools": [
        tool(format!("execute_{name}_code"), &described(state), "code"),
        tool(format!("{name}_check_job"), "Scripted.", "job_id"),
        tool(format!("load_{name}_skill"), "Scripted.", "skill_name"),
    ]})
}

/// What the tool that runs code says of itself: the functions, as servers of agora-workbench do.
fn described(state: &State) -> String {
    let page = locked(&state.pages).get("/catalog").map(|(_, _, text)| text.clone());
    let catalogue: Value = serde_json::from_str(&page.unwrap_or_default()).unwrap_or_default();
    let mut text = "Scripted.".to_owned();
    let functions = catalogue.get("tools").and_then(Value::as_array).into_iter().flatten();
    let said = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let functions = functions.filter_map(|one| {
        let name = said(one, "name").filter(|name| !name.is_empty() && name.chars().all(word))?;
        Some((name, said(one, "description").unwrap_or_default()))
    });
    for (place, (name, description)) in functions.take(10).enumerate() {
        if place == 0 {
            text.push_str("\n\nAvailable tool functions (call directly in your code):");
        }
        text.extend(["\n  - ", &*name, "(x: ndarray): ", &*description]);
    }
    text
}

fn called(params: &Value) -> Value {
    let text = match params.pointer("/arguments/skill_name").and_then(Value::as_str) {
        Some(skill) => format!("# {skill}\nDo it well."),
        None => json!({"success": true, "ran": params.pointer("/arguments/code")}).to_string(),
    };
    json!({"content": [{"type": "text", "text": text}]})
}
