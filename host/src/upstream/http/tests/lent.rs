//! A server that answers nobody but callers: it is there, and what it offers is read for each of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request};

use super::serving;
use crate::pipeline::port::{Control, Lender, Phase, Variant};
use crate::protocol::{Message, Method};
use crate::upstream::testing::{Counter, Reply, Rig, json, reply, settings, soon, start};
use crate::upstream::{Access, Limits, Settings, Transport};

/// A modern server that wants a token, and has a tool called like it.
#[derive(Clone)]
struct Strict {
    open: Arc<AtomicBool>,
    status: Arc<AtomicUsize>,
    lists: Counter,
    refused: Counter,
}

impl Strict {
    fn new() -> Self {
        let (lists, refused) = (Counter::new(), Counter::new());
        Self { open: Arc::default(), status: Arc::new(AtomicUsize::new(401)), lists, refused }
    }

    fn respond(&self, request: &Request<Bytes>) -> Reply {
        let token = request.headers().get("authorization").map(|token| token.to_str().unwrap());
        let token = token.and_then(|token| token.strip_prefix("Bearer good-"));
        if token.is_none() && !self.open.load(Ordering::SeqCst) {
            self.refused.add();
            let status = self.status.load(Ordering::SeqCst);
            return reply(u16::try_from(status).unwrap(), "text/plain", "");
        }
        let message = Message::parse(request.body().clone()).unwrap();
        let Some(id) = message.id() else { return reply(202, "text/plain", "") };
        let result = match message.method() {
            Method::Discover => {
                r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#.to_owned()
            }
            Method::ToolsList => {
                self.lists.add();
                format!(r#"{{"tools":[{{"name":"{}"}}]}}"#, token.unwrap_or("open"))
            }
            _ => "{}".to_owned(),
        };
        json(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    async fn start(&self) -> Rig {
        let server = self.clone();
        let url = serving(move |request| server.respond(request)).await;
        let limits = Limits {
            check: Duration::from_millis(20),
            retry_first: Duration::from_millis(20),
            ..Limits::default()
        };
        let access = Access::Callers { own: None };
        let rig =
            start(&Settings { access, limits, transport: Transport::Http { url }, ..settings() });
        rig.until(Phase::Connected).await;
        rig
    }
}

/// The tools that a caller sees; a sentence where there are none.
async fn tools(rig: &Rig, caller: &str, token: Option<&str>) -> Result<Vec<Arc<str>>, String> {
    let caller = caller.into();
    let token = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
    let lender = Lender { caller: &caller, credential: token.as_ref() };
    match soon(rig.upstream.variant_of("{}", lender)).await {
        Variant::Own(offering) => Ok(offering.tools.clone()),
        Variant::Unseen(why) => Err(why.to_string()),
        Variant::Everybodys => Ok(Vec::new()),
    }
}

fn named(name: &str) -> Vec<Arc<str>> {
    vec![format!(r#"{{"name":"{name}"}}"#).into()]
}

#[tokio::test]
async fn it_is_connected_and_each_caller_is_read_for_once() {
    for status in [401, 403] {
        let server = Strict::new();
        server.status.store(status, Ordering::SeqCst);
        let rig = server.start().await;
        let offering = rig.until(Phase::Connected).await.offering.clone().unwrap();
        assert!(rig.upstream.lends() && offering.veiled.is_some() && offering.tools.is_empty());
        // Looks go on, and it stays.
        server.refused.reaches(10).await;
        assert_eq!(rig.until(Phase::Connected).await.attempt, 0);
        assert_eq!(server.lists.get(), 0);
        assert_eq!(tools(&rig, "ann", Some("good-ann")).await, Ok(named("ann")));
        assert_eq!(tools(&rig, "bob", Some("good-bob")).await, Ok(named("bob")));
        assert_eq!(tools(&rig, "ann", Some("good-ann")).await, Ok(named("ann")));
        assert_eq!(tools(&rig, "ann", None).await, Ok(named("ann")), "as it came before");
        // A new token of the same caller keeps what is known until the next reading.
        assert_eq!(tools(&rig, "ann", Some("good-new")).await, Ok(named("ann")));
        assert_eq!(server.lists.get(), 2);
        let why = tools(&rig, "eve", Some("bad")).await.unwrap_err();
        assert!(why.contains("your own credential"), "{why}");
        assert!(tools(&rig, "nobody", None).await.unwrap_err().contains("you sent none"));

        let mut watch = rig.upstream.watch();
        let before = watch.borrow_and_update().variants;
        rig.upstream.control(Control::Reconnect);
        soon(watch.wait_for(|snapshot| snapshot.variants != before)).await.unwrap();
        assert_eq!(tools(&rig, "ann", None).await, Ok(named("new")));
        rig.end().await;
    }
}

#[tokio::test]
async fn a_server_that_lets_everybody_in_one_day_is_like_any_other() {
    let server = Strict::new();
    let rig = server.start().await;
    assert_eq!(tools(&rig, "ann", Some("good-ann")).await, Ok(named("ann")));
    for (open, wanted) in [(true, named("open")), (false, Vec::new())] {
        server.open.store(open, Ordering::SeqCst);
        rig.upstream.control(Control::Reconnect);
        let mut watch = rig.upstream.watch();
        let is_so = soon(watch.wait_for(|snapshot| {
            let offering = snapshot.offering.as_ref().unwrap();
            offering.veiled.is_none() == open
        }));
        let offering = is_so.await.unwrap().offering.clone().unwrap();
        assert_eq!(offering.tools, wanted);
    }
    assert_eq!(tools(&rig, "ann", None).await, Ok(named("ann")));
    rig.end().await;
}
