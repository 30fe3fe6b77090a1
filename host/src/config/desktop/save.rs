//! Writes the files of an import: whole or not at all, readable for their owner alone, and never over another file
//! unless the operator says so.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// There is one already.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// There is one that is no regular file.
    #[error("{} is no regular file", .0.display())]
    NoFile(PathBuf),
    /// There is one that others can read, and that secrets would go into.
    #[error("{} can be read by every user of this machine", .0.display())]
    Open(PathBuf),
    /// The system says no.
    #[error("{} cannot be written: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Whether files may be written here.
pub fn check_targets(paths: &[&Path], force: bool) -> Result<(), SaveError> {
    for path in paths {
        let Ok(metadata) = fs::symlink_metadata(path) else { continue };
        if !force {
            return Err(SaveError::Exists(path.to_path_buf()));
        }
        if !metadata.is_file() {
            return Err(SaveError::NoFile(path.to_path_buf()));
        }
        if others_can_read(&metadata) {
            return Err(SaveError::Open(path.to_path_buf()));
        }
    }
    Ok(())
}

/// Writes a file with mode 0600; over another one only if `force`.
pub fn save(path: &Path, text: &str, force: bool) -> Result<(), SaveError> {
    check_targets(&[path], force)?;
    let failed = |source| SaveError::Io { path: path.to_owned(), source };
    if !force {
        return write_new(path, text).map_err(failed);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let draft = path.with_file_name(name);
    let written = write_new(&draft, text).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // What is left of the draft holds secrets; that it may not even exist harms nobody.
        drop(fs::remove_file(&draft));
    }
    written.map_err(failed)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(unix)]
fn others_can_read(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o004 != 0
}

#[cfg(not(unix))]
fn others_can_read(_: &fs::Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{SaveError, fs, save};

    #[test]
    fn files_are_private_and_nothing_is_overwritten_by_accident() {
        let folder = std::env::temp_dir().join(format!("plugway-save-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("secrets");
        save(&path, "a", false).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(matches!(save(&path, "b", false), Err(SaveError::Exists(_))));
        save(&path, "b", true).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test reads its own file")]
        let read = || fs::read_to_string(&path).unwrap();
        assert_eq!(read(), "b");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(save(&path, "c", true), Err(SaveError::Open(_))));
        assert_eq!(read(), "b");
        assert!(matches!(save(&folder, "c", true), Err(SaveError::NoFile(_))));
        assert!(matches!(save(&folder.join("no/such"), "c", false), Err(SaveError::Io { .. })));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
