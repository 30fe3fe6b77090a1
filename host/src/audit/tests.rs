//! Lines through the whole of it: taken, tied, written, rotated, and verified.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::{ProptestConfig, proptest};
use serde_json::Value;

use super::{Ledger, Verified, verify};
use crate::config::{AuditRotation, AuditSettings, Secret};
use crate::telemetry::audit::{Said, Sink as _};

/// A folder of its own, removed with this value.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("plugway-audit-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.0.join("audit.jsonl")
    }

    /// The file that is written and those that were put aside.
    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

pub(super) const KEY: &str = "0123456789abcdef";

pub(super) fn settings(folder: &Folder, key: Option<&str>) -> AuditSettings {
    AuditSettings {
        file: Some(folder.file()),
        stdout: false,
        rotation: AuditRotation { size: 1 << 20, keep: 10, daily: false },
        required: false,
        arguments: false,
        chain: true,
        digest_key: key.map(Secret::new),
    }
}

pub(super) fn write(settings: &AuditSettings, lines: u64) -> Arc<Ledger> {
    let ledger = Ledger::open(settings, "config").unwrap();
    for number in 0..lines {
        ledger.event("test", &[("n", Said::Number(number)), ("text", Said::Text("x\"\n"))]);
    }
    ledger
}

#[expect(clippy::disallowed_methods, reason = "a test reads what was written")]
pub(super) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a test changes what was written")]
pub(super) fn put(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

pub(super) fn lines(path: &Path) -> Vec<Value> {
    read(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(super) fn kinds(path: &Path) -> Vec<String> {
    lines(path).iter().map(|line| line["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_chain_goes_on_over_restarts_and_what_was_torn_is_closed_off() {
    for key in [None, Some(KEY)] {
        let folder = Folder::new();
        let settings = settings(&folder, key);
        write(&settings, 2).close();
        write(&settings, 1).close();
        // Cut off in the middle of a line, as a crash leaves it.
        let torn = read(&folder.file()) + "{\"time\":\"20";
        put(&folder.file(), &torn);
        write(&settings, 1).close();
        let all = read(&folder.file());
        let kinds: Vec<&str> = all
            .lines()
            .map(|line| {
                line.split("\"kind\":\"").nth(1).map_or("?", |l| l.split('"').next().unwrap())
            })
            .collect();
        let expected = [
            "start", "test", "test", "stop", "start", "test", "stop", "?", "torn", "start", "test",
            "stop",
        ];
        assert_eq!(kinds, expected);
        let verified = verify(&[folder.file()], key.map(str::as_bytes), None).unwrap();
        // Behind a torn line nobody said that plugway ended.
        let expected = Verified {
            lines: 11,
            first: 1,
            last: 11,
            hash: verified.hash,
            closed: true,
            broken_off: 1,
        };
        assert_eq!(verified, expected);
        let other = verify(&[folder.file()], Some(b"another key of 16"), None).unwrap_err();
        assert!(other.line == 1 && other.why.contains("key"), "{other}");
    }
}

#[test]
fn files_are_put_aside_between_lines_and_the_chain_goes_on() {
    let folder = Folder::new();
    let rotation = AuditRotation { size: 4_096, keep: 100, daily: false };
    let settings = AuditSettings { rotation, ..settings(&folder, None) };
    for _ in 0..10 {
        write(&settings, 20).close();
    }
    let files = folder.files();
    assert!(files.len() > 5, "{files:?}");
    let total: usize = files.iter().map(|file| lines(file).len()).sum();
    let verified = verify(&files, None, None).unwrap();
    assert_eq!((total, verified.lines, verified.closed), (220, 220, true));
    // One of them is missing in the middle.
    let some: Vec<PathBuf> =
        files.into_iter().filter(|file| !file.ends_with("audit.jsonl.3")).collect();
    let broken = verify(&some, None, None).unwrap_err();
    assert!(broken.line == 1 && broken.why.contains("taken out"), "{broken}");
}

#[test]
fn only_so_many_files_are_kept() {
    let folder = Folder::new();
    let rotation = AuditRotation { size: 1_024, keep: 2, daily: false };
    let settings = AuditSettings { rotation, ..settings(&folder, None) };
    for _ in 0..8 {
        write(&settings, 10).close();
    }
    assert_eq!(folder.files().len(), 3);
    let verified = verify(&folder.files(), None, None).unwrap();
    assert!(verified.first > 1 && verified.closed, "{verified:?}");
}

#[test]
fn a_file_that_was_put_aside_by_somebody_else_is_followed_when_that_is_said() {
    let folder = Folder::new();
    let ledger = write(&settings(&folder, None), 3);
    ledger.close();
    let ledger = write(&settings(&folder, None), 1);
    std::fs::rename(folder.file(), folder.0.join("audit.jsonl.old")).unwrap();
    ledger.reopen();
    ledger.event("test", &[]);
    ledger.close();
    let all: usize = folder.files().iter().map(|file| lines(file).len()).sum();
    assert_eq!(all, 5 + 4);
    assert!(kinds(&folder.file()).ends_with(&["stop".to_owned()]));
    verify(&folder.files(), None, None).unwrap();
}

#[test]
fn a_file_is_written_by_one_process_at_a_time() {
    let folder = Folder::new();
    let ledger = write(&settings(&folder, None), 1);
    let second = Ledger::open(&settings(&folder, None), "").unwrap_err();
    assert!(second.to_string().contains("another process"), "{second}");
    ledger.close();
    write(&settings(&folder, None), 1).close();
}

#[test]
fn a_device_without_room_is_said_and_lines_are_counted() {
    let folder = Folder::new();
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let settings = AuditSettings { file: Some(full.to_owned()), ..settings(&folder, None) };
    let ledger = write(&settings, 3);
    ledger.close();
    let counts = ledger.counts();
    assert_eq!((counts.taken, counts.lost, counts.failing), (5, 5, true));
    assert!(ledger.trouble().unwrap().contains("cannot be written"));
}

#[test]
fn a_chain_does_not_begin_in_the_middle_of_a_file() {
    let folder = Folder::new();
    let plain = AuditSettings { chain: false, ..settings(&folder, None) };
    write(&plain, 2).close();
    write(&settings(&folder, None), 2).close();
    assert_eq!(kinds(&folder.0.join("audit.jsonl.1")), ["start", "test", "test", "stop"]);
    let verified = verify(&[folder.file()], None, None).unwrap();
    assert_eq!((verified.first, verified.lines), (1, 4));
}

/// What somebody may do to a file.
fn tampered(lines: &[&str], way: usize, at: usize) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    match way {
        // One letter is another one.
        0 => {
            let place = at * 31 % lines[at].len();
            let other = if lines[at].as_bytes()[place] == b'7' { "8" } else { "7" };
            lines[at].replace_range(place..=place, other);
        }
        1 => drop(lines.remove(at)),
        2 => lines.swap(at, at + 1),
        3 => lines.insert(at + 1, lines[at].clone()),
        4 => lines.insert(at, "{\"time\":\"\",\"kind\":\"call\"}".to_owned()),
        _ => {
            let half = lines[at].len() / 2;
            lines[at].truncate(half);
        }
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_is_done_to_a_line_shows(way in 0_usize..6, at in 1_usize..20) {
        let folder = Folder::new();
        write(&settings(&folder, Some(KEY)), 20).close();
        let text = read(&folder.file());
        let lines: Vec<&str> = text.lines().collect();
        let changed = tampered(&lines, way, at).join("\n") + "\n";
        put(&folder.file(), &changed);
        let broken = verify(&[folder.file()], Some(KEY.as_bytes()), None).unwrap_err();
        let place = u64::try_from(at).unwrap();
        assert!(broken.line >= place && broken.line <= place + 3, "{way} {at}: {broken}");
    }
}

#[test]
fn an_end_that_was_cut_off_is_not_closed() {
    let folder = Folder::new();
    write(&settings(&folder, None), 5).close();
    assert!(verify(&[folder.file()], None, None).unwrap().closed);
    let text = read(&folder.file());
    let cut = text.lines().take(4).collect::<Vec<_>>().join("\n") + "\n";
    put(&folder.file(), &cut);
    assert!(!verify(&[folder.file()], None, None).unwrap().closed);
}
