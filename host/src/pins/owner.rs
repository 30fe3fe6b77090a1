//! Whose a file is: an administrator who approves something leaves the file to the one who serves with it.

use std::fs::File;
use std::io;
use std::path::Path;

/// Gives a new file to the owner and the group of the file whose place it takes. Where there is none yet, to those of the folder,
/// as far as this process may. Refused where it may not and somebody would lose the file by it.
#[cfg(unix)]
pub(super) fn give(file: &File, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let own = file.metadata()?;
    let before = std::fs::metadata(target);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let wanted = match &before {
        Ok(before) => before.clone(),
        Err(_) => std::fs::metadata(folder.unwrap_or(Path::new(".")))?,
    };
    let (uid, gid) = (wanted.uid(), wanted.gid());
    if (own.uid(), own.gid()) == (uid, gid) || fchown(file, Some(uid), Some(gid)).is_ok() {
        return Ok(());
    }
    let groups = wanted.mode() & 0o070 != 0;
    if before.is_ok() && (own.uid() != uid || groups) {
        return Err(io::Error::other(format!(
            "it belongs to user {uid} and group {gid} and would belong to user {} and group {}, so that plugway could no more \
             read it; do this as user {uid}",
            own.uid(),
            own.gid()
        )));
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn give(_file: &File, _target: &Path) -> io::Result<()> {
    Ok(())
}
