//! Real process trees. The supervisor is this test binary itself, through the test `entry` or `entry_portable`.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::main::run;
use super::portable::Portable;
use crate::upstream::testing::TICK;

/// Not a test: what a supervisor started by a test runs. Started as a test it finds no command and does nothing.
#[test]
#[ignore = "runs only as a process of another test"]
fn entry() {
    let mut args = std::env::args_os();
    if args.any(|arg| arg == "--") {
        let _code = super::main(args);
    }
}

/// The same as systems have it that are not Linux.
#[test]
#[ignore = "runs only as a process of another test"]
fn entry_portable() {
    let mut args = std::env::args_os();
    if args.any(|arg| arg == "--") {
        let _code = run::<Portable>(args);
    }
}

/// A shell that ignores SIGTERM and its standard input, with a grandchild that does the same, in a session of its own
/// where `$OWN` says so.
const STUBBORN: &str = r#"
trap '' TERM HUP
$OWN sh -c "trap '' TERM HUP; echo grandchild \$\$; while :; do sleep 1; done" &
echo child $$
while :; do sleep 1; done
"#;

/// A shell that ends at once and leaves a grandchild behind.
const CARELESS: &str = r#"
sh -c "trap '' TERM HUP; echo grandchild \$\$; while :; do sleep 1; done" &
echo child $$
"#;

/// A tree: owner (a shell that waits) -> supervisor -> the script's processes. The owner stands for plugway.
fn start(entry: &str, tree: &str) -> (Child, Pid, Vec<Pid>) {
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let words = format!("upstream::supervise::tests::{entry} --exact --ignored --nocapture");
    let script = format!("'{program}' {words} -- $$ -- sh -c \"$TREE\" & echo supervisor $!; wait");
    let mut owner = Command::new("sh")
        .args(["-c", &script])
        .env("TREE", tree)
        .env("OWN", if entry == "entry" { "setsid" } else { "" })
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut supervisor = None;
    let mut pids = Vec::new();
    for line in BufReader::new(owner.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some((word, pid)) = line.split_once(' ') else { continue };
        let pid = pid.parse().ok().and_then(Pid::from_raw);
        match (word, pid) {
            ("supervisor", pid) => supervisor = pid,
            ("child" | "grandchild", Some(pid)) => pids.push(pid),
            _ => {}
        }
        if pids.len() == 2 {
            break;
        }
    }
    (owner, supervisor.unwrap(), pids)
}

/// Whether a process runs; one that ended and was not taken in by its parent does not.
#[expect(clippy::disallowed_methods, reason = "the kernel's own table of a process")]
fn runs(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let stat = stat.unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with('Z'))
}

fn gone(pids: &[Pid]) {
    let until = Instant::now() + Duration::from_secs(15);
    while pids.iter().any(|pid| runs(*pid)) {
        assert!(Instant::now() < until, "still there: {pids:?}");
        rustix::event::poll(&mut [], Some(&TICK)).ok();
    }
}

#[test]
fn nothing_is_left_after_plugway_was_killed() {
    for entry in ["entry", "entry_portable"] {
        let (mut owner, supervisor, mut pids) = start(entry, STUBBORN);
        owner.kill().unwrap();
        owner.wait().unwrap();
        pids.push(supervisor);
        gone(&pids);
    }
}

#[test]
fn nothing_is_left_after_the_supervisor_was_asked_to_stop() {
    for entry in ["entry", "entry_portable"] {
        let (mut owner, supervisor, pids) = start(entry, STUBBORN);
        kill_process(supervisor, Signal::TERM).unwrap();
        gone(&pids);
        owner.wait().unwrap();
    }
}

#[test]
fn nothing_is_left_after_the_child_ended_by_itself() {
    for entry in ["entry", "entry_portable"] {
        let (mut owner, _, pids) = start(entry, CARELESS);
        gone(&pids);
        owner.wait().unwrap();
    }
}
