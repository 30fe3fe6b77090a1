//! The credential of local use: a file that its owner alone can read. This is the one module that reads or makes it.

#[cfg(unix)]
#[cfg(unix)]
use std::fs::File;
use std::io;
#[cfg(unix)]
use std::io::{Read as _, Write as _};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use rustix::fs::{Mode, OFlags, open};
#[cfg(unix)]
use rustix::io::Errno;

use crate::config::Secret;
use crate::hex::hex;

/// Random bytes of a fresh token.
#[cfg(unix)]
const FRESH: usize = 32;
/// A shorter token can be guessed.
#[cfg(unix)]
const SHORTEST: usize = 16;
/// A longer file holds no token.
#[cfg(unix)]
const LONGEST: usize = 4096;

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It can be neither read nor made.
    #[error("the token file {} cannot be used: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not what it should be.
    #[error("the token file {} {why}", path.display())]
    Unsafe {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// The token of this file; makes the file with a fresh token where there is none.
#[cfg(unix)]
pub fn obtain(path: &Path) -> Result<Secret, TokenError> {
    match read(path) {
        Err(TokenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
        read => return read,
    }
    match make(path) {
        // Somebody else made it in the meantime.
        Err(Errno::EXIST) => read(path),
        Err(errno) => Err(TokenError::Io { path: path.to_owned(), source: errno.into() }),
        Ok(token) => Ok(token),
    }
}

#[cfg(unix)]
fn read(path: &Path) -> Result<Secret, TokenError> {
    let failed = |source: io::Error| TokenError::Io { path: path.to_owned(), source };
    let wrong = |why| Err(TokenError::Unsafe { path: path.to_owned(), why });
    // Neither a link that somebody may turn, nor a pipe that would be waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP) => return wrong("is a link: name the file itself"),
        Err(errno) => return Err(failed(errno.into())),
    };
    let about = file.metadata().map_err(failed)?;
    if !about.is_file() {
        return wrong("is no regular file");
    }
    if about.mode() & 0o077 != 0 {
        return wrong("can be used by others than its owner: `chmod 600` it");
    }
    if about.uid() != 0 && about.uid() != rustix::process::geteuid().as_raw() {
        return wrong("belongs to another user");
    }
    let mut text = String::new();
    let read = file.take(LONGEST as u64 + 1).read_to_string(&mut text).map_err(failed)?;
    let token = text.trim();
    if read > LONGEST || token.len() < SHORTEST || !token.bytes().all(|b| b.is_ascii_graphic()) {
        return wrong(
            "holds no token of at least 16 visible characters: remove it, and plugway makes one",
        );
    }
    Ok(Secret::new(token))
}

/// Access lists are not read, so nothing can show that the file is its owner's alone.
#[cfg(not(unix))]
pub fn obtain(path: &Path) -> Result<Secret, TokenError> {
    let why = "cannot be kept from others on this system: use a token of `auth` instead";
    Err(TokenError::Unsafe { path: path.to_owned(), why })
}

#[cfg(unix)]
fn make(path: &Path) -> Result<Secret, Errno> {
    let mut random = [0; FRESH];
    getrandom::fill(&mut random).map_err(|_no_randomness| Errno::IO)?;
    let token = hex(&random);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(open(path, flags, Mode::RUSR | Mode::WUSR)?);
    let written = file.write_all(format!("{token}\n").as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(Secret::new(token))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::PathBuf;

    use super::{TokenError, obtain};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("plugway-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        #[expect(clippy::disallowed_methods, reason = "a test writes its own files")]
        fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn a_fresh_token_is_kept_for_its_owner_alone() {
        let folder = Folder::new("token-fresh");
        let path = folder.0.join("admin.token");
        let made = obtain(&path).unwrap();
        assert_eq!(made.reveal().len(), 64);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(obtain(&path).unwrap(), made);
        let other = obtain(&folder.0.join("other.token")).unwrap();
        assert_ne!(other, made);
    }

    #[test]
    fn what_others_can_read_or_turn_is_refused() {
        let folder = Folder::new("token-unsafe");
        let good = "0123456789abcdef";
        let fine = folder.file("fine", &format!(" {good}\n"), 0o600);
        assert_eq!(obtain(&fine).unwrap().reveal(), good);
        symlink(&fine, folder.0.join("link")).unwrap();
        for (path, why) in [
            (folder.file("group", good, 0o640), "chmod"),
            (folder.file("others", good, 0o604), "chmod"),
            (folder.file("empty", "", 0o600), "no token"),
            (folder.file("short", "123", 0o600), "no token"),
            (folder.file("spaces", "0123456789 abcdef", 0o600), "no token"),
            (folder.file("long", &"x".repeat(5000), 0o600), "no token"),
            (folder.0.join("link"), "link"),
            (folder.0.clone(), "regular"),
        ] {
            let refused = obtain(&path).unwrap_err();
            assert!(matches!(refused, TokenError::Unsafe { .. }), "{refused}");
            let text = refused.to_string();
            assert!(text.contains(why) && !text.contains(good), "{text}");
        }
        let nowhere = obtain(&folder.0.join("no/such/folder"));
        assert!(matches!(nowhere, Err(TokenError::Io { .. })));
    }
}
