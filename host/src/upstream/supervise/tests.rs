//! Real process trees. The supervisor is this test binary itself, through the test `entry`.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

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

/// A shell that ignores SIGTERM and its standard input, with a grandchild in a session of its own that does the same.
const STUBBORN: &str = r#"
trap '' TERM HUP
setsid sh -c "trap '' TERM HUP; echo grandchild \$\$; while :; do sleep 1; done" &
echo child $$
while :; do sleep 1; done
"#;

/// A tree: owner (a shell that waits) -> supervisor -> the stubborn ones. The owner stands for plugway.
fn start() -> (Child, Pid, Vec<Pid>) {
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let words = "upstream::supervise::tests::entry --exact --ignored --nocapture";
    let script = format!("'{program}' {words} -- $$ -- sh -c \"$TREE\" & echo supervisor $!; wait");
    let mut owner = Command::new("sh")
        .args(["-c", &script])
        .env("TREE", STUBBORN)
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

fn gone(pids: &[Pid]) {
    let until = Instant::now() + Duration::from_secs(15);
    while pids.iter().any(|pid| test_kill_process(*pid).is_ok()) {
        assert!(Instant::now() < until, "still there: {pids:?}");
        rustix::event::poll(&mut [], Some(&TICK)).ok();
    }
}

#[test]
fn nothing_is_left_after_plugway_was_killed() {
    let (mut owner, supervisor, mut pids) = start();
    owner.kill().unwrap();
    owner.wait().unwrap();
    pids.push(supervisor);
    gone(&pids);
}

#[test]
fn nothing_is_left_after_the_supervisor_was_asked_to_stop() {
    let (mut owner, supervisor, pids) = start();
    kill_process(supervisor, Signal::TERM).unwrap();
    gone(&pids);
    owner.wait().unwrap();
}
