use std::sync::atomic::{AtomicUsize, Ordering};
mod lent;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::watch;

use super::build::Built;
use super::kinds::KINDS;
use crate::catalogue::{EntryKind, View};
use crate::fault::Fault;
use crate::pipeline::keeper::shape_now;
use crate::pipeline::port::{
    Answer, Control, File, FileOrder, Lender, Nobody, Numbers, Offering, Order, Phase, Promise,
    Snapshot, Upstream, Variant,
};
use crate::pipeline::presence::Absence;
use crate::pipeline::testing::{NoRouter, nothing};
use crate::pipeline::{Caller, Connector, Level, Party, PartyId, Served, Viewer};
use crate::protocol::Message;

const KIND: &str = r#"{"extensions":{"demo/ui":{}}}"#;

/// A server that offers another tool to some, once a test says which.
struct Server {
    name: Arc<str>,
    snapshot: watch::Sender<Arc<Snapshot>>,
    own: watch::Sender<Option<Variant>>,
    asked: AtomicUsize,
    /// Credentials that callers came with.
    lent: Mutex<Vec<String>>,
}

fn offering(tools: &[&str]) -> Arc<Offering> {
    let tool = |name: &&str| Arc::from(format!(r#"{{"name":"{name}"}}"#));
    Arc::new(Offering { tools: tools.iter().map(tool).collect(), ..Offering::default() })
}

impl Upstream for Server {
    fn name(&self) -> &Arc<str> {
        &self.name
    }
    fn kind(&self) -> &'static str {
        "http"
    }
    fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshot.subscribe()
    }
    fn varies(&self) -> bool {
        true
    }
    fn variant<'a>(&'a self, capabilities: &'a str) -> Promise<'a, Variant> {
        assert!(capabilities.contains("demo/"), "{capabilities}");
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut own = self.own.subscribe();
        Box::pin(async move { own.wait_for(Option::is_some).await.unwrap().clone().unwrap() })
    }
    fn lends(&self) -> bool {
        true
    }
    /// Whoever comes with its own name has a tool of its own.
    fn variant_of<'a>(&'a self, _: &'a str, lender: Lender<'a>) -> Promise<'a, Variant> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let came_with = lender.credential.map_or("nothing", |text| text.to_str().unwrap());
        self.lent.lock().unwrap().push(came_with.to_owned());
        let known = came_with == &**lender.caller;
        Box::pin(async move {
            if known { Variant::Own(offering(&[came_with])) } else { Variant::Unseen("No.".into()) }
        })
    }
    fn exchange(&self, _order: Order) -> Promise<'_, Result<Answer, Fault>> {
        nothing()
    }
    fn origins(&self) -> Option<&Arc<[Arc<str>]>> {
        None
    }
    fn file(&self, _order: FileOrder) -> Promise<'_, Result<Option<File>, Fault>> {
        Box::pin(async { Ok(None) })
    }
    fn prepared(&self, _party: &Arc<Party>, _request: Bytes) -> Option<Message> {
        None
    }
    fn notify(&self, _party: PartyId, _notification: Message) -> Promise<'_, ()> {
        Box::pin(async {})
    }
    fn tell(&self, _order: Order) -> Promise<'_, ()> {
        Box::pin(async {})
    }
    fn set_level(&self, _party: PartyId, _level: Level) -> Promise<'_, ()> {
        Box::pin(async {})
    }
    fn leave(&self, _party: PartyId) -> Promise<'_, ()> {
        Box::pin(async {})
    }
    fn control(&self, _control: Control) {}
    fn numbers(&self) -> Numbers {
        Numbers::default()
    }
    fn shut_down(&self) -> Promise<'_, ()> {
        Box::pin(async {})
    }
}

async fn stage(own: Option<Variant>) -> (Connector, Arc<Server>) {
    let snapshot = Snapshot {
        offering: Some(offering(&["plain"])),
        ..Snapshot::new(Phase::Connected, Instant::now())
    };
    let server = Arc::new(Server {
        name: "srv".into(),
        snapshot: watch::Sender::new(Arc::new(snapshot)),
        own: watch::Sender::new(own),
        asked: AtomicUsize::new(0),
        lent: Mutex::default(),
    });
    let served = Served {
        upstream: server.clone(),
        settings: "{}".into(),
        absence: Absence::default(),
        instructions: true,
    };
    let connector =
        Connector::new("hub".into(), "".into(), vec![served], Arc::new(NoRouter), Vec::new());
    shape_now(&connector).await;
    (connector, server)
}

