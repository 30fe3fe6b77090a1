//! Answers by the recording.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Write as _,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result};
use tokio::sync::mpsc;

use super::recording::{Exchange, Recording, Step};
use crate::{exact::Exact, wait};

const BOUND: Duration = Duration::from_secs(20);
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The server.
#[derive(Debug)]
pub struct Replay {
    recording: Recording,
    state: Mutex<State>,
    /// What it is sent, a message a line. Several processes of one upstream write to one file.
    record: PathBuf,
}

#[derive(Debug, Default)]
struct State {
    /// Every message so far.
    seen: Vec<Exact>,
    /// The streams of sessions.
    own: HashMap<String, mpsc::Sender<String>>,
    /// Subscriptions of the modern era: what they ask for, their id, their stream.
    listens: Vec<(Exact, Exact, mpsc::Sender<String>)>,
}

/// What answers a request.
#[derive(Debug)]
pub enum Answer {
    /// One message and nothing else.
    Whole(Exact),
    /// Messages as they come.
    Stream(mpsc::Receiver<String>),
}

/// An exchange under way.
struct Run {
    replay: Arc<Replay>,
    exchange: Exchange,
    request: Exact,
    session: String,
    /// How many messages were there when it began.
    since: usize,
}

impl Replay {
    /// Answers by this recording, and writes what it is sent to a file.
    pub fn new(recording: Recording, record: PathBuf) -> Self {
        Self { recording, state: Mutex::default(), record }
    }

    /// Whether it speaks the legacy era.
    pub fn has_sessions(&self) -> bool {
        self.recording.has_sessions()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where what a session is told goes from now on.
    pub fn listens(&self, session: &str, stream: mpsc::Sender<String>) {
        self.state().own.insert(session.to_owned(), stream);
    }

    /// The client ended a session, which is told by a line of the record.
    pub fn ended(&self, session: &str) -> Result<()> {
        let session = Exact::text(session);
        let line = format!(r#"{{"method":"replay/ended","params":{{"session":{session}}}}}"#);
        append(&self.record, &Exact::parse(&line)?)
    }

    /// Takes a message; the answer to a request.
    pub fn take(self: &Arc<Self>, message: Exact, session: &str) -> Result<Option<Answer>> {
        let since = {
            let mut state = self.state();
            append(&self.record, &message)?;
            state.seen.push(message.clone());
            state.seen.len()
        };
        if !message.is_request() {
            return Ok(None);
        }
        if message.method() == Some("subscriptions/listen") {
            return self.subscribed(&message).map(Some);
        }
        let Some(exchange) = self.find(&message) else { return Ok(Some(unrecorded(&message))) };
        let replay = Arc::clone(self);
        let run = Run { replay, exchange, request: message, session: session.to_owned(), since };
        if let [_, Step::Server(last), rest @ ..] = run.exchange.steps.as_slice()
            && last.method().is_none()
            && rest.iter().all(|step| step.received().is_none())
        {
            return Ok(Some(Answer::Whole(run.own_ids(last))));
        }
        let (sender, receiver) = mpsc::channel(8);
        tokio::spawn(async move {
            if let Err(error) = run.go(&sender).await {
                let method = r#""method":"replay/failed""#;
                let text = Exact::text(format!("{error:#}"));
                // The client may be gone.
                drop(sender.send(format!(r#"{{"jsonrpc":"2.0",{method},"params":{text}}}"#)).await);
            }
        });
        Ok(Some(Answer::Stream(receiver)))
    }

    /// The last exchange that this request begins and that holds by now.
    fn find(&self, request: &Exact) -> Option<Exchange> {
        let exchanges = &self.recording.exchanges;
        let begun = |name: &String| {
            let record = fs::read_to_string(&self.record).unwrap_or_default();
            let seen: Vec<Exact> =
                record.lines().filter_map(|line| Exact::parse(line).ok()).collect();
            let since = exchanges.iter().find(|exchange| exchange.name == *name);
            since.is_some_and(|since| seen.iter().any(|message| since.fits(message)))
        };
        let holds = |exchange: &&Exchange| {
            exchange.fits(request) && exchange.since.as_ref().is_none_or(begun)
        };
        exchanges.iter().rfind(holds).cloned()
    }

    /// What all processes of this server say to everybody, a message a line.
    fn said(&self) -> PathBuf {
        self.record.with_extension("all")
    }

    /// Says what any process of this server has to say to everybody, to those who listen here. Runs until it is dropped.
    pub async fn follow(&self) {
        let lines = || fs::read_to_string(self.said()).unwrap_or_default();
        let mut told = lines().lines().count();
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let text = lines();
            // A line that is not whole yet comes later.
            let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
            for line in whole.lines().skip(told) {
                told += 1;
                let Ok(message) = Exact::parse(line) else { continue };
                for (text, stream) in self.concerned(&message) {
                    // Who is gone needs nothing.
                    drop(stream.send(text).await);
                }
            }
        }
    }

    /// A subscription: it is granted as it was asked for.
    fn subscribed(&self, request: &Exact) -> Result<Answer> {
        let (sender, receiver) = mpsc::channel(32);
        let id = request.at(&["id"]).context("no id")?.clone();
        let filter = request.at(&["params", "notifications"]).context("no filter")?.clone();
        let granted = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"{SUBSCRIPTION}":{id}}},"notifications":{filter}}}}}"#
        );
        sender.try_send(granted)?;
        self.state().listens.push((filter, id, sender));
        Ok(Answer::Stream(receiver))
    }

    /// Whom a message to all concerns: the message as each gets it.
    fn concerned(&self, message: &Exact) -> Vec<(String, mpsc::Sender<String>)> {
        let state = self.state();
        let to_sessions = state.own.values().map(|stream| (message.to_string(), stream.clone()));
        let concerned = state.listens.iter().filter(|(filter, ..)| concerns(filter, message));
        let to_listens = concerned.map(|(_, id, stream)| {
            let mut message = message.clone();
            if let Some(meta) = message.at_mut(&["params", "_meta"]) {
                meta.set(SUBSCRIPTION, id.clone());
            }
            (message.to_string(), stream.clone())
        });
        to_sessions.chain(to_listens).collect()
    }
}

