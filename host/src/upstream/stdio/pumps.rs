//! The tasks around the pipes of one child.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use bytes::Bytes;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::child::{Serves, Spec};
use super::lines::{Line, Lines};
use super::oversized::{Skipped, skipped};
use super::places::Place;
use super::process::Process;
use super::replies::Replies;
use super::routes::{InFlight, Routes};
use crate::pipeline::port::{Ask, AskReply, Incoming, Notification};
use crate::protocol::lines::{Ends, one_line};
use crate::protocol::{Field, Kind, Message, Method};
use crate::upstream::batch;
use crate::upstream::limits::{
    CANDIDATES, CHILD_GRACE, LAST_LINES, LINE, LOG_LINE, LOG_LINES, LOG_WINDOW, SUPERVISOR_GRACE,
};
use crate::upstream::peek::Peek;
use crate::upstream::permission::Permission;
use crate::upstream::status::Status;

/// What the tasks share.
pub(super) struct Pipes {
    pub(super) spec: Arc<Spec>,
    pub(super) routes: Arc<Routes>,
    pub(super) stop: CancellationToken,
    pub(super) serves: Serves,
    pub(super) replies: Replies,
}

/// Starts the tasks. The last one to end reports that the process is gone and gives its place back.
pub(super) fn run(
    pipes: Pipes,
    mut process: Process,
    queue: mpsc::Receiver<Bytes>,
    end: (watch::Sender<bool>, Place),
) {
    let tracker = pipes.spec.tracker.clone();
    let (stop, routes) = (pipes.stop.clone(), Arc::clone(&pipes.routes));
    let name = Arc::clone(&pipes.spec.name);
    let counted = pipes.spec.status.tally.child();
    let (stdin, stdout, stderr) = process.pipes();
    if let Some(stdin) = stdin {
        drop(tracker.spawn(write(stdin, queue, stop.clone())));
    }
    if let Some(stderr) = stderr {
        drop(tracker.spawn(log(stderr, Arc::clone(&pipes.spec.status))));
    }
    let reading = tracker.spawn(async move {
        if let Some(stdout) = stdout {
            pipes.read(stdout).await;
        }
        pipes.routes.close();
        pipes.stop.cancel();
    });
    drop(tracker.spawn(async move {
        let code = wait(process, &stop).await;
        if timeout(LAST_LINES, reading).await.is_err() {
            tracing::debug!(upstream = &*name, "the output of an ended process stays open");
        }
        stop.cancel();
        routes.close();
        tracing::debug!(upstream = &*name, ?code, "child ended");
        drop(counted);
        end.0.send_replace(true);
        drop(end);
    }));
}

/// Waits for the end of the process, which is the end of everything that it started.
async fn wait(mut process: Process, stop: &CancellationToken) -> Option<i32> {
    let ended = tokio::select! {
        ended = process.wait() => Some(ended),
        () = stop.cancelled() => timeout(CHILD_GRACE, process.wait()).await.ok(),
    };
    if let Some(ended) = ended {
        return ended.ok()?.code();
    }
    process.ask_to_end();
    if let Ok(ended) = timeout(SUPERVISOR_GRACE, process.wait()).await {
        return ended.ok()?.code();
    }
    process.kill().await.ok()?;
    None
}

async fn write(mut stdin: ChildStdin, mut queue: mpsc::Receiver<Bytes>, stop: CancellationToken) {
    let pump = async {
        while let Some(text) = queue.recv().await {
            if stdin.write_all(&one_line(&text)).await.is_err() {
                return;
            }
        }
    };
    stop.run_until_cancelled(pump).await;
}

