//! Calls through a connector whose servers are played here.

mod bound;
mod confirmed;
mod legacy;
mod modern;
mod suspended;
mod waiting;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, future};
use http::HeaderMap;
use tokio::sync::watch;

use crate::fault::{Code, Fault};
use crate::pipeline::keeper::shape_now;
use crate::pipeline::port::{
    Answer, Ask, AskReply, Body, Control, File, FileOrder, Incoming, Json, Lender, Notification,
    Numbers, Offering, Order, Phase, Policy, Promise, Snapshot, Upstream, Variant,
};
use crate::pipeline::testing::NoRouter;
use crate::pipeline::translate::Suspended;
use crate::pipeline::{
    Absence, CallContext, Caller, Connector, Flight, Level, NoOutbox, Party, PartyId, Request,
    RequestId, Served, dispatch,
};
use crate::protocol::{Id, Message, Revision, splice};

/// What a call gave.
pub(super) type Item = Result<Incoming, Fault>;

/// A server that gives prepared answers.
pub(super) struct Server {
    snapshot: watch::Sender<Arc<Snapshot>>,
    name: Arc<str>,
    answers: Mutex<VecDeque<Answer>>,
    /// Whether it begins no answer.
    pub(super) hangs: AtomicBool,
    /// The requests that it got.
    pub(super) got: Mutex<Vec<String>>,
    /// The notifications that it got.
    pub(super) told: Mutex<Vec<String>>,
    /// The methods that it may ask clients for.
    pub(super) may_ask: Mutex<Vec<&'static str>>,
}

impl Server {
    pub(super) fn answers(&self, answer: Answer) {
        self.answers.lock().unwrap().push_back(answer);
    }

    pub(super) fn answers_text(&self, text: impl Into<Bytes>) {
        self.answers(Answer::whole(text.into()));
    }

    pub(super) fn got(&self) -> Vec<String> {
        std::mem::take(&mut *self.got.lock().unwrap())
    }
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
        false
    }
    fn variant<'a>(&'a self, _capabilities: &'a str) -> Promise<'a, Variant> {
        Box::pin(async { Variant::Everybodys })
    }
    fn lends(&self) -> bool {
        false
    }
    fn variant_of<'a>(&'a self, _: &'a str, _: Lender<'a>) -> Promise<'a, Variant> {
        Box::pin(async { Variant::Everybodys })
    }
    fn exchange(&self, order: Order) -> Promise<'_, Result<Answer, Fault>> {
        let text = String::from_utf8(order.message.text().to_vec()).unwrap();
        self.got.lock().unwrap().push(text);
        let answer = self.answers.lock().unwrap().pop_front();
        let answer = answer.ok_or_else(|| Fault::new(Code::Internal, "Nothing is prepared."));
        let hangs = self.hangs.load(Ordering::Relaxed);
        Box::pin(async move { if hangs { future::pending().await } else { answer } })
    }
    fn origins(&self) -> Option<&Arc<[Arc<str>]>> {
        None
    }
    fn file(&self, _order: FileOrder) -> Promise<'_, Result<Option<File>, Fault>> {
        Box::pin(async { Ok(None) })
    }
    fn prepared(&self, _party: &Arc<Party>, request: Bytes) -> Option<Message> {
        let message = Message::parse(request).ok()?;
        self.may_ask.lock().unwrap().iter().find(|may| **may == message.method_name())?;
        let text = std::str::from_utf8(message.text()).unwrap();
        let text = text.replacen(r#""message":""#, r#""message":"[srv] "#, 1);
        Message::parse(text.into()).ok()
    }
    fn notify(&self, _party: PartyId, notification: Message) -> Promise<'_, ()> {
        let text = String::from_utf8(notification.text().to_vec()).unwrap();
        self.told.lock().unwrap().push(text);
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

/// A connector with one server of the name `srv`, which offers the tools `t` and `u`.
pub(super) struct Stage {
    pub(super) connector: Arc<Connector>,
    pub(super) server: Arc<Server>,
    /// The client's capabilities.
    pub(super) capabilities: &'static str,
    pub(super) caller: Arc<Caller>,
    pub(super) client: Revision,
}

impl Stage {
    /// `client` and `server` are the newest revisions that both speak.
    pub(super) async fn new(client: Revision, server: Revision) -> Self {
        Self::with(client, server, Vec::new()).await
    }

    pub(super) async fn with(
        client: Revision,
        server: Revision,
        policies: Vec<Arc<dyn Policy>>,
    ) -> Self {
        let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{}}}}"#).into();
        let offering = Offering {
            revision: Some(server),
            tools: vec![tool("t"), tool("u")],
            ..Offering::default()
        };
        let snapshot = Snapshot {
            offering: Some(Arc::new(offering)),
            ..Snapshot::new(Phase::Connected, Instant::now())
        };
        let server = Arc::new(Server {
            snapshot: watch::Sender::new(Arc::new(snapshot)),
            name: "srv".into(),
            answers: Mutex::default(),
            hangs: AtomicBool::new(false),
            got: Mutex::default(),
            told: Mutex::default(),
            may_ask: Mutex::new(vec!["elicitation/create", "sampling/createMessage", "roots/list"]),
        });
        let served = Served {
            upstream: server.clone(),
            settings: "{}".into(),
            absence: Absence::default(),
            instructions: true,
        };
        let router = Arc::new(NoRouter);
        let connector = Connector::new("hub".into(), "".into(), vec![served], router, policies);
        shape_now(&connector).await;
        let capabilities = r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#;
        let caller = somebody("ann");
        Self { connector: Arc::new(connector), server, capabilities, caller, client }
    }

    /// The same, where clients are waited for so long only.
    pub(super) fn patient_for(mut self, patience: Duration) -> Self {
        let connector = Arc::get_mut(&mut self.connector).unwrap();
        connector.suspended = Arc::new(Suspended::patient_for(patience));
        self
    }

    pub(super) fn request(&self, text: &str) -> Request {
        let party = Party {
            id: PartyId(1),
            revision: self.client,
            shared_by_strangers: false,
            client_info: None,
            capabilities: Some(self.capabilities.into()),
            further: None,
            loads: None,
            outbox: Arc::new(NoOutbox),
        };
        Request {
            request_id: RequestId::next(),
            caller: self.caller.clone(),
            party: Arc::new(party),
            message: message(text),
            headers: Arc::new(HeaderMap::new()),
            session: None,
            passed: Vec::new(),
            credential: None,
            filters: None,
            flight: Arc::new(Flight::default()),
            depth: 0,
            streams: true,
            confirmed: None,
            trail: None,
        }
    }

    pub(super) async fn send(&self, text: &str) -> Result<Answer, Fault> {
        dispatch(&self.connector, self.request(text)).await
    }

    /// The messages of the answer to a request.
    pub(super) async fn call(&self, text: &str) -> BoxStream<'static, Item> {
        items(self.send(text).await.unwrap())
    }

    /// The one message of the answer to a request.
    pub(super) async fn response(&self, text: &str) -> String {
        let mut items = self.call(text).await;
        let response = response(items.next().await);
        assert!(items.next().await.is_none());
        response
    }

    /// How the call of `text` is refused.
    pub(super) async fn refusal(&self, text: &str) -> Code {
        match self.send(text).await {
            Err(fault) => fault.code(),
            Ok(answer) => match items(answer).next().await {
                Some(Err(fault)) => fault.code(),
                other => panic!("{other:?}"),
            },
        }
    }
}

