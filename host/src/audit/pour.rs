//! Bytes into what may not take them at once: standard output, and files that are no files but pipes or devices. Nothing
//! here waits longer than it is told to, and what was taken is said also where something goes wrong.

use std::io;
use std::time::Duration;

/// What became of bytes: how many were taken, and why not all.
pub(super) type Poured = (usize, io::Result<()>);

/// The most bytes that are given at once: as many as a pipe with room takes without making its writer wait (`PIPE_BUF`).
#[cfg(unix)]
const PIECE: usize = 4_096;

/// Gives bytes to standard output. Waits for so long where it takes nothing.
#[cfg(unix)]
pub(super) fn stdout(bytes: &[u8], patience: Duration) -> Poured {
    pour(rustix::stdio::stdout(), bytes, patience)
}

/// Gives bytes to standard output.
#[cfg(not(unix))]
pub(super) fn stdout(bytes: &[u8], _: Duration) -> Poured {
    use io::Write as _;
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => (bytes.len(), Ok(())),
        Err(error) => (0, Err(error)),
    }
}

/// Gives bytes to a pipe or a device. An error of the kind `WouldBlock` says that it took nothing for so long.
#[cfg(unix)]
pub(super) fn pour(to: impl std::os::fd::AsFd, bytes: &[u8], patience: Duration) -> Poured {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    let mut taken = 0;
    let mut since = super::queue::now();
    while let Some(rest) = bytes.get(taken..).filter(|rest| !rest.is_empty()) {
        let left = patience.saturating_sub(since.elapsed());
        let left = Timespec::try_from(left).unwrap_or_default();
        match poll(&mut [PollFd::new(&to, PollFlags::OUT)], Some(&left)) {
            Ok(0) => return (taken, Err(io::ErrorKind::WouldBlock.into())),
            Err(error) if error != Errno::INTR => return (taken, Err(error.into())),
            _ => {}
        }
        match rustix::io::write(&to, rest.get(..PIECE).unwrap_or(rest)) {
            Ok(0) => return (taken, Err(io::ErrorKind::WriteZero.into())),
            Ok(more) => {
                taken += more;
                since = super::queue::now();
            }
            Err(Errno::INTR) => {}
            // Somebody else was faster.
            Err(Errno::AGAIN) if since.elapsed() < patience => {}
            Err(error) => return (taken, Err(error.into())),
        }
    }
    (taken, Ok(()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;

    use rustix::io::ioctl_fionbio;

    use super::*;

    #[test]
    fn a_pipe_that_is_full_takes_the_rest_later_and_nothing_twice() {
        for nonblocking in [false, true] {
            let (mut reader, writer) = io::pipe().unwrap();
            ioctl_fionbio(&writer, nonblocking).unwrap();
            let bytes: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
            let (mut given, mut got) = (0, Vec::new());
            while given < bytes.len() {
                let (taken, result) = pour(&writer, &bytes[given..], Duration::from_millis(1));
                assert!(taken > 0);
                given += taken;
                if given < bytes.len() {
                    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::WouldBlock);
                }
                let mut some = vec![0; taken];
                reader.read_exact(&mut some).unwrap();
                got.append(&mut some);
            }
            assert!(got == bytes);
            drop(reader);
            let (taken, result) = pour(&writer, b"x", Duration::ZERO);
            assert_eq!((taken, result.unwrap_err().kind()), (0, io::ErrorKind::BrokenPipe));
        }
    }
}
