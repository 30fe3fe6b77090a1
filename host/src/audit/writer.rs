//! The thread that writes: takes what waits, ties it together, and writes whole lines, many at once. What cannot be written
//! is kept and tried again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use sha2::{Digest as _, Sha256};

use super::chain::{Chain, tied};
use super::copy::{Copy, count};
use super::file::AuditFile;
use super::line::Line;
use super::pour;
use super::queue::{Queue, Turn, now};
use crate::hex::hex;

/// Bytes of whole lines that are written at once, and between which a file is rotated.
pub(super) const BATCH: usize = 256 * 1024;
/// The time until what could not be written is tried again.
pub(super) const AGAIN: Duration = Duration::from_secs(1);
/// How often the log says that nothing can be written.
pub(super) const TOLD: Duration = Duration::from_mins(1);
/// The longest rest of the thread.
pub(super) const REST: Duration = Duration::from_mins(1);

/// Where lines go.
#[derive(Debug)]
pub(super) struct Outputs {
    pub(super) file: Option<AuditFile>,
    pub(super) stdout: bool,
}

/// Writes what comes out of a queue.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Arc<Queue>,
    /// None = standard output takes its place.
    file: Option<AuditFile>,
    /// Standard output beside a file.
    copy: Option<Copy>,
    chain: Option<Chain>,
    /// Lines that are ready to be written; so many bytes of them were.
    ready: Vec<u8>,
    done: usize,
    told: Option<Instant>,
}

impl Writer {
    /// Looks at how the file ends: a chain goes on there, and what was torn is closed off.
    pub(super) fn new(
        queue: Arc<Queue>,
        outputs: Outputs,
        chain: Option<Chain>,
    ) -> io::Result<Self> {
        let Outputs { file, stdout } = outputs;
        let copy = (file.is_some() && stdout).then(Copy::default);
        let mut writer = Self { queue, file, copy, chain, ready: Vec::new(), done: 0, told: None };
        let Some(file) = &mut writer.file else { return Ok(writer) };
        let mut tail = file.tail()?;
        if let Some(chain) = &mut writer.chain {
            match tied(&tail.line) {
                Some(last) => (chain.seq, chain.last) = (last.seq, last.hash),
                None if tail.line.is_empty() && tail.torn.is_empty() => {}
                // A chain does not begin in the middle of a file.
                None => {
                    if !tail.before {
                        file.rotate()?;
                    }
                    tail.torn.clear();
                }
            }
            tracing::info!(seq = chain.seq, hash = %hex(&chain.last), "the chain of the audit goes on");
        }
        if !tail.torn.is_empty() {
            // What is torn in the file before this one has its end there.
            if !tail.before {
                file.append(b"\n")?;
            }
            let mut line = Vec::new();
            let mut told = Line::begin(&mut line);
            told.moment("time", SystemTime::now());
            told.text("kind", "torn");
            told.number("bytes", tail.torn.len() as u64);
            told.hex("sha256", &Sha256::digest(&tail.torn));
            told.end();
            writer.seal(&line);
        }
        Ok(writer)
    }

    /// Writes until the queue is closed and empty.
    pub(super) fn run(mut self) {
        let _over = Over(self.queue.clone());
        let mut fresh = Vec::new();
        loop {
            let copying = self.copy.as_ref().is_some_and(Copy::waits);
            let turn = self.queue.take(&mut fresh, if copying { AGAIN } else { REST });
            if turn.reopen {
                self.reopen();
            }
            self.tell_lost();
            self.seal(&fresh);
            let nothing_left = turn.closed && fresh.is_empty();
            fresh.clear();
            if !self.written() || nothing_left {
                break;
            }
        }
        self.end();
    }