fn own() -> Variant {
    Variant::Own(offering(&["plain", "chart"]))
}

async fn built(connector: &Connector, capabilities: Option<&str>) -> Option<Arc<Built>> {
    let (caller, capabilities) = (Arc::new(Caller::anonymous("a")), capabilities.map(Arc::from));
    connector.built(Viewer::unasked(&caller, capabilities.as_ref())).await
}

fn has_chart(view: &View) -> bool {
    view.find(EntryKind::Tool, "srv_chart").is_some()
}

#[tokio::test]
async fn a_kind_has_one_catalogue_until_everybodys_is_made_anew() {
    let (connector, server) = stage(Some(own())).await;
    let kind: Arc<str> = KIND.into();
    assert!(built(&connector, None).await.is_none());
    assert!(built(&connector, Some("{}")).await.is_none());
    let all = join_all((0..4).map(|_| built(&connector, Some(&kind)))).await;
    for built in &all {
        assert!(Arc::ptr_eq(built.as_ref().unwrap(), all[0].as_ref().unwrap()));
    }
    let first = all[0].clone().unwrap();
    assert!(has_chart(&first.view) && !has_chart(&connector.views.whole()));
    assert_eq!(server.asked.load(Ordering::SeqCst), 1);
    shape_now(&connector).await;
    let next = built(&connector, Some(&kind)).await.unwrap();
    let generation = |view: &View| view.catalogue().generation;
    assert!(has_chart(&next.view) && generation(&next.view) > generation(&first.view));
    assert_eq!(server.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn who_waits_in_vain_sees_everybodys_and_hears_of_what_differs() {
    let (mut connector, server) = stage(None).await;
    connector.patience = Duration::ZERO;
    let kind: Arc<str> = KIND.into();
    let bulletin = |connector: &Connector| {
        let whole = connector.views.whole();
        let kinds = connector.kinds.standings(whole.catalogue().generation);
        connector.announced.renew(whole.catalogue(), kinds)
    };
    let first = built(&connector, Some(&kind)).await.unwrap();
    assert!(first.everybodys && Arc::ptr_eq(&first.view, &connector.views.whole()));
    assert!(bulletin(&connector).own(&kind).is_none(), "everybody's news are theirs");

    server.own.send_replace(Some(own()));
    connector.patience = Duration::from_secs(20);
    connector.renew_kinds(&Nobody).await;
    assert!(has_chart(&built(&connector, Some(&kind)).await.unwrap().view));
    let told = bulletin(&connector);
    let news = told.own(&kind).and_then(|own| told.news(own.place?)).unwrap();
    let names: Vec<&str> = news.entries.iter().map(|(entry, _)| &*entry.key).collect();
    assert_eq!((names, &*news.listed), (vec!["srv_chart"], &[true][..]));
    connector.renew_kinds(&Nobody).await;
    assert_eq!(bulletin(&connector).own(&kind).unwrap().place, None, "it was told");

    server.own.send_replace(Some(Variant::Everybodys));
    connector.renew_kinds(&Nobody).await;
    let told = bulletin(&connector);
    let news = told.own(&kind).and_then(|own| told.news(own.place?)).unwrap();
    assert_eq!(&*news.listed, [false], "it is gone");
    assert!(bulletin(&connector).own(&kind).is_none());
}

#[tokio::test]
async fn more_kinds_than_are_kept_see_everybodys() {
    let (connector, server) = stage(Some(own())).await;
    let kind = |n: usize| Arc::from(format!(r#"{{"extensions":{{"demo/{n}":{{}}}}}}"#));
    for n in 0..KINDS {
        assert!(built(&connector, Some(&kind(n))).await.is_some());
    }
    assert!(built(&connector, Some(&kind(KINDS))).await.is_none());
    assert!(built(&connector, Some(&kind(0))).await.is_some());
    assert_eq!(server.asked.load(Ordering::SeqCst), KINDS);
    let long = format!(r#"{{"extensions":{{"demo/{}":{{}}}}}}"#, "x".repeat(16 * 1024));
    assert!(built(&connector, Some(&long)).await.is_none());
}
