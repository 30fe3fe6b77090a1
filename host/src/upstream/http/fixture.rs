//! A legacy server on loopback for the tests of this folder.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Request;

use crate::pipeline::port::Phase;
use crate::protocol::{Message, Method};
use crate::upstream::Limits;
use crate::upstream::testing::{Counter, Reply, Rig, http, json, reply, serve};

/// The verb or method of a request, and its credential.
pub(super) type Seen = (String, Option<String>);

/// Answers `GET`.
type Streams = dyn Fn(&Request<Bytes>) -> Reply + Send + Sync;

/// A legacy server: opens sessions, lists tools on pages, and answers calls as `answer` says.
#[derive(Clone)]
pub(super) struct Legacy {
    pub(super) opened: Counter,
    pub(super) ended: Counter,
    pub(super) cancelled: Counter,
    pub(super) pages: usize,
    pub(super) forgets: Arc<AtomicUsize>,
    pub(super) pings: Counter,
    /// Whether it knows the method `ping`.
    pub(super) knows_ping: bool,
    /// Whether pings are answered with the id of another request.
    pub(super) confuses: Arc<AtomicBool>,
    /// How often the first page of the tools was read.
    pub(super) lists: Counter,
    /// How often a stream was asked for.
    pub(super) gets: Counter,
    /// How often `/health` was asked.
    pub(super) healths: Counter,
    /// The status of `/health`; 0 keeps everybody waiting.
    pub(super) health: Arc<AtomicU16>,
    /// Stands in the names of the tools.
    pub(super) version: Arc<AtomicUsize>,
    /// Sessions with a smaller number are not known any more.
    pub(super) oldest: Arc<AtomicUsize>,
    /// The status of everything, where it is not 0.
    pub(super) broken: Arc<AtomicU16>,
    /// The params of every `initialize`.
    pub(super) hellos: Arc<Mutex<Vec<String>>>,
    /// Answers `GET`.
    pub(super) stream: Arc<Streams>,
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
    pub(super) answer: Arc<dyn Fn(&Message) -> Reply + Send + Sync>,
}

impl Legacy {
    pub(super) fn new(answer: impl Fn(&Message) -> Reply + Send + Sync + 'static) -> Self {
        Self {
            opened: Counter::new(),
            ended: Counter::new(),
            cancelled: Counter::new(),
            pages: 1,
            forgets: Arc::default(),
            pings: Counter::new(),
            knows_ping: true,
            confuses: Arc::default(),
            lists: Counter::new(),
            gets: Counter::new(),
            healths: Counter::new(),
            health: Arc::new(AtomicU16::new(404)),
            version: Arc::default(),
            oldest: Arc::default(),
            broken: Arc::default(),
            hellos: Arc::default(),
            stream: Arc::new(|_| reply(405, "text/plain", "")),
            seen: Arc::default(),
            answer: Arc::new(answer),
        }
    }

    pub(super) fn echo() -> Self {
        Self::new(|message| {
            let id = message.id().map(|id| id.as_json().to_owned()).unwrap_or_default();
            json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#))
        })
    }

    pub(super) async fn serve(&self) -> String {
        let server = self.clone();
        serve(move |request| {
            let server = server.clone();
            Box::pin(async move {
                if server.health.load(Ordering::SeqCst) == 0 {
                    std::future::pending::<()>().await;
                }
                server.respond(&request)
            })
        })
        .await
        .0
    }

    fn note(&self, what: impl Into<String>, request: &Request<Bytes>) {
        let credential = request.headers().get("authorization");
        let credential = credential.map(|value| value.to_str().unwrap().to_owned());
        self.seen.lock().unwrap().push((what.into(), credential));
    }

    fn respond(&self, request: &Request<Bytes>) -> Reply {
        let broken = self.broken.load(Ordering::SeqCst);
        if request.uri().path() == "/health" {
            self.note("health", request);
            self.healths.add();
            let status = self.health.load(Ordering::SeqCst);
            return reply(if broken == 0 { status } else { broken }, "text/plain", "");
        }
        if broken != 0 {
            return reply(broken, "text/plain", "");
        }
        if request.method() == http::Method::DELETE {
            self.note("DELETE", request);
            self.ended.add();
            return reply(204, "text/plain", "");
        }
        if request.method() == http::Method::GET {
            self.note("GET", request);
            self.gets.add();
            return (self.stream)(request);
        }
        let message = Message::parse(request.body().clone()).unwrap();
        self.note(message.method_name(), request);
        self.answer(request, &message)
    }

    fn answer(&self, request: &Request<Bytes>, message: &Message) -> Reply {
        let id = message.id().map(|id| id.as_json().to_owned()).unwrap_or_default();
        let result =
            |result: String| json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        let session = request.headers().get("mcp-session-id");
        let number = session.and_then(|id| id.to_str().ok()?.strip_prefix('s')?.parse().ok());
        if number.is_some_and(|number: usize| number < self.oldest.load(Ordering::SeqCst)) {
            return reply(404, "text/plain", "");
        }
        match (message.method(), session) {
            (Method::Initialize, None) => {
                let count = self.opened.add();
                self.hellos.lock().unwrap().push(message.params().unwrap().to_owned());
                let mut reply = result(
                    r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"demo server","version":"1"}}"#.to_owned(),
                );
                reply.headers_mut().insert("mcp-session-id", format!("s{count}").parse().unwrap());
                reply
            }
            (_, None) => reply(400, "text/plain", "no session"),
            (Method::Initialized, _) => reply(202, "text/plain", ""),
            (Method::Cancelled, _) => {
                // The first request of this session, whatever id its client gave.
                let params = message.params().unwrap();
                // plugway's own number, or the id of the legacy client.
                assert!(
                    [r#""requestId":1"#, r#""requestId":"c-1""#]
                        .iter()
                        .any(|id| params.contains(id))
                );
                self.cancelled.add();
                reply(202, "text/plain", "")
            }
            (Method::ToolsList, _) => result(self.page(message)),
            (Method::Ping, _) => {
                self.pings.add();
                if self.confuses.load(Ordering::SeqCst) {
                    return json(r#"{"jsonrpc":"2.0","id":"other","result":{}}"#.to_owned());
                }
                if !self.knows_ping {
                    let error = r#""error":{"code":-32601,"message":"Method not found"}"#;
                    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},{error}}}"#);
                    return reply(404, "application/json", text);
                }
                result("{}".to_owned())
            }
            _ => {
                let left = self.forgets.load(Ordering::SeqCst);
                if left > 0 {
                    self.forgets.store(left - 1, Ordering::SeqCst);
                    return reply(
                        404,
                        "application/json",
                        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"x"}}"#,
                    );
                }
                (self.answer)(message)
            }
        }
    }

    fn page(&self, message: &Message) -> String {
        let cursor = message.string(crate::protocol::Field::Cursor);
        let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let next = if page + 1 < self.pages {
            format!(r#","nextCursor":"{}""#, page + 1)
        } else {
            String::new()
        };
        if page == 0 {
            self.lists.add();
        }
        let version = match self.version.load(Ordering::SeqCst) {
            0 => String::new(),
            version => format!("v{version}"),
        };
        format!(r#"{{"tools":[{{"name":"t{page}{version}"}}]{next}}}"#)
    }
}

pub(super) async fn connected(server: &Legacy) -> Rig {
    let rig = http(&server.serve().await, Limits::default());
    rig.until(Phase::Connected).await;
    rig
}
