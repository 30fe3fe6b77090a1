//! The copy of the lines on standard output, where there is a file, too: it may fail or stand still without any harm to the
//! file. What it does not take is kept within a bound, and lost for it alone.

use std::io;
use std::time::{Duration, Instant};

use super::pour;
use super::queue::{MAX_BYTES, Queue, ROOM, now};
use super::writer::TOLD;

/// How long the file waits for standard output that takes nothing.
const PATIENCE: Duration = Duration::from_millis(50);

/// Lines for standard output.
#[derive(Debug, Default)]
pub(super) struct Copy {
    /// Lines, from within one of them on where a part of it was taken.
    bytes: Vec<u8>,
    /// Since when it takes nothing.
    stands: Option<Instant>,
    failing: bool,
    told: Option<Instant>,
}

impl Copy {
    /// Takes whole lines; those that find no room are lost.
    pub(super) fn add(&mut self, lines: &[u8], queue: &Queue) {
        if self.bytes.len() + lines.len() <= MAX_BYTES {
            self.bytes.extend_from_slice(lines);
        } else {
            queue.lose_copies(count(lines));
        }
    }

    /// Whether it has something to give.
    pub(super) fn waits(&self) -> bool {
        !self.bytes.is_empty()
    }

    /// Gives as much as standard output takes.
    pub(super) fn write(&mut self, queue: &Queue) {
        if self.bytes.is_empty() {
            return;
        }
        let patience = if self.stands.is_some() { Duration::ZERO } else { PATIENCE };
        let (taken, result) = pour::stdout(&self.bytes, patience);
        self.bytes.drain(..taken);
        if taken > 0 {
            self.stands = None;
        }
        match result {
            Ok(()) => {
                if std::mem::take(&mut self.failing) {
                    queue.set_copy_trouble(None);
                    tracing::info!("standard output takes the audit again");
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let since = *self.stands.get_or_insert_with(now);
                if since.elapsed() >= ROOM {
                    self.fail("it takes nothing", queue);
                }
            }
            Err(error) => {
                self.fail(&error.to_string(), queue);
                // Nobody is there any more: there is nothing to wait for.
                if error.kind() == io::ErrorKind::BrokenPipe {
                    queue.lose_copies(count(&self.bytes));
                    self.bytes.clear();
                }
            }
        }
    }

    fn fail(&mut self, why: &str, queue: &Queue) {
        self.failing = true;
        queue.set_copy_trouble(Some(format!(
            "the copy of the audit on standard output cannot be written: {why}"
        )));
        if self.told.is_none_or(|told| told.elapsed() >= TOLD) {
            self.told = Some(now());
            tracing::error!(
                why,
                "the copy of the audit on standard output cannot be written; its file goes on"
            );
        }
    }

    /// Nothing follows: what it did not take is lost.
    pub(super) fn end(&mut self, queue: &Queue) {
        self.write(queue);
        let left = count(&self.bytes);
        if left > 0 {
            queue.lose_copies(left);
            tracing::error!(lines = left, "standard output did not take the end of the audit");
        }
    }
}

/// Whole lines among bytes.
pub(super) fn count(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
