//! What a server offers to clients with certain capabilities is read as such a client, once, and again when the catalogue is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderValue, Request};

use super::answering;
use crate::pipeline::port::{Control, Variant};
use crate::protocol::{Field, Message, Method};
use crate::upstream::testing::{Counter, Reply, Rig, json, reply, soon};

const UI: &str = r#"{"extensions":{"demo/ui":{}}}"#;

/// A server of one era that has a tool more for clients with a user interface.
#[derive(Clone)]
struct Varying {
    modern: bool,
    /// Stands in the name of that tool.
    version: Arc<AtomicUsize>,
    /// Whether it refuses to list anything to such clients.
    refuses: Arc<AtomicBool>,
    lists: Counter,
    ended: Counter,
}

impl Varying {
    fn new(modern: bool) -> Self {
        let (lists, ended) = (Counter::new(), Counter::new());
        Self { modern, version: Arc::default(), refuses: Arc::default(), lists, ended }
    }

    async fn start(&self) -> Rig {
        let server = self.clone();
        answering(move |request| server.respond(request)).await
    }

    fn respond(&self, request: &Request<Bytes>) -> Reply {
        if request.method() == http::Method::DELETE {
            self.ended.add();
            return reply(200, "text/plain", "");
        }
        if request.method() != http::Method::POST {
            return reply(405, "text/plain", "");
        }
        let message = Message::parse(request.body().clone()).unwrap();
        let Some(id) = message.id() else { return reply(202, "text/plain", "") };
        let session = request.headers().get("mcp-session-id");
        let shows = match session {
            Some(session) => session == "ui",
            None => message.field(Field::MetaCapabilities).is_some_and(|meta| meta.contains("ui")),
        };
        let result = match (message.method(), self.modern) {
            (Method::Discover, true) => {
                r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#.to_owned()
            }
            (Method::Initialize, false) => {
                let ui = message.field(Field::Capabilities).is_some_and(|own| own.contains("ui"));
                let text = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"v","version":"1"}}}}}}"#
                );
                let mut answer = json(text);
                let session = HeaderValue::from_static(if ui { "ui" } else { "plain" });
                answer.headers_mut().insert("mcp-session-id", session);
                return answer;
            }
            (Method::ToolsList, _) => {
                self.lists.add();
                if shows && self.refuses.load(Ordering::SeqCst) {
                    return reply(500, "text/plain", "");
                }
                let version = self.version.load(Ordering::SeqCst);
                let more = shows.then(|| format!(r#",{{"name":"ui{version}"}}"#));
                format!(r#"{{"tools":[{{"name":"t"}}{}]}}"#, more.unwrap_or_default())
            }
            _ => {
                let error = r#"{"code":-32601,"message":"no such method"}"#;
                return json(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
            }
        };
        json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }
}

/// The tools of a variant of its own; none where it is everybody's.
async fn tools(rig: &Rig, capabilities: &str) -> Option<Vec<Arc<str>>> {
    match soon(rig.upstream.variant(capabilities)).await {
        Variant::Own(offering) => Some(offering.tools.clone()),
        Variant::Everybodys | Variant::Unseen(_) => None,
    }
}

/// Has the catalogue read again, and waits until that is told of.
async fn read_again(rig: &Rig) {
    let mut watch = rig.upstream.watch();
    let before = watch.borrow_and_update().variants;
    rig.upstream.control(Control::Reconnect);
    soon(watch.wait_for(|snapshot| snapshot.variants != before)).await.unwrap();
}

fn ui(version: usize) -> Vec<Arc<str>> {
    vec![r#"{"name":"t"}"#.into(), format!(r#"{{"name":"ui{version}"}}"#).into()]
}

#[tokio::test]
async fn a_variant_is_read_once_as_such_a_client_and_again_with_the_catalogue() {
    for modern in [true, false] {
        let server = Varying::new(modern);
        let rig = server.start().await;
        assert!(rig.upstream.varies());
        assert_eq!(tools(&rig, "{}").await, None);
        assert_eq!(server.lists.get(), 1, "those are plugway's own");
        for found in join_all((0..4).map(|_| tools(&rig, UI))).await {
            assert_eq!(found, Some(ui(0)));
        }
        assert_eq!(server.lists.get(), 2, "however many ask");
        // What the operator does not let the server use is not told to it.
        assert_eq!(tools(&rig, r#"{"sampling":{"ui":{}}}"#).await, None);
        assert_eq!(server.lists.get(), 2);
        assert_eq!(tools(&rig, r#"{"elicitation":{}}"#).await, None, "it is offered the same");
        assert_eq!(server.lists.get(), 3);

        server.version.store(1, Ordering::SeqCst);
        assert_eq!(tools(&rig, UI).await, Some(ui(0)));
        read_again(&rig).await;
        assert_eq!(tools(&rig, UI).await, Some(ui(1)));
        assert_eq!(server.lists.get(), 5, "the catalogue, and the variant that is asked for");
        if !modern {
            server.ended.reaches(3).await;
        }
        rig.end().await;
    }
}

#[tokio::test]
async fn a_variant_that_cannot_be_read_is_everybodys_until_the_next_reading() {
    let server = Varying::new(true);
    let rig = server.start().await;
    server.refuses.store(true, Ordering::SeqCst);
    assert_eq!(tools(&rig, UI).await, None);
    assert_eq!(tools(&rig, UI).await, None);
    assert_eq!(server.lists.get(), 2, "it is not asked again and again");
    server.refuses.store(false, Ordering::SeqCst);
    read_again(&rig).await;
    assert_eq!(tools(&rig, UI).await, Some(ui(0)));
    // What was read once counts where a later reading fails.
    server.refuses.store(true, Ordering::SeqCst);
    read_again(&rig).await;
    assert_eq!(tools(&rig, UI).await, Some(ui(0)));
    rig.end().await;
}
