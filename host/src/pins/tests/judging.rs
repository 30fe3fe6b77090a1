//! What becomes of what a server offers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::super::judge::{Judged, Looked, Mode, Subject, judge};
use super::super::ledger::Ledger;
use super::super::sights::Sights;
use super::super::work::{Chosen, approve};
use super::super::{Lock, LockFile};
use super::{Folder, text_of, write};
use crate::catalogue::EntryKind;
use crate::pipeline::port::Offering;

pub(super) const ODD: &str = "Adds.\u{202e}";

pub(super) fn add(description: &str) -> String {
    format!(r#"{{"name":"add","description":"{description}"}}"#)
}

pub(super) fn offering(tools: &[&str]) -> Arc<Offering> {
    let tools = tools.iter().map(|tool| Arc::from(*tool)).collect();
    Arc::new(Offering { tools, ..Offering::default() })
}

pub(super) struct Desk {
    pub(super) folder: Folder,
    pub(super) ledger: Ledger,
    sights: Mutex<Sights>,
}

impl Desk {
    pub(super) fn new() -> Self {
        let folder = Folder::new();
        let ledger = Ledger::new(folder.file());
        Self { folder, ledger, sights: Mutex::default() }
    }

    /// A second process beside it, with the same file.
    pub(super) fn at(other: &Self) -> Self {
        let folder = Folder(other.folder.0.clone());
        let ledger = Ledger::new(folder.file());
        Self { folder, ledger, sights: Mutex::default() }
    }

    /// Another process with the same file, after it.
    pub(super) fn again(self) -> Self {
        let ledger = Ledger::new(self.folder.file());
        Self { ledger, sights: Mutex::default(), ..self }
    }

    pub(super) fn judge(&self, mode: Mode, offering: &Arc<Offering>) -> Judged {
        self.judge_for(mode, offering, true)
    }

    pub(super) fn judge_for(
        &self,
        mode: Mode,
        offering: &Arc<Offering>,
        everybodys: bool,
    ) -> Judged {
        let subject = Subject { connector: "hub".into(), upstream: "notes".into(), mode };
        let to = (!everybodys).then(|| "some".into());
        let patience = Duration::from_millis(50);
        judge(offering, &Looked { to, sights: &self.sights, patience }, &subject, &self.ledger)
    }

    pub(super) fn file(&self) -> Lock {
        LockFile::new(self.folder.file()).read().unwrap().unwrap_or_default()
    }

    pub(super) fn approve_all(&self) {
        let file = LockFile::new(self.folder.file());
        drop(file.change(|lock, _| approve(lock, &Chosen::All, "ann")).unwrap());
    }
}

pub(super) fn held(judged: &Judged) -> Option<&str> {
    judged.offering.held.why(EntryKind::Tool, "add").map(|why| &**why)
}

#[test]
fn what_was_seen_first_counts_and_what_changed_is_held_back() {
    let desk = Desk::new();
    let first = offering(&[&add("Adds."), r#"{"name":"sub"}"#]);
    let judged = desk.judge(Mode::Hold, &first);
    assert!(Arc::ptr_eq(&judged.offering, &first) && judged.findings.is_empty());
    assert_eq!((desk.file().pins.len(), desk.file().waiting.len()), (2, 0));

    // Another way to write the same thing is the same thing.
    let same = offering(&[r#"{ "description": "\u0041dds.", "name": "add" }"#]);
    assert!(Arc::ptr_eq(&desk.judge(Mode::Locked, &same).offering, &same));

    let desk = desk.again();
    let changed = offering(&[&add("Steals."), r#"{"name":"sub"}"#]);
    for mode in [Mode::Hold, Mode::Locked] {
        let judged = desk.judge(mode, &changed);
        let why = held(&judged).unwrap();
        assert!(why.contains("changed since it was approved on 20"), "{why}");
        assert_eq!(judged.offering.tools[0].as_ref(), r#"{"description":"Adds.","name":"add"}"#);
        assert_eq!(judged.offering.tools[1].as_ref(), r#"{"name":"sub"}"#);
        assert!(!format!("{:?}", judged.offering).contains("Steals"));
    }
    assert_eq!(desk.file().waiting.len(), 1);
    let warned = desk.judge(Mode::Warn, &changed);
    assert!(Arc::ptr_eq(&warned.offering, &changed) && warned.findings.len() == 1);

    // It is as it was again: nothing waits any more.
    assert!(Arc::ptr_eq(&desk.judge(Mode::Hold, &first).offering, &first));
    assert!(desk.file().waiting.is_empty());
}

#[test]
fn every_member_counts() {
    let desk = Desk::new();
    let of = |members: &str| offering(&[&format!(r#"{{"name":"add"{members}}}"#)]);
    desk.judge(Mode::Hold, &of(r#","inputSchema":{"type":"object"}"#));
    for members in [
        r#","inputSchema":{"type":"object","x":1}"#,
        r#","inputSchema":{"type":"object"},"title":"Add""#,
        r#","inputSchema":{"type":"object"},"outputSchema":{}"#,
        r#","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}"#,
        r#","inputSchema":{"type":"object"},"icons":[]"#,
        r#","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}"#,
        r#","inputSchema":{"type":"object"},"_meta":{}"#,
        r#","inputSchema":{"type":"object"},"unheard_of":null"#,
    ] {
        assert!(held(&desk.judge(Mode::Hold, &of(members))).is_some(), "{members}");
    }
}

#[test]
fn under_locked_what_is_new_waits_until_somebody_approves_it() {
    let desk = Desk::new();
    let new = offering(&[&add("Adds.")]);
    let judged = desk.judge(Mode::Locked, &new);
    assert!(held(&judged).unwrap().contains("is not approved"));
    let stub = r#"{"name":"add","inputSchema":{"type":"object"}}"#;
    assert_eq!(judged.offering.tools[0].as_ref(), stub);
    desk.approve_all();
    let desk = desk.again();
    assert!(held(&desk.judge(Mode::Locked, &new)).is_none());
    assert_eq!(&*desk.file().pins.values().next().unwrap()[0].approved_by, "ann");
}

#[test]
fn what_nobody_sees_waits_even_at_first_sight() {
    let desk = Desk::new();
    let odd = offering(&[&add(ODD)]);
    let judged = desk.judge(Mode::Hold, &odd);
    assert!(held(&judged).unwrap().contains("characters that nobody can see"));
    assert!(judged.findings[0].why.contains("U+202E"), "{:?}", judged.findings);
    // Under warn it is told each time, and shown.
    let desk = Desk::new();
    for _ in 0..2 {
        let judged = desk.judge(Mode::Warn, &odd);
        assert!(held(&judged).is_none() && judged.findings.len() == 1);
    }
    assert!(desk.file().pins.is_empty());
    desk.approve_all();
    assert!(desk.again().judge(Mode::Hold, &odd).findings.is_empty());
}

#[test]
fn what_can_be_read_in_two_ways_is_held_back_and_never_approved() {
    let desk = Desk::new();
    let twice = offering(&[r#"{"name":"add","description":"a","description":"b"}"#]);
    let judged = desk.judge(Mode::Hold, &twice);
    assert!(held(&judged).unwrap().contains("in one way only"));
    assert!(desk.file().pins.is_empty() && desk.file().waiting.is_empty());
    let judged = desk.judge(Mode::Warn, &twice);
    assert!(Arc::ptr_eq(&judged.offering, &twice) && judged.findings.len() == 1);
}

#[test]
fn of_two_with_one_name_the_first_counts_and_the_other_is_shown_to_nobody() {
    let desk = Desk::new();
    desk.judge(Mode::Hold, &offering(&[&add("Adds.")]));
    let judged = desk.judge(Mode::Hold, &offering(&[&add("Steals."), &add("Adds.")]));
    assert!(held(&judged).is_some());
    assert_eq!(judged.offering.tools.len(), 1);
}

#[test]
fn every_kind_and_the_instructions_are_compared() {
    let of = |text: &str| {
        let arc = |json: String| vec![Arc::from(json)];
        Arc::new(Offering {
            prompts: arc(format!(r#"{{"name":"p","description":"{text}"}}"#)),
            resources: arc(format!(r#"{{"uri":"a://b/c","name":"{text}"}}"#)),
            templates: arc(format!(r#"{{"uriTemplate":"a://b/{{c}}","name":"{text}"}}"#)),
            instructions: Some(text.into()),
            ..Offering::default()
        })
    };
    let desk = Desk::new();
    desk.judge(Mode::Hold, &of("one"));
    assert_eq!(desk.file().pins.len(), 4);
    let judged = desk.judge(Mode::Hold, &of("two"));
    let held = &judged.offering.held;
    assert_eq!((held.len(), judged.findings.len()), (3, 4));
    for (kind, name) in [
        (EntryKind::Prompt, "p"),
        (EntryKind::Resource, "a://b/c"),
        (EntryKind::Template, "a://b/{c}"),
    ] {
        assert!(held.why(kind, name).is_some());
    }
    assert_eq!(judged.offering.instructions, None);
    assert!(!format!("{:?}", judged.offering).contains("two"));
    desk.approve_all();
    assert!(desk.again().judge(Mode::Hold, &of("two")).findings.is_empty());
}

#[test]
fn what_some_are_shown_is_approved_beside_what_everybody_is_shown() {
    let desk = Desk::new();
    let (all, some) = (offering(&[&add("Adds.")]), offering(&[&add("Draws.")]));
    desk.judge(Mode::Hold, &all);
    assert!(held(&desk.judge_for(Mode::Hold, &some, false)).is_some());
    // What everybody is shown says nothing about it.
    assert!(held(&desk.judge(Mode::Hold, &all)).is_none());
    assert_eq!(desk.file().waiting.len(), 1);
    desk.approve_all();
    let desk = desk.again();
    assert!(held(&desk.judge_for(Mode::Hold, &some, false)).is_none());
    assert!(held(&desk.judge(Mode::Hold, &all)).is_none());
}

#[test]
fn a_file_that_cannot_be_used_holds_everything_back_and_is_left_as_it_is() {
    let desk = Desk::new();
    write(&desk.folder.file(), "{broken");
    let tools = offering(&[&add("Adds.")]);
    for mode in [Mode::Hold, Mode::Locked] {
        let judged = desk.judge(mode, &tools);
        assert!(held(&judged).unwrap().contains("cannot be compared"));
        assert!(judged.broken.unwrap().contains("plugway.lock: it is broken"));
    }
    let judged = desk.judge(Mode::Warn, &tools);
    assert!(Arc::ptr_eq(&judged.offering, &tools) && judged.broken.is_some());
    assert_eq!(text_of(&desk.folder.file()), "{broken");
    std::fs::remove_file(desk.folder.file()).unwrap();
    std::fs::create_dir(desk.folder.file()).unwrap();
    assert!(held(&desk.again().judge(Mode::Hold, &tools)).is_some());
}

#[test]
fn what_cannot_be_written_down_does_not_count() {
    let folder = Folder::new();
    let ledger = Ledger::new(folder.0.join("missing/plugway.lock"));
    let desk = Desk { folder, ledger, sights: Mutex::default() };
    let judged = desk.judge(Mode::Hold, &offering(&[&add("Adds.")]));
    assert!(held(&judged).is_some() && judged.broken.is_some());
}

#[test]
fn a_file_that_vanishes_unpins_nothing() {
    let desk = Desk::new();
    desk.judge(Mode::Hold, &offering(&[&add("Adds.")]));
    std::fs::remove_file(desk.folder.file()).unwrap();
    let judged = desk.judge(Mode::Hold, &offering(&[&add("Steals.")]));
    assert!(held(&judged).is_some() && judged.broken.is_some());
    assert!(!desk.folder.file().exists());
}
