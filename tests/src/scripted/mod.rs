//! An MCP server over HTTP, of the legacy era, whose every answer a test decides: JSON or events, how large, when.
//!
//! Its tools are in [`tools`]. It keeps sessions, answers 405 to GET unless it was started with streams, and counts what
//! it is asked.

use std::{
    collections::HashSet,
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::Result;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Barrier, Semaphore, mpsc},
    task::JoinHandle,
};

mod replies;
mod tools;

use self::replies::{Reply, at, error, events, result, whole};

const SESSION: &str = "mcp-session-id";
const BODY_MAX: usize = 64 * 1024 * 1024;

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct Scripted {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

/// What it was asked, and what its tools wait for.
#[derive(Debug)]
struct State {
    initializes: AtomicU64,
    gets: AtomicU64,
    deletes: AtomicU64,
    calls: AtomicU64,
    /// Steps that `steps` reported.
    steps: AtomicU64,
    cancelled: Mutex<Vec<Value>>,
    sessions: Mutex<HashSet<String>>,
    /// One permit lets one call of `steps` go on.
    gate: Semaphore,
    /// Where two calls of `pair` meet.
    meeting: Barrier,
    /// The streams of GET that are open; none where it has no such streams.
    streams: Option<Mutex<Vec<mpsc::Sender<String>>>>,
    /// Levels and subscriptions of sessions; none where it has no such things.
    told: Option<Mutex<Vec<Told>>>,
}

/// What a session was told: its id, the method, and the level or the URI.
pub type Told = (String, String, String);

impl Scripted {
    /// Starts one on a free port.
    pub async fn start() -> Result<Self> {
        Self::start_with(None, None).await
    }

    /// Starts one that has a resource, and whose sessions have levels and subscriptions.
    pub async fn with_memory() -> Result<Self> {
        Self::start_with(None, Some(Mutex::default())).await
    }

    /// Starts one that answers GET with a stream.
    pub async fn with_streams() -> Result<Self> {
        Self::start_with(Some(Mutex::default()), None).await
    }

    async fn start_with(
        streams: Option<Mutex<Vec<mpsc::Sender<String>>>>,
        told: Option<Mutex<Vec<Told>>>,
    ) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            initializes: AtomicU64::new(0),
            gets: AtomicU64::new(0),
            deletes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            cancelled: Mutex::default(),
            sessions: Mutex::default(),
            gate: Semaphore::new(0),
            meeting: Barrier::new(2),
            streams,
            told,
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Self { address, state, task })
    }

    /// Its endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// How often it was asked to `initialize`.
    pub fn initializes(&self) -> u64 {
        self.state.initializes.load(Ordering::SeqCst)
    }

    /// How often a stream was asked for (GET).
    pub fn gets(&self) -> u64 {
        self.state.gets.load(Ordering::SeqCst)
    }

    /// How many sessions were ended (DELETE).
    pub fn deletes(&self) -> u64 {
        self.state.deletes.load(Ordering::SeqCst)
    }

    /// How many tools were called.
    pub fn calls(&self) -> u64 {
        self.state.calls.load(Ordering::SeqCst)
    }

    /// How many steps of progress it reported.
    pub fn steps(&self) -> u64 {
        self.state.steps.load(Ordering::SeqCst)
    }

    /// The ids of the requests that it was told were given up.
    pub fn cancelled(&self) -> Vec<Value> {
        self.state.cancelled.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many sessions are open.
    pub fn sessions(&self) -> usize {
        self.state.sessions().len()
    }

    /// Forgets its sessions, as a server does that keeps them for a while.
    pub fn forget_sessions(&self) {
        self.state.sessions().clear();
    }

    /// What sessions were told of levels and subscriptions, in order.
    pub fn told(&self) -> Vec<Told> {
        let told = self.state.told.as_ref().map(|told| told.lock());
        told.map(|told| told.unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// Ends every stream of GET.
    pub fn end_streams(&self) {
        if let Some(streams) = &self.state.streams {
            streams.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// Lets one call of `steps` go on to its result.
    pub fn release(&self) {
        self.state.gate.add_permits(1);
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl State {
    fn sessions(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let state = Arc::clone(&state);
                async move { Ok::<_, Infallible>(answer(&state, request).await) }
            });
            // A proxy that breaks its own connection is what some tests are about.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn answer(state: &Arc<State>, request: Request<Incoming>) -> Reply {
    let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
    let session = session.map(str::to_owned);
    match *request.method() {
        Method::GET => {
            state.gets.fetch_add(1, Ordering::SeqCst);
            let Some(streams) = &state.streams else {
                return whole(StatusCode::METHOD_NOT_ALLOWED, "");
            };
            let (sender, receiver) = mpsc::channel(1);
            streams.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
            events(receiver)
        }
        Method::DELETE => {
            let known = session.is_some_and(|id| state.sessions().remove(&id));
            if !known {
                return whole(StatusCode::NOT_FOUND, "");
            }
            state.deletes.fetch_add(1, Ordering::SeqCst);
            whole(StatusCode::OK, "")
        }
        _ => match Limited::new(request.into_body(), BODY_MAX).collect().await {
            Ok(body) => post(state, session, &body.to_bytes()).await,
            Err(_) => whole(StatusCode::BAD_REQUEST, ""),
        },
    }
}

async fn post(state: &Arc<State>, session: Option<String>, body: &[u8]) -> Reply {
    let Ok(message) = serde_json::from_slice::<Value>(body) else {
        return whole(StatusCode::BAD_REQUEST, "");
    };
    let method = at(&message, "/method").as_str().unwrap_or_default().to_owned();
    if method == "initialize" {
        return initialize(state, &message);
    }
    let Some(session) = session else {
        return error(StatusCode::BAD_REQUEST, &message, -32600, "no session");
    };
    if !state.sessions().contains(&session) {
        return error(StatusCode::NOT_FOUND, &message, -32001, "unknown session");
    }
    if message.get("id").is_none() {
        if method == "notifications/cancelled" {
            let id = at(&message, "/params/requestId").clone();
            state.cancelled.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        }
        return whole(StatusCode::ACCEPTED, "");
    }
    match method.as_str() {
        "ping" => result(&message, &json!({})),
        "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
            let params = at(&message, "/params");
            let what = [at(params, "/level"), at(params, "/uri")];
            let what = what.iter().find_map(|what| what.as_str()).unwrap_or_default();
            let Some(told) = &state.told else {
                return error(StatusCode::OK, &message, -32601, "no such method");
            };
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.push((session, method.clone(), what.to_owned()));
            result(&message, &json!({}))
        }
        "resources/list" if state.told.is_some() => {
            result(&message, &json!({"resources": [{"uri": "scripted://a", "name": "a"}]}))
        }
        "tools/list" => result(&message, &json!({"tools": tools::list()})),
        "tools/call" => {
            state.calls.fetch_add(1, Ordering::SeqCst);
            tools::call(state, &message, body).await
        }
        _ => error(StatusCode::OK, &message, -32601, "no such method"),
    }
}

fn initialize(state: &State, message: &Value) -> Reply {
    let number = state.initializes.fetch_add(1, Ordering::SeqCst);
    let id = format!("scripted-{number}");
    state.sessions().insert(id.clone());
    let mut capabilities = json!({"tools": {}});
    if state.told.is_some() {
        capabilities = json!({"tools": {}, "logging": {}, "resources": {"subscribe": true}});
    }
    let mut reply = result(
        message,
        &json!({
            "protocolVersion": at(message, "/params/protocolVersion"),
            "capabilities": capabilities,
            "serverInfo": {"name": "scripted", "version": "0"},
        }),
    );
    if let Ok(id) = id.parse() {
        reply.headers_mut().insert(SESSION, id);
    }
    reply
}
