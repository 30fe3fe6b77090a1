//! What the tests of this room share: a server on loopback that does what a test tells it, and parties.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming as Arriving};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Access, Asks, Command, Limits, Settings, Sharing, Transport};
use crate::fault::Fault;
use crate::outbound::OwnListeners;
use crate::pipeline::Level;
use crate::pipeline::party::{NoOutbox, Outbox, Party, PartyId};
use crate::pipeline::port::{Answer, Chunks, Incoming, Order, Phase, Promise, Snapshot, Upstream};
use crate::protocol::{Message, Revision};

pub(super) type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;
type Handled = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// Serves on a free port of loopback until the returned guard is dropped.
pub(super) async fn serve<F>(handler: F) -> (String, TaskTracker)
where
    F: Fn(Request<Bytes>) -> Handled + Send + Sync + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let tracker = TaskTracker::new();
    tracker.spawn(accept(listener, Arc::new(handler), tracker.clone()));
    (url, tracker)
}

async fn accept<F>(listener: TcpListener, handler: Arc<F>, tracker: TaskTracker)
where
    F: Fn(Request<Bytes>) -> Handled + Send + Sync + 'static,
{
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let handler = Arc::clone(&handler);
        let service = service_fn(move |request: Request<Arriving>| {
            let handler = Arc::clone(&handler);
            async move {
                let (parts, body) = request.into_parts();
                let limited = Limited::new(body, 1 << 20);
                #[expect(clippy::disallowed_methods, reason = "limited just above")]
                let body = limited.collect().await.unwrap().to_bytes();
                Ok::<_, Infallible>(handler(Request::from_parts(parts, body)).await)
            }
        });
        tracker.spawn(async move {
            drop(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await,
            );
        });
    }
}

pub(super) fn reply(status: u16, kind: &str, text: impl Into<Bytes>) -> Reply {
    let body = Full::new(text.into()).boxed_unsync();
    Response::builder().status(status).header("content-type", kind).body(body).unwrap()
}

pub(super) fn json(text: impl Into<Bytes>) -> Reply {
    reply(200, "application/json", text)
}

/// A response whose body the test writes piece by piece.
pub(super) fn streamed(kind: &str, pieces: mpsc::Receiver<Bytes>) -> Reply {
    let frames = futures_util::stream::unfold(pieces, |mut pieces| async move {
        let piece = pieces.recv().await?;
        Some((Ok(Frame::data(piece)), pieces))
    });
    let body = StreamBody::new(frames).boxed_unsync();
    Response::builder().header("content-type", kind).body(body).unwrap()
}

/// An upstream under test and what keeps it running.
pub(super) struct Rig {
    pub(super) upstream: Arc<dyn Upstream>,
    pub(super) stop: CancellationToken,
    pub(super) tracker: TaskTracker,
}

pub(super) fn http(url: &str, limits: Limits) -> Rig {
    rig(Transport::Http { url: url.to_owned() }, Sharing::Session, limits)
}

pub(super) fn shell(script: &str, sharing: Sharing, limits: Limits) -> Rig {
    let command = Command {
        program: "sh".to_owned(),
        args: vec!["-c".to_owned(), script.to_owned()],
        ..Command::default()
    };
    rig(Transport::Stdio(command), sharing, limits)
}

pub(super) fn rig(transport: Transport, sharing: Sharing, limits: Limits) -> Rig {
    start(&Settings { transport, sharing, limits, ..settings() })
}

/// Nothing but a name: an upstream that cannot be started.
pub(super) fn settings() -> Settings {
    Settings {
        name: "demo".into(),
        connector: "hub".into(),
        transport: Transport::Stdio(Command::default()),
        headers: Vec::new(),
        origins: None,
        access: Access::Open,
        catalog: true,
        own: OwnListeners::new(),
        sharing: Sharing::Session,
        asks: Asks::default(),
        limits: Limits::default(),
    }
}

pub(super) fn start(settings: &Settings) -> Rig {
    let (stop, tracker) = (CancellationToken::new(), TaskTracker::new());
    let upstream = super::start(settings, &stop, &tracker).unwrap();
    Rig { upstream, stop, tracker }
}

impl Rig {
    pub(super) async fn until(&self, phase: Phase) -> Arc<Snapshot> {
        let mut watch = self.upstream.watch();
        let wait = watch.wait_for(|snapshot| snapshot.phase == phase);
        let found = soon(wait).await.unwrap();
        Arc::clone(&found)
    }

    pub(super) async fn call(&self, party: &Arc<Party>, text: &str) -> Result<Answer, Fault> {
        soon(self.upstream.exchange(order(party, text))).await
    }

    pub(super) async fn end(self) {
        self.stop.cancel();
        soon(self.upstream.shut_down()).await;
        self.tracker.close();
        soon(self.tracker.wait()).await;
    }
}

/// An outbox that a test reads.
#[derive(Debug)]
pub(super) struct Inbox {
    listened: watch::Sender<bool>,
    messages: mpsc::Sender<Incoming>,
}

impl Inbox {
    pub(super) fn new() -> (Arc<Self>, mpsc::Receiver<Incoming>) {
        let (messages, received) = mpsc::channel(16);
        (Arc::new(Self { listened: watch::channel(false).0, messages }), received)
    }

    /// The client opens its stream.
    pub(super) fn listen(&self) {
        self.listened.send_replace(true);
    }
}

impl Outbox for Inbox {
    fn offer(&self, _message: Bytes) -> bool {
        false
    }

    fn forward(&self, message: Incoming) -> bool {
        self.messages.try_send(message).is_ok()
    }

