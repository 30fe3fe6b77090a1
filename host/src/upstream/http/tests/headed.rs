//! Arguments that travel in headers, too, toward a modern server that insists on it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};

use super::answering;
use crate::pipeline::port::Answer;
use crate::protocol::{Message, Method, Revision};
use crate::upstream::testing::{Reply, Rig, json, order, party, reply, soon, text};

const CALL: &str = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t","arguments":{"r":"é"}}}"#;
const MODERN_CALL: &str = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"t","arguments":{"r":"é"}}}"#;
const ENCODED: &str = "=?base64?w6k=?=";

/// A server whose tool has these annotations; a call has to have the header of the last one that there is.
#[derive(Clone, Default)]
struct Insisting {
    /// How many of the annotations it lists.
    listed: Arc<AtomicUsize>,
    /// How many of the headers it wants.
    wanted: Arc<AtomicUsize>,
    /// The `mcp-param-` headers of each call.
    calls: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Insisting {
    async fn start(&self) -> Rig {
        let server = self.clone();
        answering(move |request| server.respond(request)).await
    }

    fn respond(&self, request: &Request<Bytes>) -> Reply {
        if request.method() != http::Method::POST {
            return reply(405, "text/plain", "");
        }
        let message = Message::parse(request.body().clone()).unwrap();
        let Some(id) = message.id() else { return reply(202, "text/plain", "") };
        let error = |status, code: i64| {
            let error = format!(r#"{{"code":{code},"message":"no"}}"#);
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
            reply(status, "application/json", text)
        };
        let result = match message.method() {
            Method::Discover => {
                r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#.to_owned()
            }
            Method::ToolsList => {
                let header = match self.listed.load(Ordering::SeqCst) {
                    0 => String::new(),
                    n => format!(r#","x-mcp-header":"R{n}""#),
                };
                let schema = format!(r#"{{"properties":{{"r":{{"type":"string"{header}}}}}}}"#);
                format!(r#"{{"tools":[{{"name":"t","inputSchema":{schema}}}]}}"#)
            }
            Method::ToolsCall => {
                let headers = request.headers().iter();
                let headers = headers.filter(|(name, _)| name.as_str().starts_with("mcp-param-"));
                let headers: Vec<String> = headers
                    .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
                    .collect();
                let wanted = match self.wanted.load(Ordering::SeqCst) {
                    0 => None,
                    n => Some(format!("mcp-param-r{n}: {ENCODED}")),
                };
                let fits = wanted.is_none_or(|wanted| headers.contains(&wanted));
                self.calls.lock().unwrap().push(headers);
                if !fits {
                    return error(400, -32020);
                }
                r#"{"resultType":"complete","content":[]}"#.to_owned()
            }
            _ => return error(404, -32601),
        };
        json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    fn set(&self, listed: usize, wanted: usize) {
        self.listed.store(listed, Ordering::SeqCst);
        self.wanted.store(wanted, Ordering::SeqCst);
    }

    fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

/// A call of a client of either era that sends no headers.
async fn call(rig: &Rig, revision: Revision) -> Answer {
    let text = if revision == Revision::V2026_07_28 { MODERN_CALL } else { CALL };
    rig.call(&party(revision as u64, revision, false), text).await.unwrap()
}

#[tokio::test]
async fn headers_are_made_of_arguments_for_who_sends_none() {
    let server = Insisting::default();
    server.set(1, 1);
    let rig = server.start().await;
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        let answer = call(&rig, revision).await;
        assert_eq!(answer.refusal(), None);
        assert_eq!(server.take(), [[format!("mcp-param-r1: {ENCODED}")]]);
    }
    // What the client sent itself stays, and so does what nobody here knows.
    let mut sent = order(&party(7, Revision::V2026_07_28, false), MODERN_CALL);
    for name in ["mcp-param-r1", "mcp-param-x"] {
        let value = HeaderValue::from_static("own");
        sent.headers.push((HeaderName::from_static(name), value));
    }
    soon(rig.upstream.exchange(sent)).await.unwrap();
    assert_eq!(server.take(), [["mcp-param-r1: own", "mcp-param-x: own"]]);
    rig.end().await;
}

#[tokio::test]
async fn a_refused_call_is_sent_again_once_where_the_annotations_changed() {
    let server = Insisting::default();
    let rig = server.start().await;
    server.set(1, 1);
    let answer = call(&rig, Revision::V2025_06_18).await;
    assert_eq!(answer.refusal(), None);
    assert_eq!(server.take(), [vec![], vec![format!("mcp-param-r1: {ENCODED}")]]);
    // It wants something that it does not say.
    server.set(1, 2);
    let answer = call(&rig, Revision::V2025_06_18).await;
    assert_eq!(answer.refusal(), Some(-32020));
    assert!(text(answer).await.unwrap().contains("-32020"));
    assert_eq!(server.take(), [[format!("mcp-param-r1: {ENCODED}")]]);
    rig.end().await;
}
