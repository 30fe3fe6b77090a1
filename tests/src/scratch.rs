//! A private folder for the files of one test.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use anyhow::{Context as _, Result};

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A folder that only this user may write, removed with this value.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// A new, empty folder.
    pub fn new() -> Result<Self> {
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("plugway-test-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self { path }),
                // A test that was killed left it behind, and had the id that this process has now.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot create {}", path.display()));
                }
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file into it, whole or not at all, as an operator's tool would.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let (path, draft) = (self.path.join(name), self.path.join(format!(".{name}.new")));
        fs::write(&draft, content).with_context(|| format!("cannot write {}", draft.display()))?;
        fs::rename(&draft, &path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder left behind under the system's temporary one harms nobody.
        drop(fs::remove_dir_all(&self.path));
    }
}
