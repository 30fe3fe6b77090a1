//! Compiled code between runs.
//!
//! **Code from this directory runs outside the sandbox**, so the directory is private (0700, ours), and each file
//! carries a keyed MAC over its name and content. A file that fails the check is compiled anew. Without a private
//! directory there is no cache.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::hex::hex;

const MAGIC: &[u8; 8] = b"plugway1";
const MAC_LEN: usize = 32;
/// Largest file that is read back.
const FILE_MAX: u64 = 256 << 20;

/// The directory and the key of its MACs.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    key: [u8; 32],
    engine: u64,
}

impl Cache {
    /// Opens the directory, making it and its key where they are missing. An error says why there is no cache.
    pub fn open(folder: &Path, engine: &Engine) -> io::Result<Self> {
        make_folder(folder)?;
        private(&fs::symlink_metadata(folder)?)?;
        let key = read_or_make_key(&folder.join("key"))?;
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Ok(Self { folder: folder.to_owned(), key, engine: hasher.finish() })
    }

    /// The compiled code of a component, if there is any that can be trusted.
    pub fn get(&self, engine: &Engine, digest: &[u8; 32]) -> Option<Component> {
        let name = self.name(digest);
        let file = match read_bounded(&self.folder.join(&name)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(%error, file = name, "compiled plugin code cannot be read; compiling anew");
                return None;
            }
        };
        let Some(code) = self.verified(&name, &file) else {
            tracing::warn!(
                file = name,
                "compiled plugin code was changed by somebody; compiling anew"
            );
            return None;
        };
        match deserialize(engine, code) {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!(%error, file = name, "compiled plugin code is of no use; compiling anew");
                None
            }
        }
    }

    /// Keeps compiled code. A failure costs only the next start some time.
    pub fn put(&self, digest: &[u8; 32], component: &Component) {
        let name = self.name(digest);
        let written = component
            .serialize()
            .map_err(io::Error::other)
            .and_then(|code| self.write(&name, &code));
        if let Err(error) = written {
            tracing::warn!(%error, "compiled plugin code cannot be kept; the next start compiles again");
        }
    }

    fn name(&self, digest: &[u8; 32]) -> String {
        format!("{}-{:016x}.code", hex(digest), self.engine)
    }

    fn write(&self, name: &str, code: &[u8]) -> io::Result<()> {
        let mac = self.mac(name, code).finalize().into_bytes();
        let mut salt = [0; 8];
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        let temporary = self.folder.join(format!(".{}.new", hex(&salt)));
        let mut file = own_file().open(&temporary)?;
        let done = file
            .write_all(MAGIC)
            .and_then(|()| file.write_all(&mac))
            .and_then(|()| file.write_all(code))
            .and_then(|()| fs::rename(&temporary, self.folder.join(name)));
        if done.is_err() {
            fs::remove_file(&temporary)?;
        }
        done
    }

    fn verified<'a>(&self, name: &str, file: &'a [u8]) -> Option<&'a [u8]> {
        let rest = file.strip_prefix(MAGIC)?;
        let (mac, code) = rest.split_at_checked(MAC_LEN)?;
        self.mac(name, code).verify_slice(mac).is_ok().then_some(code)
    }

    fn mac(&self, name: &str, code: &[u8]) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("any length is a key");
        mac.update(name.as_bytes());
        mac.update(&[0]);
        mac.update(code);
        mac
    }
}

#[expect(unsafe_code, reason = "loading compiled code is the purpose of the cache")]
fn deserialize(engine: &Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the bytes are in memory and cannot change any more, and their MAC shows that `Cache::put` wrote them: they
    // are what this engine version made of a component.
    unsafe { Component::deserialize(engine, code) }
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    #[expect(clippy::disallowed_methods, reason = "this is the module that reads compiled code")]
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > FILE_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is too large"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(FILE_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read_or_make_key(path: &Path) -> io::Result<[u8; 32]> {
    match own_file().open(path) {
        Ok(mut file) => {
            let mut key = [0; 32];
            getrandom::fill(&mut key).map_err(io::Error::other)?;
            file.write_all(&key)?;
            Ok(key)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            private(&fs::symlink_metadata(path)?)?;
            read_bounded(path)?.try_into().map_err(|_damaged: Vec<u8>| {
                io::Error::new(io::ErrorKind::InvalidData, "the file `key` is damaged; remove it")
            })
        }
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn make_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A new file that its owner alone can use.
#[cfg(unix)]
fn own_file() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options
}

#[cfg(unix)]
fn private(meta: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    /// Permission bits of group and others.
    const OTHERS: u32 = 0o077;
    let ours = meta.uid() == rustix::process::geteuid().as_raw();
    if ours && meta.mode() & OTHERS == 0 && !meta.is_symlink() {
        return Ok(());
    }
    let why = "it must belong to the user plugway runs as and be closed to all others (chmod go=)";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

#[cfg(not(unix))]
fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).create(path)
}

#[cfg(not(unix))]
fn own_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options
}

/// Nothing here can show that nobody else wrote a file: what is in it would run outside the sandbox.
#[cfg(not(unix))]
fn private(_: &fs::Metadata) -> io::Result<()> {
    let why = "on this system plugway cannot tell whether others may write there";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}