    fn listened(&self) -> Promise<'_, ()> {
        let mut listened = self.listened.subscribe();
        Box::pin(async move {
            listened.wait_for(|listened| *listened).await.unwrap();
        })
    }

    fn offer_once(&self, message: Bytes) -> bool {
        self.offer(message)
    }

    fn saw(&self, _list: usize, _generation: u32) {}

    fn take_seen(&self) -> [(u32, u32); 3] {
        [(0, 0); 3]
    }

    fn wants(&self, _level: Level) -> bool {
        true
    }

    fn level(&self) -> Option<Level> {
        None
    }

    fn set_level(&self, _level: Level) {}
}

/// The text of a message.
pub(super) fn text_of(message: &Incoming) -> String {
    let text = match message {
        Incoming::Response(text) => text,
        Incoming::Notification(note) => &note.text,
        Incoming::Ask(ask) => ask.message.text(),
        Incoming::Break(_) => return "(a break)".to_owned(),
    };
    String::from_utf8(text.to_vec()).unwrap()
}

/// Nothing in a test may take so long.
pub(super) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("in time")
}

pub(super) fn party(id: u64, revision: Revision, strangers: bool) -> Arc<Party> {
    Arc::new(Party {
        id: PartyId(id),
        revision,
        shared_by_strangers: strangers,
        client_info: Some(format!(r#"{{"name":"client-{id}","version":"1"}}"#).into()),
        capabilities: Some(r#"{"roots":{}}"#.into()),
        further: None,
        loads: None,
        outbox: Arc::new(NoOutbox),
    })
}

/// A party whose client may ask for a level.
pub(super) fn leveled(id: u64, revision: Revision) -> (Arc<Party>, Arc<Leveled>) {
    let outbox = Arc::new(Leveled::default());
    let plain = party(id, revision, false);
    let party = Party {
        id: plain.id,
        revision,
        shared_by_strangers: false,
        client_info: plain.client_info.clone(),
        capabilities: plain.capabilities.clone(),
        further: None,
        loads: None,
        outbox: Arc::clone(&outbox) as Arc<dyn Outbox>,
    };
    (Arc::new(party), outbox)
}

/// An outbox that knows a level and keeps what is put into it.
#[derive(Debug, Default)]
pub(super) struct Leveled {
    level: Mutex<Option<Level>>,
    pub(super) got: Mutex<Vec<Bytes>>,
}

impl Leveled {
    pub(super) fn set(&self, level: Level) {
        *self.level.lock().unwrap() = Some(level);
    }
}

impl Outbox for Leveled {
    fn offer(&self, message: Bytes) -> bool {
        self.got.lock().unwrap().push(message);
        true
    }

    fn forward(&self, message: Incoming) -> bool {
        let Incoming::Notification(note) = message else { return false };
        self.offer(note.text)
    }

    fn listened(&self) -> Promise<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn offer_once(&self, message: Bytes) -> bool {
        self.offer(message)
    }

    fn saw(&self, _list: usize, _generation: u32) {}

    fn take_seen(&self) -> [(u32, u32); 3] {
        [(0, 0); 3]
    }

    fn wants(&self, level: Level) -> bool {
        self.level().is_none_or(|least| level >= least)
    }

    fn level(&self) -> Option<Level> {
        *self.level.lock().unwrap()
    }

    fn set_level(&self, level: Level) {
        self.set(level);
    }
}

/// A party with these capabilities.
pub(super) fn party_with(id: u64, revision: Revision, capabilities: &str) -> Arc<Party> {
    listening(id, revision, capabilities, Arc::new(NoOutbox))
}

/// A party with these capabilities and this outbox.
pub(super) fn listening(
    id: u64,
    revision: Revision,
    capabilities: &str,
    outbox: Arc<dyn Outbox>,
) -> Arc<Party> {
    Arc::new(Party {
        id: PartyId(id),
        revision,
        shared_by_strangers: false,
        client_info: None,
        capabilities: Some(capabilities.into()),
        further: None,
        loads: None,
        outbox,
    })
}

pub(super) fn order(party: &Arc<Party>, text: &str) -> Order {
    Order {
        credential: None,
        party: Arc::clone(party),
        message: Message::parse(Bytes::from(text.to_owned())).unwrap(),
        name: None,
        headers: Vec::new(),
    }
}

/// The whole text of an answer; messages stand in lines of their own.
pub(super) async fn text(answer: Answer) -> Result<String, Fault> {
    let mut all = Vec::new();
    match answer {
        Answer::Json(json) => {
            let mut chunks = Chunks::from(json.body);
            while let Some(chunk) = soon(chunks.next()).await {
                all.extend_from_slice(&chunk?);
            }
        }
        Answer::Messages(mut messages) => {
            while let Some(message) = soon(messages.next()).await {
                all.extend_from_slice(text_of(&message?).as_bytes());
                all.push(b'\n');
            }
        }
    }
    Ok(String::from_utf8(all).unwrap())
}

/// A number that tests wait for.
#[derive(Debug, Clone)]
pub(super) struct Counter(Arc<watch::Sender<usize>>);

impl Counter {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }

    pub(super) fn add(&self) -> usize {
        let mut after = 0;
        self.0.send_modify(|count| {
            *count += 1;
            after = *count;
        });
        after
    }

    pub(super) fn get(&self) -> usize {
        *self.0.borrow()
    }

    pub(super) async fn reaches(&self, count: usize) {
        soon(self.0.subscribe().wait_for(|now| *now >= count)).await.unwrap();
    }
}

/// Between two looks at something that cannot be waited for.
pub(super) const TICK: rustix::event::Timespec =
    rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
