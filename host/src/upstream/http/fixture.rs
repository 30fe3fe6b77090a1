//! A legacy server on loopback for the tests of this folder.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::Request;

use crate::pipeline::port::Phase;
use crate::protocol::{Message, Method};
use crate::upstream::Limits;
use crate::upstream::testing::{Counter, Reply, Rig, http, json, reply, serve};

/// A legacy server: opens sessions, lists tools on pages, and answers calls as `answer` says.
#[derive(Clone)]
pub(super) struct Legacy {
    pub(super) opened: Counter,
    pub(super) ended: Counter,
    pub(super) cancelled: Counter,
    pub(super) pages: usize,
    pub(super) forgets: Arc<AtomicUsize>,
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
            Box::pin(async move { server.respond(&request) })
        })
        .await
        .0
    }

    fn respond(&self, request: &Request<Bytes>) -> Reply {
        if request.method() == http::Method::DELETE {
            self.ended.add();
            return reply(204, "text/plain", "");
        }
        let message = Message::parse(request.body().clone()).unwrap();
        let id = message.id().map(|id| id.as_json().to_owned()).unwrap_or_default();
        let result =
            |result: String| json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        let session = request.headers().get("mcp-session-id");
        match (message.method(), session) {
            (Method::Initialize, None) => {
                let count = self.opened.add();
                assert!(!message.params().unwrap().contains("roots"), "nothing is claimed");
                let mut reply = result(
                    r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"demo server","version":"1"}}"#.to_owned(),
                );
                reply.headers_mut().insert("mcp-session-id", format!("s{count}").parse().unwrap());
                reply
            }
            (_, None) => reply(400, "text/plain", "no session"),
            (Method::Initialized, _) => reply(202, "text/plain", ""),
            (Method::Cancelled, _) => {
                assert!(message.params().unwrap().contains("c-1"));
                self.cancelled.add();
                reply(202, "text/plain", "")
            }
            (Method::ToolsList, _) => {
                let cursor = message.string(crate::protocol::Field::Cursor);
                let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
                let next = if page + 1 < self.pages {
                    format!(r#","nextCursor":"{}""#, page + 1)
                } else {
                    String::new()
                };
                result(format!(r#"{{"tools":[{{"name":"t{page}"}}]{next}}}"#))
            }
            (Method::Ping, _) => result("{}".to_owned()),
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
                (self.answer)(&message)
            }
        }
    }
}

pub(super) async fn connected(server: &Legacy) -> Rig {
    let rig = http(&server.serve().await, Limits::default());
    rig.until(Phase::Connected).await;
    rig
}