/// An identified caller.
pub(super) fn somebody(name: &str) -> Arc<Caller> {
    Arc::new(Caller { anonymous: false, ..Caller::anonymous(name) })
}

/// A call of the tool `t`; `more` stands behind the name in its params.
pub(super) fn call(id: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"srv_t"{more}}}}}"#
    )
}

pub(super) fn message(text: &str) -> Message {
    Message::parse(Bytes::copy_from_slice(text.as_bytes())).unwrap()
}

pub(super) fn items(answer: Answer) -> BoxStream<'static, Item> {
    match answer {
        Answer::Messages(messages) => messages,
        Answer::Json(Json { body: Body::Whole(text), .. }) => {
            stream::iter([Ok(Incoming::Response(text))]).boxed()
        }
        Answer::Json(_) => panic!("it streams"),
    }
}

pub(super) fn response(item: Option<Item>) -> String {
    match item {
        Some(Ok(Incoming::Response(text))) => String::from_utf8(text.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

pub(super) fn ask(item: Option<Item>) -> Ask {
    match item {
        Some(Ok(Incoming::Ask(ask))) => ask,
        other => panic!("{other:?}"),
    }
}

pub(super) fn note(item: Option<Item>) -> String {
    match item {
        Some(Ok(Incoming::Notification(note))) => String::from_utf8(note.text.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// A server's question in the middle of a call, and where its answer arrives.
pub(super) fn question(id: &str, method: &str, params: &str) -> (Item, mpsc::Receiver<Message>) {
    let (sender, receiver) = mpsc::sync_channel(1);
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
    let reply = AskReply::new(Id::parse(id).unwrap(), move |response| {
        drop(sender.send(response));
    });
    let ask = Ask { upstream: "srv".into(), message: message(&text), reply };
    (Ok(Incoming::Ask(ask)), receiver)
}

#[expect(clippy::unnecessary_wraps, reason = "it stands among items that may be faults")]
pub(super) fn notification(text: &str) -> Item {
    let text = Bytes::copy_from_slice(text.as_bytes());
    Ok(Incoming::Notification(Notification { upstream: "srv".into(), text }))
}

#[expect(clippy::unnecessary_wraps, reason = "it stands among items that may be faults")]
pub(super) fn last(text: &str) -> Item {
    Ok(Incoming::Response(Bytes::copy_from_slice(text.as_bytes())))
}

/// A text with the id of a message replaced.
pub(super) fn with_id(text: &str, id: &str) -> String {
    let message = message(text);
    let text = splice(message.text(), &[(message.id_span(), id.as_bytes())]);
    String::from_utf8(text.to_vec()).unwrap()
}

/// Says whether what holds it was dropped.
#[derive(Clone, Default)]
pub(super) struct Held(Arc<AtomicBool>);

impl Held {
    pub(super) fn is_dropped(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// These messages, and then nothing for ever.
    pub(super) fn open(&self, messages: Vec<Item>) -> Answer {
        let held = Guard(self.0.clone());
        Answer::messages(stream::iter(messages).chain(stream::pending())).holding(held)
    }
}

struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
