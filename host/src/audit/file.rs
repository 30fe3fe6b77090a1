//! The files of the audit: the only module that opens, rotates and reads them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::pour::Poured;
use super::queue::now;
use super::time;
use super::writer::{AGAIN, TOLD};
use crate::config::AuditRotation;

/// Bytes at the end of a file in which its last line is looked for.
const TAIL: u64 = 256 * 1024;

/// Why the audit cannot be written from the start on.
#[derive(Debug, thiserror::Error)]
pub enum AuditFileError {
    /// The file cannot be opened.
    #[error("the audit cannot be written to {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Somebody else writes it.
    #[error("the audit cannot be written to {}: another process writes it", path.display())]
    Taken {
        /// The file.
        path: PathBuf,
    },
    /// The system gives no thread, or no randomness.
    #[error("the audit cannot be written: {0}")]
    System(String),
}

/// A file that lines are added to.
#[derive(Debug)]
pub(super) struct AuditFile {
    path: PathBuf,
    rotation: AuditRotation,
    file: File,
    size: u64,
    day: u64,
    /// Whether it is a file as others are: a device has no length, and is not rotated.
    regular: bool,
    /// When the log was last told that it cannot be put aside.
    told: Option<Instant>,
    /// When that was last tried in vain.
    tried: Option<Instant>,
}

/// The end of a file as it was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tail {
    /// The last line that was ended, without its end; empty where there is none.
    pub(super) line: Vec<u8>,
    /// What stands behind it: a line that was never ended.
    pub(super) torn: Vec<u8>,
    /// Whether all of that stands in the file before this one, which is empty.
    pub(super) before: bool,
}

impl AuditFile {
    /// Opens a file, which is made for its owner alone where it does not exist.
    pub(super) fn open(path: &Path, rotation: AuditRotation) -> Result<Self, AuditFileError> {
        let failed = |source| AuditFileError::Open { path: path.to_owned(), source };
        let file = append(path).map_err(|error| failed(unread(error)))?;
        let about = file.metadata().map_err(failed)?;
        let regular = about.is_file();
        if regular && !alone(&file) {
            return Err(AuditFileError::Taken { path: path.to_owned() });
        }
        let written = about.modified().ok().filter(|_| about.len() > 0);
        let day = time::day(written.unwrap_or_else(SystemTime::now));
        Ok(Self {
            path: path.to_owned(),
            rotation,
            file,
            size: about.len(),
            day,
            regular,
            told: None,
            tried: None,
        })
    }

    /// Its end; that of the one before it where it is empty.
    pub(super) fn tail(&self) -> io::Result<Tail> {
        if !self.regular {
            return Ok(Tail::default());
        }
        if self.size > 0 {
            return tail(&self.path);
        }
        match tail(&numbered(&self.path, 1)) {
            Ok(before) => Ok(Tail { before: true, ..before }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Tail::default()),
            Err(error) => Err(error),
        }
    }

    /// Adds whole lines, and says how many bytes of them were taken: all or none, since a part is taken back. A pipe or a
    /// device takes a part, and is waited for so long where it takes nothing.
    pub(super) fn write(&mut self, lines: &[u8], patience: Duration) -> Poured {
        if !self.regular {
            return self.pour(lines, patience);
        }
        if self.is_due(lines.len())
            && let Err(error) = self.rotate()
        {
            // Lines are worth more than the size of a file.
            self.complain(&error);
        }
        match self.append(lines) {
            Ok(()) => (lines.len(), Ok(())),
            Err(error) => (0, Err(error)),
        }
    }

    #[cfg(unix)]
    fn pour(&self, lines: &[u8], patience: Duration) -> Poured {
        super::pour::pour(&self.file, lines, patience)
    }

    #[cfg(not(unix))]
    fn pour(&mut self, lines: &[u8], _: Duration) -> Poured {
        match self.append(lines) {
            Ok(()) => (lines.len(), Ok(())),
            Err(error) => (0, Err(error)),
        }
    }

