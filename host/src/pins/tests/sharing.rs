//! One file and several that write it: other processes, and people.

use std::fs::OpenOptions;
use std::sync::Arc;

use super::super::judge::Mode;
use super::super::ledger::Ledger;
use super::super::lock::{OF_ONE, Record};
use super::judging::{Desk, add, held, offering};
use super::{tool, version};

/// Nobody else can write while this lives.
fn guarded(desk: &Desk) -> std::fs::File {
    let mut options = OpenOptions::new();
    let path = desk.folder.0.join(".plugway.lock.guard");
    let guard = options.read(true).write(true).create(true).truncate(false).open(path).unwrap();
    guard.lock().unwrap();
    guard
}

#[test]
fn a_write_that_fails_holds_back_what_is_new_and_nothing_else() {
    let desk = Desk::new();
    desk.judge(Mode::Hold, &offering(&[&add("Adds.")]));
    let guard = guarded(&desk);
    let more = offering(&[&add("Adds."), r#"{"name":"sub"}"#]);
    let judged = desk.judge(Mode::Hold, &more);
    assert!(held(&judged).is_none() && judged.offering.held.len() == 1);
    assert!(judged.broken.unwrap().contains("another process writes it"));
    // What the file says is known meanwhile.
    assert!(desk.ledger.known().is_ok());
    drop(guard);
    let judged = desk.judge(Mode::Hold, &more);
    assert!(judged.broken.is_none() && judged.offering.held.is_empty());
}

#[test]
fn first_sight_is_given_once() {
    let one = Desk::new();
    let other = Ledger::new(one.folder.file());
    // Both looked at the file when nothing was in it.
    assert!(one.ledger.known().is_ok() && other.known().is_ok());
    let seen =
        super::super::lock::Version { approved_by: "first sight".into(), ..version("\"x\"") };
    let record = Record::Pin(tool("add"), seen);
    drop(other.record(vec![record], std::time::Duration::from_secs(5)).unwrap());
    let judged = one.judge(Mode::Hold, &offering(&[&add("Steals.")]));
    assert!(held(&judged).unwrap().contains("changed"));
    assert_eq!(one.file().pins[&tool("add")].len(), 1);
}

#[test]
fn two_processes_that_see_different_things_come_to_rest() {
    let desk = Desk::new();
    desk.judge(Mode::Hold, &offering(&[&add("Adds.")]));
    let (one, other) = (offering(&[&add("One.")]), offering(&[&add("Two.")]));
    let second = Desk::at(&desk);
    desk.judge(Mode::Hold, &one);
    second.judge(Mode::Hold, &other);
    desk.ledger.look();
    desk.judge(Mode::Hold, &one);
    let rest = desk.file();
    assert_eq!(rest.waiting[&tool("add")].len(), 2);
    for _ in 0..3 {
        second.ledger.look();
        second.judge(Mode::Hold, &other);
        desk.ledger.look();
        desk.judge(Mode::Hold, &one);
        assert_eq!(desk.file(), rest);
    }
    // Each settles its own.
    desk.judge(Mode::Hold, &offering(&[&add("Adds.")]));
    assert_eq!(desk.file().waiting[&tool("add")].len(), 1);
}

#[test]
fn what_some_were_shown_once_waits_no_more() {
    let desk = Desk::new();
    let all = offering(&[&add("Adds.")]);
    desk.judge(Mode::Hold, &all);
    desk.judge_for(Mode::Hold, &offering(&[&add("Draws.")]), false);
    desk.judge_for(Mode::Hold, &offering(&[&add("Paints.")]), false);
    assert_eq!(desk.file().waiting[&tool("add")].len(), 1);
    // At a start nobody is shown anything.
    let desk = desk.again();
    desk.judge(Mode::Hold, &all);
    assert!(desk.file().waiting.is_empty());
}

#[test]
fn what_is_approved_waits_no_more() {
    let desk = Desk::new();
    let text = r#"{"description":"Steals.","name":"add"}"#;
    let mut lock = desk.file();
    lock.pin(tool("add"), version(text));
    let waiting = super::super::lock::Waiting {
        digest: super::super::definition::digest(text),
        text: None,
        first_seen: "2026-01-02T03:04:05Z".into(),
        why: super::super::lock::Why::Changed,
        unseen: Vec::new(),
        everybodys: false,
    };
    lock.apply(Record::Wait(tool("add"), waiting));
    assert!(lock.waiting.is_empty());
}

#[test]
fn a_server_that_has_too_many_things_is_told_so() {
    let desk = Desk::new();
    let tools: Vec<Arc<str>> =
        (0..=OF_ONE).map(|number| format!(r#"{{"name":"t{number}"}}"#).into()).collect();
    let many: Vec<&str> = tools.iter().map(|tool| &**tool).collect();
    let judged = desk.judge(Mode::Hold, &offering(&many));
    assert_eq!((judged.offering.held.len(), judged.findings.len()), (1, 1));
    let finding = &judged.findings[0];
    assert!(finding.why.starts_with("more than 4000 things") && !finding.waits, "{finding:?}");
    assert_eq!(desk.file().pins.len(), OF_ONE);
}

#[test]
fn what_was_approved_while_nothing_ran_is_marked_once_it_was_heard() {
    let desk = Desk::new();
    let new = offering(&[&add("Adds.")]);
    desk.judge(Mode::Locked, &new);
    desk.approve_all();
    assert_eq!(desk.file().unheard().len(), 1);
    let desk = desk.again();
    assert!(held(&desk.judge(Mode::Locked, &new)).is_none());
    desk.ledger.look();
    assert!(desk.file().unheard().is_empty());
}