/// Whether a subscription is about what the message says.
fn concerns(filter: &Exact, message: &Exact) -> bool {
    let lists = |key: &str| filter.at(&[key]).is_some_and(|on| *on == Exact::Token("true".into()));
    let names = |key: &str, value: &str| {
        let value = message.at(&["params", value]);
        filter.at(&[key]).is_some_and(|all| all.items().iter().any(|one| Some(one) == value))
    };
    match message.method().unwrap_or_default() {
        "notifications/tools/list_changed" => lists("toolsListChanged"),
        "notifications/prompts/list_changed" => lists("promptsListChanged"),
        "notifications/resources/list_changed" => lists("resourcesListChanged"),
        "notifications/resources/updated" => names("resourceSubscriptions", "uri"),
        "notifications/tasks" => names("taskIds", "taskId"),
        // Of another extension: the member of the same name asks for it.
        other => {
            let name = other.strip_prefix("notifications/").unwrap_or_default();
            filter.at(&[name]).is_some()
        }
    }
}

/// One more line of a file.
fn append(path: &PathBuf, message: &Exact) -> Result<()> {
    let mut file = File::options().create(true).append(true).open(path)?;
    Ok(file.write_all(format!("{message}\n").as_bytes())?)
}

fn unrecorded(request: &Exact) -> Answer {
    let id = request.at(&["id"]).map(Exact::to_string).unwrap_or_default();
    let rest = match request.method() {
        Some("ping") => r#""result":{}"#.to_owned(),
        _ => r#""error":{"code":-32601,"message":"This is not recorded."}"#.to_owned(),
    };
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#);
    Answer::Whole(Exact::parse(&text).unwrap_or(Exact::Token("null".to_owned())))
}

impl Run {
    async fn go(&self, call: &mpsc::Sender<String>) -> Result<()> {
        for step in self.exchange.steps.iter().skip(1) {
            match step {
                Step::Client(expected) => tokio::select! {
                    came = self.until(expected) => came?,
                    () = call.closed() => return self.left(),
                },
                // Who is gone needs nothing.
                Step::Server(message) => drop(call.send(self.own_ids(message).to_string()).await),
                Step::Own(message) => {
                    let stream = || self.replay.state().own.get(&self.session).cloned();
                    let open = wait::until("a stream of the session", BOUND, async || Ok(stream()));
                    drop(open.await?.send(message.to_string()).await);
                }
                Step::All(message) => append(&self.replay.said(), message)?,
            }
        }
        Ok(())
    }

    /// The client closed the stream of the call, which is told by a line of the record.
    fn left(&self) -> Result<()> {
        let id = self.request.at(&["id"]).map(Exact::to_string).unwrap_or_default();
        let line = format!(r#"{{"method":"replay/closed","params":{{"requestId":{id}}}}}"#);
        append(&self.replay.record, &Exact::parse(&line)?)
    }

    /// Waits for a message of the client: an answer with this id, or a notification of this method.
    async fn until(&self, expected: &Exact) -> Result<()> {
        let is_it = |message: &Exact| match expected.method() {
            Some(method) => message.method() == Some(method),
            None => message.method().is_none() && message.at(&["id"]) == expected.at(&["id"]),
        };
        wait::until(&format!("{expected} from the client"), BOUND, async || {
            let state = self.replay.state();
            Ok(state.seen.iter().skip(self.since).any(is_it).then_some(()))
        })
        .await
    }

    /// A message with the id and the token of this request in the place of those that were recorded.
    fn own_ids(&self, message: &Exact) -> Exact {
        let mut message = message.clone();
        let recorded = |path: &[&str]| self.exchange.first().and_then(|first| first.at(path));
        let places: [(&[&str], &[&str]); 2] = [
            (&["id"], &["id"]),
            (&["params", "progressToken"], &["params", "_meta", "progressToken"]),
        ];
        for (place, source) in places {
            if message.method().is_some() && place == ["id"] {
                continue;
            }
            if let (Some(value), Some(own)) = (message.at_mut(place), self.request.at(source))
                && Some(&*value) == recorded(source)
            {
                *value = own.clone();
            }
        }
        message
    }
}
