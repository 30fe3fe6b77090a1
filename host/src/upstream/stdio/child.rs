//! One running server process.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::channel;
use super::opening::{Opening, introduce};
use super::places::Place;
use super::process::Process;
use super::pumps::{self, Pipes};
use super::replies::Replies;
use super::routes::{Receipt, Routes, TooLong};
use super::tasks::Tasks;
use crate::pipeline::party::Party;
use crate::pipeline::port::Promise;
use crate::protocol::{Era, Message, Method};
use crate::upstream::authored::request;
use crate::upstream::failure::Failure;
use crate::upstream::greeting::Greeting;
use crate::upstream::http::{Channel, Endpoint};
use crate::upstream::limits::{LINE, Limits, PAGE, WRITE_QUEUE};
use crate::upstream::renew::{Line, Told};
use crate::upstream::settings::{Asks, Command};
use crate::upstream::status::Status;

/// What every child of an upstream has in common.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: Arc<str>,
    pub(super) means: Means,
    /// What the server may ask of clients; nothing where they share a child, to which none of them is introduced.
    pub(super) asks: Asks,
    pub(super) limits: Limits,
    pub(super) status: Arc<Status>,
    pub(super) tracker: TaskTracker,
    /// How often children told that lists changed, or plugway's own was started.
    pub(super) told: AtomicU64,
}

/// Whom a child serves.
#[derive(Clone, Debug)]
pub(super) enum Serves {
    /// This party.
    Party(Arc<Party>),
    /// Nobody in particular.
    Anybody,
    /// Nobody: a catalogue is read over it, and what it says of itself is no news.
    Reading,
}

impl Serves {
    /// Who hears what belongs to no call.
    pub(super) fn party(&self) -> Option<&Arc<Party>> {
        match self {
            Self::Party(party) => Some(party),
            Self::Anybody | Self::Reading => None,
        }
    }
}

/// How the other end of a child is reached.
#[derive(Debug)]
pub(in crate::upstream) enum Means {
    /// A process of its own.
    Process(Command),
    /// A channel of HTTP+SSE to a server that runs elsewhere.
    Channel(Arc<Endpoint>),
}

enum Started {
    Process(Process),
    Channel(Channel),
}

/// A process that was started and introduced, or a channel that was opened and introduced. It ends with [`Child::stop`], or when nobody holds it any more.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) spec: Arc<Spec>,
    pub(super) routes: Arc<Routes>,
    pub(super) writer: mpsc::Sender<Bytes>,
    /// The era that it is spoken to in.
    pub(super) era: Era,
    /// What it said of itself; none for a modern one that was not asked.
    pub(super) greeting: Option<Greeting>,
    /// What it goes on with.
    pub(super) tasks: Tasks,
    /// The level that it was told.
    told: Told,
    stop: CancellationToken,
    gone: watch::Receiver<bool>,
}

