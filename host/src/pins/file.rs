//! The file itself: read whole, written whole or not at all, and by one process at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::lock::Lock;
use super::owner;

/// Bytes of the file.
const BYTES: usize = 64 * 1024 * 1024;
/// How long another process that writes is waited for.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(10);

/// Why the file cannot be used, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Broken {
    path: String,
    why: String,
}

/// What shows that a file is another one than before: its number, length and time.
pub(super) type Stamp = Option<(u64, u64, Option<SystemTime>)>;

/// A file of pins at its path.
#[derive(Clone, Debug)]
pub struct LockFile {
    path: PathBuf,
}

impl LockFile {
    /// At this path.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn broken(&self, why: impl Into<String>) -> Broken {
        Broken { path: self.path.display().to_string(), why: why.into() }
    }

    /// What shows whether it was replaced; none where it is not there.
    pub(super) fn stamp(&self) -> Stamp {
        let metadata = fs::metadata(&self.path).ok()?;
        Some((number(&metadata), metadata.len(), metadata.modified().ok()))
    }

    /// What is in it; none where it is not there.
    pub fn read(&self) -> Result<Option<Lock>, Broken> {
        match self.bytes() {
            Ok(text) => Lock::read(&text).map(Some).map_err(|why| self.broken(why)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.broken(format!("it cannot be read: {error}"))),
        }
    }

    fn bytes(&self) -> io::Result<String> {
        // A pipe would be waited for.
        if fs::metadata(&self.path)?.is_file() {
            #[expect(clippy::disallowed_methods, reason = "this is the one reader of pins")]
            let file = File::open(&self.path)?;
            let mut text = String::new();
            file.take(BYTES as u64 + 1).read_to_string(&mut text)?;
            if text.len() <= BYTES {
                return Ok(text);
            }
            return Err(io::Error::other("it is larger than 64 MiB"));
        }
        Err(io::Error::other("it is no regular file"))
    }

    /// Reads it, changes what was read, and writes it if that differs. Nobody else writes meanwhile. `change` is told whether
    /// the file is there, and may refuse with a sentence. Blocks, for at most [`PATIENCE`] while others write.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Lock, bool) -> Result<T, String>,
    ) -> Result<(Lock, T), Broken> {
        self.change_within(PATIENCE, change).map(|(lock, said, _)| (lock, said))
    }

    /// The same, for at most so long while others write; and what shows that the file is the one that was written.
    pub(super) fn change_within<T>(
        &self,
        patience: Duration,
        change: impl FnOnce(&mut Lock, bool) -> Result<T, String>,
    ) -> Result<(Lock, T, Stamp), Broken> {
        let failed = |error: io::Error| self.broken(format!("it cannot be written: {error}"));
        let _guard = self.guard(patience).map_err(failed)?;
        let read = self.read()?;
        let is_there = read.is_some();
        let before = read.unwrap_or_default();
        let mut lock = before.clone();
        let said = change(&mut lock, is_there).map_err(|why| self.broken(why))?;
        if before != lock {
            self.write(&lock).map_err(failed)?;
        }
        // Nobody else has written yet.
        Ok((lock, said, self.stamp()))
    }

    /// The one that writes holds this. It is a file of its own, since the other one is replaced.
    fn guard(&self, patience: Duration) -> io::Result<File> {
        let path = self.beside("guard");
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        let guard = match options.open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                options.create(true).truncate(false);
                private(&mut options);
                let guard = options.open(&path)?;
                owner::give(&guard, &self.target())?;
                guard
            }
            opened => opened?,
        };
        let start = Instant::now();
        loop {
            match guard.try_lock() {
                Ok(()) => return Ok(guard),
                Err(TryLockError::WouldBlock) if start.elapsed() < patience => {
                    std::thread::park_timeout(LOOK);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::other("another process writes it"));
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Where the file is, if the path is a link to it.
    fn target(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    fn beside(&self, what: &str) -> PathBuf {
        let target = self.target();
        let mut name = std::ffi::OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(format!(".{what}"));
        target.with_file_name(name)
    }

    /// Whole or not at all: a draft is written to the disk, and then takes the place of the file.
    fn write(&self, lock: &Lock) -> io::Result<()> {
        let text = lock.write()?;
        if text.len() > BYTES {
            return Err(io::Error::other("it would be larger than 64 MiB"));
        }
        let (target, draft) = (self.target(), self.beside("draft"));
        // What a process that was killed left behind.
        match fs::remove_file(&draft) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        private(&mut options);
        let mut file = options.open(&draft)?;
        // Whose it was, it stays, whoever writes.
        if let Err(error) = owner::give(&file, &target) {
            drop(fs::remove_file(&draft));
            return Err(error);
        }
        // Who could read it before can read it now.
        if let Ok(before) = fs::metadata(&target) {
            file.set_permissions(before.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &target)?;
        settle(&target)
    }
}

/// A new file is its owner's alone.
fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _as_the_folder_says = options;
}

/// The new name outlives a loss of power, too.
#[cfg(unix)]
fn settle(target: &Path) -> io::Result<()> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    #[expect(clippy::disallowed_methods, reason = "a folder is opened to be written through")]
    let folder = File::open(folder.unwrap_or(Path::new(".")))?;
    folder.sync_all()
}

#[cfg(not(unix))]
fn settle(_target: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_metadata: &fs::Metadata) -> u64 {
    0
}
