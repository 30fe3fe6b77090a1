//! The tasks around the pipes of one child.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::child::Spec;
use super::lines::{Line, Lines};
use super::process::Process;
use super::routes::Routes;
use crate::pipeline::party::Outbox;
use crate::pipeline::port::{Incoming, Notification};
use crate::protocol::lines::one_line;
use crate::protocol::{Kind, Message, Method};
use crate::upstream::authored;
use crate::upstream::limits::{
    CHILD_GRACE, LAST_LINES, LINE, LOG_LINE, LOG_LINES, LOG_WINDOW, SUPERVISOR_GRACE,
};
use crate::upstream::peek::Peek;
use crate::upstream::status::Status;

/// What the tasks share.
pub(super) struct Pipes {
    pub(super) spec: Arc<Spec>,
    pub(super) routes: Arc<Routes>,
    pub(super) stop: CancellationToken,
    /// Takes notifications that belong to no call.
    pub(super) outbox: Arc<dyn Outbox>,
    /// Takes plugway's answers to requests of the server.
    pub(super) replies: mpsc::WeakSender<Bytes>,
}

/// Starts the tasks. The last one to end reports that the process is gone and gives its permit back.
pub(super) fn run(
    pipes: Pipes,
    mut process: Process,
    queue: mpsc::Receiver<Bytes>,
    end: (watch::Sender<bool>, OwnedSemaphorePermit),
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
                    if !self.line(&line) && strange.take() {
                        let upstream = &*self.spec.name;
                        tracing::warn!(
                            upstream,
                            "skipped a line of standard output that is no message"
                        );
                    }
                }
                Ok(Some(Line::TooLong)) => {
                    let upstream = &*self.spec.name;
                    tracing::error!(
                        upstream,
                        limit = LINE,
                        "a line is too long; the child is ended"
                    );
                    return;
                }
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Takes one line; false when it is no message.
    fn line(&self, line: &Bytes) -> bool {
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
                let (method, id) = (peek.method(), peek.id().unwrap_or("null"));
                if method != Method::Ping.as_str() {
                    let upstream = &*self.spec.name;
                    tracing::debug!(upstream, method, "refused a server's request");
                }
                let reply = authored::reply(id, method);
                let sent =
                    self.replies.upgrade().is_some_and(|queue| queue.try_send(reply).is_ok());
                if !sent {
                    tracing::debug!(upstream = &*self.spec.name, "no room for an answer");
                }
                true
            }
            None => false,
        }
    }

    fn note(&self, line: &Bytes) {
        let Ok(note) = Message::parse(line.clone()) else { return };
        let taken = match note.method() {
            Method::Progress => self.routes.progress(&note),
            // Clients hear of it from plugway itself, once the merged list really differs.
            Method::ToolsListChanged
            | Method::PromptsListChanged
            | Method::ResourcesListChanged => {
                self.spec.status.bell.changed();
                true
            }
            _ => {
                let upstream = Arc::clone(&self.spec.name);
                let note = Notification { upstream, text: line.clone() };
                self.outbox.forward(Incoming::Notification(note))
            }
        };
        if !taken {
            tracing::trace!(upstream = &*self.spec.name, "a notification for nobody");
        }
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
