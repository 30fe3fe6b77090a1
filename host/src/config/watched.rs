//! Notices that a configuration file, or a file that it names, has other content than before.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::ErrorKind::NotFound;
use std::path::PathBuf;

use super::load::read_bytes;

/// The first of these that is there and is no regular file: reading it again might wait for ever.
pub fn irregular(files: &[PathBuf]) -> Option<&PathBuf> {
    files.iter().find(|file| file.exists() && !file.is_file())
}

/// What was in some files when they were last looked at. They are looked at by their paths each time, so that a file may
/// be replaced, and a link may point elsewhere, as mounted configurations do.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    seen: u64,
}

impl Watched {
    /// Whether the content is another than at the last look. Blocks.
    pub fn changed(&mut self, files: &[PathBuf]) -> bool {
        let mut hash = DefaultHasher::new();
        for file in files {
            // A pipe would be waited for.
            let content = if file.is_file() { read_bytes(file) } else { Err(NotFound.into()) };
            match content {
                Ok(bytes) => bytes.hash(&mut hash),
                // That a file is gone is a content, too; for what reason is not.
                Err(_unreadable) => hash.write_u8(0),
            }
        }
        let now = hash.finish();
        std::mem::replace(&mut self.seen, now) != now
    }
}
