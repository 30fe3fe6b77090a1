//! What pinning is made of, without a server.

mod canonical;
mod file;
mod judging;
mod sharing;
mod unseen;
mod work;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::definition::digest;
use super::lock::{Key, Kind, Version};
use crate::catalogue::EntryKind;

/// A folder that is gone with this value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("plugway-pins-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("plugway.lock")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[expect(clippy::disallowed_methods, reason = "a test writes its own files")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a test reads its own files")]
fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn tool(name: &str) -> Key {
    let kind = Kind::Entry(EntryKind::Tool);
    Key { connector: "hub".into(), upstream: "notes".into(), kind, name: name.into() }
}

fn version(text: &str) -> Version {
    let (first_seen, approved_at): (Arc<str>, Arc<str>) =
        ("2026-01-02T03:04:05Z".into(), "2026-01-03T03:04:05Z".into());
    let (digest, text) = (digest(text), Some(text.into()));
    Version { digest, text, first_seen, approved_by: "ann".into(), approved_at, unheard: false }
}