    /// Writes what is ready, as often as it takes; false where plugway ends before that.
    fn written(&mut self) -> bool {
        self.queue.held.store(count(&self.ready), Ordering::Relaxed);
        self.queue.begin();
        loop {
            let result = self.write();
            if let Some(copy) = &mut self.copy {
                copy.write(&self.queue);
            }
            // A pipe that takes nothing was waited for.
            let pause = match result {
                Ok(()) => {
                    self.queue.held.store(0, Ordering::Relaxed);
                    if self.queue.done() || self.queue.is_told() {
                        tracing::info!("the audit can be written again");
                        self.queue.set_trouble(None);
                    }
                    return true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Duration::ZERO,
                Err(error) => {
                    self.tell(&error);
                    AGAIN
                }
            };
            let Turn { reopen, closed } = self.queue.pause(pause);
            if reopen {
                self.reopen();
            }
            if closed && self.write().is_err() {
                return false;
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        while let Some(batch) = next(&self.ready, self.done) {
            let (taken, result) = match &mut self.file {
                Some(file) => file.write(batch, AGAIN),
                None => pour::stdout(batch, AGAIN),
            };
            self.done += taken;
            result?;
        }
        self.ready.clear();
        self.done = 0;
        Ok(())
    }

    fn reopen(&mut self) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.reopen() {
            tracing::error!(%error, "the file of the audit cannot be opened again");
        }
    }

    /// Once it works again, how many lines are missing.
    fn tell_lost(&mut self) {
        let count = self.queue.untold();
        if count == 0 {
            return;
        }
        let mut line = Vec::new();
        let mut told = Line::begin(&mut line);
        told.moment("time", SystemTime::now());
        told.text("kind", "lost");
        told.number("count", count);
        told.end();
        self.seal(&line);
    }

    /// Makes lines ready, each tied to the one before it where there is a chain.
    fn seal(&mut self, lines: &[u8]) {
        let begin = self.ready.len();
        if let Some(chain) = &mut self.chain {
            let mut rest = lines;
            while let Some(at) = memchr::memchr(b'\n', rest) {
                let (line, after) = rest.split_at_checked(at).unwrap_or((rest, &[]));
                chain.seal(line, &mut self.ready);
                rest = after.get(1..).unwrap_or_default();
            }
        } else {
            self.ready.extend_from_slice(lines);
        }
        if let Some(copy) = &mut self.copy {
            copy.add(self.ready.get(begin..).unwrap_or_default(), &self.queue);
        }
    }

    fn tell(&mut self, error: &io::Error) {
        self.queue.set_trouble(Some(format!("the audit cannot be written: {error}")));
        let now = now();
        if self.told.is_none_or(|told| now.saturating_duration_since(told) >= TOLD) {
            self.told = Some(now);
            tracing::error!(%error, "the audit cannot be written; its lines wait");
        }
    }

    fn end(mut self) {
        let synced = self.file.as_ref().map_or(Ok(()), AuditFile::sync);
        let mut waiting = Vec::new();
        self.queue.take(&mut waiting, Duration::ZERO);
        let left = count(self.ready.get(self.done..).unwrap_or_default()) + count(&waiting);
        if let Some(copy) = &mut self.copy {
            copy.end(&self.queue);
        }
        if let Err(error) = synced {
            tracing::error!(%error, "the end of the audit may not be on the disk");
        }
        if left > 0 {
            self.queue.lose_many(left);
            tracing::error!(lines = left, "the audit ends without lines that could not be written");
        } else if let Some(chain) = &self.chain {
            tracing::info!(seq = chain.seq, hash = %hex(&chain.last), "the chain of the audit ends");
        }
    }
}

/// Says that the thread ends, however that comes.
struct Over(Arc<Queue>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.set_over();
    }
}

/// Whole lines from here on, as many as are written at once.
fn next(ready: &[u8], from: usize) -> Option<&[u8]> {
    let rest = ready.get(from..).filter(|rest| !rest.is_empty())?;
    if rest.len() <= BATCH {
        return Some(rest);
    }
    let first = rest.get(..BATCH)?;
    // A line that is longer than that goes by itself.
    let end = memchr::memrchr(b'\n', first).or_else(|| memchr::memchr(b'\n', rest));
    rest.get(..end.map_or(rest.len(), |end| end + 1))
}