impl Child {
    /// Starts a process and introduces whom it serves. `place` is given back when the process has ended.
    pub(super) async fn start(
        spec: Arc<Spec>,
        opening: Opening,
        serves: Serves,
        place: Place,
    ) -> Result<Self, Failure> {
        let started = match &spec.means {
            Means::Process(command) => Started::Process(spawn(&spec.name, command)?),
            Means::Channel(endpoint) => Started::Channel(Channel::open(endpoint).await?),
        };
        let (writer, queue) = mpsc::channel(WRITE_QUEUE);
        let (gone_sender, gone) = watch::channel(false);
        let routes = Arc::new(Routes::new(Arc::clone(&spec.name)));
        let stop = CancellationToken::new();
        let pipes = Pipes {
            spec: Arc::clone(&spec),
            routes: Arc::clone(&routes),
            stop: stop.clone(),
            serves,
            replies: Replies::new(&spec, &writer),
        };
        let end = (gone_sender, place);
        match started {
            Started::Process(process) => pumps::run(pipes, process, queue, end),
            Started::Channel(channel) => channel::run(pipes, channel, queue, end),
        }
        let (era, greeting, told) = (Era::Legacy, None, Told::default());
        let tasks = Tasks::default();
        let mut child = Self { spec, routes, writer, era, greeting, tasks, told, stop, gone };
        match introduce(&mut child, opening).await {
            Ok(()) => Ok(child),
            Err(failure) if child.is_gone() && !failure.refuses_handshake() => {
                let why = match &child.spec.means {
                    Means::Process(_) => {
                        "the process ended while it started; what it wrote is in the log"
                    }
                    Means::Channel(_) => "it ended the stream while it was introduced",
                };
                Err(Failure::unavailable(&child.spec.name).because(why))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Whether it takes no requests any more.
    pub(super) fn is_gone(&self) -> bool {
        self.routes.is_closed() || self.stop.is_cancelled()
    }

    /// Waits until the process takes no requests any more.
    pub(super) async fn ended(&self) {
        let mut gone = self.gone.clone();
        tokio::select! {
            () = self.stop.cancelled() => {}
            _ = gone.wait_for(|gone| *gone) => {}
        }
    }

    /// Ends the process: its input is closed, and what does not end by itself is made to.
    pub(super) async fn stop(&self) {
        self.routes.close();
        self.stop.cancel();
        let mut gone = self.gone.clone();
        // An error means that the task that watched the process is gone, and the process with it.
        gone.wait_for(|gone| *gone).await.ok();
    }

    /// Stops the process if nobody used it for so long, and it has no task for which somebody may ask; says whether it did.
    pub(super) fn retire(&self, idle: Duration) -> bool {
        if self.tasks.any(std::time::Instant::now()) && !self.is_gone() {
            return false;
        }
        let retired = self.routes.retire(idle);
        if retired {
            self.stop.cancel();
        }
        retired
    }

    /// The failure of a call whose child ended.
    pub(super) fn crashed(&self) -> Failure {
        Failure::broken(&self.spec.name, "ended before it answered")
    }

    /// The failure of a call whose answer is longer than a line may be.
    pub(super) fn oversized(&self) -> Failure {
        Failure::too_large(&self.spec.name, LINE)
    }

    /// Writes a message, waiting for its turn until `deadline`.
    pub(super) async fn write(&self, text: Bytes, deadline: Instant) -> Result<(), Failure> {
        match timeout_at(deadline, self.writer.send(text)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_closed)) => Err(self.crashed()),
            Err(_elapsed) => Err(Failure::crowded(&self.spec.name)),
        }
    }

    /// Asks a question of plugway's own. `text` is given the number of the request.
    pub(super) async fn ask(
        &self,
        text: impl FnOnce(u64) -> Bytes,
        limit: Duration,
    ) -> Result<Message, Failure> {
        let deadline = Instant::now() + limit;
        let Ok((number, Receipt { notes: _notes, done })) = self.routes.open(None) else {
            return Err(self.crashed());
        };
        let answer = async {
            self.write(text(number), deadline).await?;
            match timeout_at(deadline, done).await {
                Ok(Ok(Err(TooLong))) => Err(self.oversized()),
                Ok(Ok(Ok(text))) => Message::parse(text).map_err(|error| {
                    Failure::broken(&self.spec.name, "answered what is not MCP").because(error)
                }),
                Ok(Err(_closed)) => Err(self.crashed()),
                Err(_elapsed) => Err(Failure::timeout(&self.spec.name, limit)),
            }
        }
        .await;
        self.routes.forget(number);
        answer
    }
}

fn spawn(name: &str, command: &Command) -> Result<Process, Failure> {
    Process::spawn(command).map_err(|error| {
        let why = match &command.directory {
            Some(directory) if !directory.is_dir() => {
                format!("the working directory {} does not exist", directory.display())
            }
            _ => format!("the supervisor does not start: {error}"),
        };
        Failure::unavailable(name).because(why)
    })
}

impl Spec {
    /// The failure of whoever comes when all are in use.
    pub(super) fn full(&self) -> Failure {
        match &self.means {
            Means::Process(_) => Failure::children(&self.name, self.limits.children),
            Means::Channel(_) => Failure::sessions(&self.name, self.limits.children),
        }
    }
}

impl Line for Child {
    fn server(&self) -> &str {
        &self.spec.name
    }

    fn capabilities(&self) -> &str {
        self.greeting.as_ref().map_or("{}", |greeting| &greeting.capabilities)
    }

    fn told(&self) -> &Told {
        &self.told
    }

    fn patience(&self) -> Duration {
        self.spec.limits.open
    }

    fn ask(&self, method: Method, params: String) -> Promise<'_, Result<Message, Failure>> {
        let text = move |number| request(number, method.as_str(), &params);
        Box::pin(self.ask(text, PAGE))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