    /// The same without a look at its size: what is added belongs to what stands there.
    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        let mut rest = lines;
        while !rest.is_empty() {
            match self.file.write(rest) {
                Ok(0) => return self.take_back(lines, rest, io::ErrorKind::WriteZero.into()),
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.take_back(lines, rest, error),
            }
        }
        self.size = self.size.saturating_add(lines.len() as u64);
        Ok(())
    }

    fn take_back(&mut self, lines: &[u8], rest: &[u8], error: io::Error) -> io::Result<()> {
        let written = lines.len().saturating_sub(rest.len()) as u64;
        if self.regular && written > 0 {
            let length = self.file.metadata()?.len();
            self.file.set_len(length.saturating_sub(written))?;
        }
        Err(error)
    }

    fn complain(&mut self, error: &io::Error) {
        let now = now();
        self.tried = Some(now);
        if self.told.is_none_or(|told| now.saturating_duration_since(told) >= TOLD) {
            self.told = Some(now);
            tracing::error!(%error, "the file of the audit cannot be put aside: it grows on");
        }
    }

    fn is_due(&self, more: usize) -> bool {
        let full = self.size.saturating_add(more as u64) > self.rotation.size;
        let old = self.rotation.daily && time::day(SystemTime::now()) != self.day;
        let waits = || self.tried.is_some_and(|tried| tried.elapsed() < AGAIN);
        self.regular && self.size > 0 && (full || old) && !waits()
    }

    /// Puts the file aside as number 1, those before it one further, and begins a new one. The new one is there before
    /// anything is moved, and what was put aside moves only as far as the first number that is free: whatever goes wrong, and
    /// however often it is tried, no file is lost for it.
    pub(super) fn rotate(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let fresh = beside(&self.path, "new");
        // One that plugway left when it was killed has nothing in it.
        if std::fs::symlink_metadata(&fresh).is_ok_and(|left| left.is_file() && left.len() == 0) {
            std::fs::remove_file(&fresh)?;
        }
        let mut options = appending();
        let file = options.create_new(true).open(&fresh)?;
        if !alone(&file) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let moved = self.shift().and_then(|()| self.give_way(&fresh));
        if let Err(error) = moved {
            std::fs::remove_file(&fresh)?;
            return Err(error);
        }
        let day = time::day(SystemTime::now());
        (self.file, self.size, self.day, self.told, self.tried) = (file, 0, day, None, None);
        Ok(())
    }

    /// Makes number 1 free.
    fn shift(&self) -> io::Result<()> {
        let keep = self.rotation.keep;
        let is_free = |number: &u32| {
            let there = std::fs::symlink_metadata(numbered(&self.path, *number));
            there.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let free = (1..keep).find(is_free).unwrap_or(keep);
        for number in (1..free).rev() {
            std::fs::rename(numbered(&self.path, number), numbered(&self.path, number + 1))?;
        }
        Ok(())
    }

    /// Makes the file number 1, and gives its name to this one.
    fn give_way(&self, fresh: &Path) -> io::Result<()> {
        let aside = numbered(&self.path, 1);
        let gone = match std::fs::rename(&self.path, &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            moved => moved.map(|()| false)?,
        };
        std::fs::rename(fresh, &self.path).or_else(|error| {
            if !gone {
                std::fs::rename(&aside, &self.path)?;
            }
            Err(error)
        })
    }

    /// Goes on in the file that has its name now, where that is another one.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        if self.is_the_same()? {
            return Ok(());
        }
        self.sync()?;
        self.renew()
    }

    fn renew(&mut self) -> io::Result<()> {
        let opened = Self::open(&self.path, self.rotation);
        *self = opened.map_err(|error| match error {
            AuditFileError::Open { source, .. } => source,
            other => io::Error::other(other.to_string()),
        })?;
        Ok(())
    }

    /// Whether its name still leads to it.
    fn is_the_same(&self) -> io::Result<bool> {
        match std::fs::metadata(&self.path) {
            Ok(named) => Ok(is_one(&named, &self.file.metadata()?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What was written is on the disk from here on.
    pub(super) fn sync(&self) -> io::Result<()> {
        if self.regular { self.file.sync_all() } else { Ok(()) }
    }
}

#[cfg(unix)]
fn is_one(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_one(_: &std::fs::Metadata, _: &std::fs::Metadata) -> bool {
    true
}

fn append(path: &Path) -> io::Result<File> {
    let mut options = appending();
    options.create(true).open(path)
}

/// What adds to files of the owner alone. Nobody waits for the reader of a pipe: one without a reader is an error.
fn appending() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        options.mode(0o600).custom_flags(nonblocking);
    }
    options
}

/// Says in words what the system says of a pipe without a reader.
fn unread(error: io::Error) -> io::Error {
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
        return io::Error::other("it is a pipe that nobody reads");
    }
    error
}

/// Whether nobody else writes a file; not every file system knows locks.
fn alone(file: &File) -> bool {
    match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(error)) => {
            tracing::debug!(%error, "the file of the audit cannot be locked");
            true
        }
    }
}

/// The file that was put aside as this number.
fn numbered(path: &Path, number: u32) -> PathBuf {
    beside(path, &number.to_string())
}

/// The file with this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

fn tail(path: &Path) -> io::Result<Tail> {
    let mut file = OpenOptions::new().read(true).open(path)?;
    let size = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(size.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let mut lines = bytes.rsplit(|byte| *byte == b'\n');
    let torn = lines.next().unwrap_or_default().to_vec();
    let line = lines.next().unwrap_or_default().to_vec();
    Ok(Tail { line, torn, before: false })
}

/// The lines of a file, without their ends; the last one may have none. For whoever verifies them.
pub(super) fn lines(path: &Path) -> io::Result<impl Iterator<Item = io::Result<Vec<u8>>>> {
    let file = OpenOptions::new().read(true).open(path)?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    Ok(std::iter::from_fn(move || {
        let mut line = Vec::new();
        let read = reader.by_ref().take(TAIL).read_until(b'\n', &mut line);
        match read {
            Ok(0) => None,
            Ok(_) => {
                line.pop_if(|last| *last == b'\n');
                Some(Ok(line))
            }
            Err(error) => Some(Err(error)),
        }
    }))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
