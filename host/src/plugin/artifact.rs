//! Plugin files: read once, bounded, from places that nobody else may write.
//!
//! Permissions are checked on the opened file, so that what was checked is what is read.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::error::LoadError;
use super::limits::COMPONENT_MAX;
use super::spec::{PluginSpec, Source};
use crate::hex::hex;

/// The bytes of a component and their digest.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The component.
    pub bytes: Bytes,
    /// SHA-256 of the bytes.
    pub digest: [u8; 32],
    /// What tells a changed file at a glance; none for a bundled one.
    pub stamp: Option<Stamp>,
}

/// Bytes that the binary carries, or that were read.
#[derive(Clone, Debug)]
pub enum Bytes {
    /// Carried by the binary.
    Bundled(&'static [u8]),
    /// Read.
    Owned(Vec<u8>),
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Bundled(bytes) => bytes,
            Self::Owned(bytes) => bytes,
        }
    }
}

/// Tells a changed file at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    #[cfg(unix)]
    inode: u64,
    /// When owner, permissions or content changed last.
    #[cfg(unix)]
    changed: (i64, i64),
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            modified: meta.modified().ok(),
            size: meta.len(),
            #[cfg(unix)]
            inode: meta.ino(),
            #[cfg(unix)]
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// The stamp of a file now; none if there is no such file.
    pub fn read(path: &Path) -> Option<Self> {
        std::fs::metadata(path).ok().map(|meta| Self::of(&meta))
    }
}

impl Artifact {
    /// Reads the component of an entry, and compares the digest that it pins.
    pub fn read(spec: &PluginSpec) -> Result<Self, LoadError> {
        let (bytes, stamp) = match &spec.source {
            Source::Bundled(bytes) => (Bytes::Bundled(bytes), None),
            Source::File(path) => {
                let (bytes, stamp) = read_file(path)?;
                (Bytes::Owned(bytes), Some(stamp))
            }
        };
        Self::new(bytes, stamp, spec.digest)
    }

    /// An artifact from bytes.
    pub fn new(
        bytes: Bytes,
        stamp: Option<Stamp>,
        pinned: Option<[u8; 32]>,
    ) -> Result<Self, LoadError> {
        if bytes.len() > COMPONENT_MAX {
            return Err(LoadError::TooLarge { size: bytes.len() as u64, limit: COMPONENT_MAX });
        }
        let digest: [u8; 32] = Sha256::digest(&bytes[..]).into();
        match pinned {
            Some(pinned) if pinned != digest => {
                Err(LoadError::Digest { pinned: hex(&pinned), found: hex(&digest) })
            }
            _ => Ok(Self { bytes, digest, stamp }),
        }
    }
}

/// The plugin files of a directory: (name without `.wasm`, path), sorted by name.
pub fn directory(path: &Path) -> Result<Vec<(String, PathBuf)>, LoadError> {
    let unreadable = |source| LoadError::Unreadable { path: path.to_owned(), source };
    check_owner(path, &std::fs::metadata(path).map_err(unreadable)?)?;
    let mut found = Vec::new();
    for item in std::fs::read_dir(path).map_err(unreadable)? {
        let file = item.map_err(unreadable)?.path();
        let is_component = file.extension().is_some_and(|extension| extension == "wasm");
        if let (true, Some(name)) = (is_component, file.file_stem().and_then(|name| name.to_str()))
        {
            found.push((name.to_owned(), file.clone()));
        }
    }
    found.sort();
    Ok(found)
}

#[expect(clippy::disallowed_methods, reason = "this is the module that reads plugin files")]
fn read_file(path: &Path) -> Result<(Vec<u8>, Stamp), LoadError> {
    let unreadable = |source| LoadError::Unreadable { path: path.to_owned(), source };
    let real = path.canonicalize().map_err(unreadable)?;
    if let Some(folder) = real.parent() {
        check_owner(folder, &std::fs::metadata(folder).map_err(unreadable)?)?;
    }
    let file = File::open(&real).map_err(unreadable)?;
    let meta = file.metadata().map_err(unreadable)?;
    if !meta.is_file() {
        return Err(unreadable(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
    }
    check_owner(&real, &meta)?;
    if meta.len() > COMPONENT_MAX as u64 {
        return Err(LoadError::TooLarge { size: meta.len(), limit: COMPONENT_MAX });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
    // one byte more than allowed shows a file that grew meanwhile
    file.take(COMPONENT_MAX as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok((bytes, Stamp::of(&meta)))
}

/// Refuses what somebody else may write.
#[cfg(unix)]
pub(super) fn check_owner(path: &Path, meta: &Metadata) -> Result<(), LoadError> {
    let ours = rustix::process::geteuid().as_raw();
    let why = if meta.uid() != 0 && meta.uid() != ours {
        "another user owns it"
    } else if meta.mode() & 0o002 != 0 {
        "everybody may write it"
    } else if meta.mode() & 0o020 != 0 {
        "its group may write it"
    } else {
        return Ok(());
    };
    Err(LoadError::Unsafe { path: path.to_owned(), why })
}

/// Access lists are not read: the operator keeps the folder closed.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the form of systems with owners and modes")]
pub(super) fn check_owner(_: &Path, _: &Metadata) -> Result<(), LoadError> {
    Ok(())
}