impl Pipes {
    async fn read(&self, stdout: ChildStdout) {
        let mut lines = Lines::new(stdout, LINE);
        let mut strange = Quota::new();
        loop {
            match lines.next().await {
                Ok(Some(Line::Text(line))) => {
                    self.room().await;
                    let mut messages = batch::split(line);
                    if !messages.all(|message| self.line(&message)) && strange.take() {
                        let upstream = &*self.spec.name;
                        tracing::warn!(
                            upstream,
                            "skipped a line of standard output that is no message"
                        );
                    }
                }
                Ok(Some(Line::TooLong(ends))) if !self.too_long(&ends) => return,
                Ok(Some(Line::TooLong(_))) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// A line was too long to be taken, and was skipped; false when it may be what a call waits for and nobody knows which.
    fn too_long(&self, ends: &Ends) -> bool {
        let (upstream, limit) = (&*self.spec.name, LINE);
        match skipped(ends) {
            Skipped::Answer(number) => {
                tracing::warn!(upstream, limit, "an answer is too long and was skipped");
                self.routes.too_long(number);
                true
            }
            Skipped::Told => {
                tracing::warn!(upstream, limit, "a message is too long and was skipped");
                true
            }
            Skipped::Unknown => {
                let what = "a line is too long, and not known what it is: the child is ended";
                tracing::error!(upstream, limit, "{what}");
                false
            }
        }
    }

    /// Waits for a client that reads slower than its own child writes; nobody waits for one of several that share a child.
    pub(super) async fn room(&self) {
        if self.serves.party().is_some() {
            self.routes.room().await;
        }
    }

    /// Takes one line; false when it is no message.
    pub(super) fn line(&self, line: &Bytes) -> bool {
        if line.iter().all(u8::is_ascii_whitespace) {
            return true;
        }
        let Ok(peek) = Peek::read(line) else { return false };
        match peek.kind() {
            Some(Kind::Response) => {
                let (Some(id), Some(span)) = (peek.id(), peek.id_span(line)) else { return false };
                self.routes.response(line.clone(), id, span);
                true
            }
            Some(Kind::Notification) => {
                self.note(line);
                true
            }
            Some(Kind::Request) => {
                self.ask(line);
                true
            }
            None => false,
        }
    }

    /// Hands a request on with the newest call whose client may be asked, or by itself where no call is in flight. What nobody
    /// takes is refused.
    fn ask(&self, line: &Bytes) {
        let name = &self.spec.name;
        let (newest, asked) = self.asked(line);
        let asked = match asked {
            Ok(asked) => asked,
            Err(response) => return self.replies.send(response),
        };
        let Some(id) = asked.id().cloned() else { return };
        let (upstream, replies) = (Arc::clone(name), self.replies.clone());
        let take = move |response: Message| replies.send(response.text().clone());
        let reply = AskReply::new(id.clone(), take);
        let ask = Incoming::Ask(Ask { upstream, message: asked, reply });
        if let Some(call) = &newest {
            self.routes.asks(call, id);
        }
        if let Some(ask) = with(newest, ask) {
            self.unasked(ask);
        }
    }

    /// A request as a client gets it, and the call with which it goes; or what the server is told instead.
    fn asked(&self, line: &Bytes) -> (Option<InFlight>, Result<Message, Bytes>) {
        let mut refusal = None;
        // Requests of a modern client may declare different things: it is the newest that may be asked this.
        for call in self.routes.in_flight().into_iter().take(CANDIDATES) {
            match call.permission.prepare(line) {
                Ok(asked) => return (Some(call), Ok(asked)),
                Err(response) => refusal = refusal.or(Some(response)),
            }
        }
        let alone = || match self.serves.party() {
            Some(party) => Permission::of(&self.spec.name, self.spec.asks, party),
            None => Permission::nothing(&self.spec.name),
        };
        (None, refusal.map_or_else(|| alone().prepare(line), Err))
    }

    /// Hands on what belongs to no call; false when nobody takes it.
    fn unasked(&self, message: Incoming) -> bool {
        self.serves.party().is_some_and(|party| party.outbox.forward(message))
    }

    fn note(&self, line: &Bytes) {
        let Ok(note) = Message::parse(line.clone()) else { return };
        let taken = match note.method() {
            Method::Progress => self.routes.progress(&note),
            Method::Cancelled if self.routes.unsubscribed(&note) => true,
            // Clients hear of it from plugway itself, once the merged list really differs.
            Method::ToolsListChanged
            | Method::PromptsListChanged
            | Method::ResourcesListChanged => {
                if !matches!(self.serves, Serves::Reading) {
                    self.spec.told.fetch_add(1, Ordering::Relaxed);
                    self.spec.status.bell.changed();
                }
                true
            }
            _ if note.field(Field::MetaSubscriptionId).is_some() => self.routes.subscribed(&note),
            method => {
                let upstream = Arc::clone(&self.spec.name);
                let message = Incoming::Notification(Notification { upstream, text: line.clone() });
                let message = match method {
                    // Of what nobody knows, the call that may have caused it is the best guess.
                    Method::Message | Method::Other => with(self.routes.newest(), message),
                    Method::Cancelled => with(self.routes.asked(&note), message),
                    _ => Some(message),
                };
                message.is_none_or(|message| self.unasked(message))
            }
        };
        if !taken {
            tracing::trace!(upstream = &*self.spec.name, "a notification for nobody");
        }
    }
}

/// Hands a message on with a call; gives it back where there is none.
fn with(call: Option<InFlight>, message: Incoming) -> Option<Incoming> {
    match call {
        Some(call) => call.send(message),
        None => Some(message),
    }
}

async fn log(stderr: ChildStderr, status: Arc<Status>) {
    let mut lines = Lines::new(stderr, LINE);
    let mut quota = Quota::new();
    while let Ok(Some(line)) = lines.next().await {
        let Line::Text(line) = line else { continue };
        if quota.take() {
            let shown = line.get(..LOG_LINE).unwrap_or(&line);
            let line = String::from_utf8_lossy(shown);
            let (connector, upstream) = (&**status.connector(), &**status.name());
            tracing::info!(connector, upstream, line = &*line, "child");
        }
    }
}

/// How many lines may be logged in a while.
struct Quota {
    since: Instant,
    taken: u32,
}

impl Quota {
    fn new() -> Self {
        Self { since: Instant::now(), taken: 0 }
    }

    fn take(&mut self) -> bool {
        if self.since.elapsed() > LOG_WINDOW {
            if self.taken > LOG_LINES {
                tracing::info!(
                    left_out = self.taken - LOG_LINES,
                    "lines of a child were not logged"
                );
            }
            *self = Self::new();
        }
        self.taken += 1;
        self.taken <= LOG_LINES
    }
}
