//! Life with a server of the modern era: what it says of its lists over `subscriptions/listen` and `ttlMs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::Request;
use tokio::sync::mpsc;

use crate::pipeline::port::Phase;
use crate::protocol::{Message, Method};
use crate::upstream::Limits;
use crate::upstream::testing::{Counter, Reply, http, json, reply, serve, soon, streamed};

/// A modern server. `ttl` is what its lists name; `listens` says whether it has subscriptions.
#[derive(Clone)]
struct Modern {
    ttl: u64,
    listens: bool,
    lists: Counter,
    listened: Counter,
    version: Arc<AtomicUsize>,
    streams: Arc<std::sync::Mutex<Vec<mpsc::Sender<Bytes>>>>,
    asked: Arc<std::sync::Mutex<String>>,
}

impl Modern {
    fn respond(&self, request: &Request<Bytes>) -> Reply {
        if request.uri().path() == "/health" {
            return reply(404, "text/plain", "");
        }
        let message = Message::parse(request.body().clone()).unwrap();
        let id = message.id().map(|id| id.as_json().to_owned()).unwrap_or_default();
        let result = match message.method() {
            Method::Discover => r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}}"#.to_owned(),
            Method::ToolsList => {
                self.lists.add();
                let (version, ttl) = (self.version.load(Ordering::SeqCst), self.ttl);
                format!(r#"{{"resultType":"complete","tools":[{{"name":"t{version}"}}],"ttlMs":{ttl},"cacheScope":"public"}}"#)
            }
            Method::SubscriptionsListen if self.listens => {
                message.params().unwrap().clone_into(&mut self.asked.lock().unwrap());
                self.listened.add();
                let (send, pieces) = mpsc::channel(16);
                self.streams.lock().unwrap().push(send);
                return streamed("text/event-stream", pieces);
            }
            method => {
                self.listened.add();
                let error = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no {method:?}"}}}}"#);
                return reply(404, "application/json", error);
            }
        };
        json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }
}

async fn modern(ttl: u64, listens: bool) -> (Modern, String) {
    let server = Modern {
        ttl,
        listens,
        lists: Counter::new(),
        listened: Counter::new(),
        version: Arc::default(),
        streams: Arc::default(),
        asked: Arc::default(),
    };
    let serving = server.clone();
    let (url, _server) =
        serve(move |request| Box::pin(std::future::ready(serving.respond(&request)))).await;
    (server, url)
}

#[tokio::test]
async fn a_modern_server_is_asked_for_the_changes_of_every_list_and_heard() {
    let (server, url) = modern(0, true).await;
    let rig = http(&url, Limits::default());
    rig.until(Phase::Connected).await;
    server.listened.reaches(1).await;
    let asked = server.asked.lock().unwrap().clone();
    for list in ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] {
        assert!(asked.contains(&format!(r#""{list}":true"#)), "{asked}");
    }
    server.version.store(1, Ordering::SeqCst);
    let stream = server.streams.lock().unwrap()[0].clone();
    let note = b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{\"_meta\":{}}}\n\n";
    soon(stream.send(Bytes::from_static(note))).await.unwrap();
    let mut watch = rig.upstream.watch();
    let changed = watch.wait_for(|snapshot| {
        snapshot.offering.as_ref().is_some_and(|offering| offering.tools[0].contains("t1"))
    });
    assert_eq!(soon(changed).await.unwrap().phase, Phase::Connected);
    assert_eq!(server.lists.get(), 2, "a lifetime of 0 is no reason to read all the time");
    assert_eq!(rig.upstream.numbers().streams_active, 1);
    rig.end().await;
}

#[tokio::test]
async fn the_lifetime_that_a_server_names_makes_plugway_read_again() {
    let (server, url) = modern(1, false).await;
    let rig = http(&url, Limits::default());
    rig.until(Phase::Connected).await;
    server.listened.reaches(1).await;
    let since = std::time::Instant::now();
    server.lists.reaches(2).await;
    assert!(since.elapsed() > std::time::Duration::from_millis(500), "at most once a second");
    assert_eq!(server.listened.get(), 1, "a server without subscriptions is asked once");
    assert_eq!(rig.upstream.numbers().streams_unsupported, 1);
    rig.end().await;
}
