//! The file: what is written is read, and a process that ends in the middle leaves it whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::super::canonical::canonical;
use super::super::definition::digest;
use super::super::file::LockFile;
use super::super::lock::{Key, Kind, Lock, Record, Version, Waiting, Why};
use super::{Folder, text_of, tool, version, write};
use crate::catalogue::EntryKind;

fn waiting(text: &str, everybodys: bool) -> Waiting {
    let (digest, text) = (digest(text), Some(text.into()));
    let (first_seen, why) = ("2026-01-02T03:04:05Z".into(), Why::Changed);
    Waiting { digest, text, first_seen, why, unseen: Vec::new(), everybodys }
}

fn key() -> impl Strategy<Value = Key> {
    let kinds = prop_oneof![
        Just(Kind::Instructions),
        Just(Kind::Entry(EntryKind::Tool)),
        Just(Kind::Entry(EntryKind::Template)),
    ];
    ("[a-c]{1,2}", "[a-c]{1,2}", kinds, "\\PC{0,6}\u{202e}?").prop_map(
        |(connector, upstream, kind, name)| Key {
            connector: connector.into(),
            upstream: upstream.into(),
            kind,
            name: name.into(),
        },
    )
}

fn text() -> impl Strategy<Value = Option<Arc<str>>> {
    let json = ("\\PC{0,9}[\u{e0041}\u{1b}\"\\\\]?", any::<i64>(), any::<f64>());
    prop::option::of(json.prop_map(|(text, whole, double)| {
        let json = serde_json::json!({ "d": text, "n": [whole, double] }).to_string();
        canonical(&json, &mut |_| {}).unwrap().into()
    }))
}

fn lock() -> impl Strategy<Value = Lock> {
    let pins = prop::collection::btree_map(key(), prop::collection::vec(text(), 1..4), 0..5);
    let waits = prop::collection::btree_map(key(), prop::collection::vec(text(), 1..4), 0..5);
    (pins, waits).prop_map(|(pins, waits)| {
        let mut lock = Lock::default();
        for (key, all) in pins {
            let all = all.into_iter().map(|text| {
                let whole = version(text.as_deref().unwrap_or("too long"));
                Version { text, ..whole }
            });
            lock.pins.insert(key, all.collect());
        }
        for (key, all) in waits {
            let all = all.into_iter().map(|text| {
                let whole = waiting(text.as_deref().unwrap_or("too long"), true);
                let unseen = vec!["U+202E".to_owned()];
                Waiting { text, why: Why::Unseen(unseen.clone()), unseen, ..whole }
            });
            lock.waiting.insert(key, all.collect());
        }
        lock
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_and_shows_everything(lock in lock()) {
        let text = lock.write().unwrap();
        prop_assert!(!text.contains(['\u{202e}', '\u{e0041}', '\u{1b}']), "{}", text);
        let read = Lock::read(&text);
        prop_assert_eq!(read.as_ref(), Ok(&lock));
        prop_assert_eq!(read.unwrap().write().unwrap(), text, "its order is stable");
    }
}

#[test]
fn a_definition_has_lines_of_its_own() {
    let mut lock = Lock::default();
    lock.pins.insert(tool("add"), vec![version(r#"{"description":"Adds.","name":"add"}"#)]);
    let text = lock.write().unwrap();
    assert!(text.contains("\"description\": \"Adds.\",\n"), "{text}");
    assert!(text.contains("\"approved_by\": \"ann\",\n"), "{text}");
}

#[test]
fn a_file_that_was_tampered_with_is_broken() {
    let mut lock = Lock::default();
    lock.pins.insert(tool("add"), vec![version(r#"{"description":"Adds.","name":"add"}"#)]);
    let good = lock.write().unwrap();
    assert!(Lock::read(&good).is_ok());
    for (was, is) in [
        ("Adds.", "Steals."),
        ("\"version\": 1", "\"version\": 2"),
        ("sha256:", "md5:"),
        ("\"kind\": \"tool\"", "\"kind\": \"tools\""),
        ("\"approved\"", "\"approvd\""),
        ("\"waiting\": []", "\"waiting\": [],"),
        ("\"waiting\": []", "\"waiting\": [], \"pins\": []"),
        ("}", ""),
    ] {
        assert!(good.contains(was), "{was}");
        assert!(Lock::read(&good.replacen(was, is, 1)).is_err(), "{was} -> {is}");
    }
    let start = good.find("    {\n      \"of\"").unwrap();
    let end = good.find("\n  ],\n  \"waiting\"").unwrap();
    let one = good.get(start..end).unwrap();
    let twice = good.replacen(one, &format!("{one},\n{one}"), 1);
    assert!(Lock::read(&twice).unwrap_err().contains("twice"));
    assert!(Lock::read("").is_err());
}

#[test]
fn a_process_that_ends_in_the_middle_leaves_the_file_whole() {
    let folder = Folder::new();
    let file = LockFile::new(folder.file());
    file.change(|lock, is_there| {
        assert!(!is_there);
        lock.pin(tool("add"), version("\"one\""));
        Ok(())
    })
    .unwrap();
    let whole = text_of(&folder.file());
    // It wrote half of its draft, and held the guard when it ended.
    write(&folder.0.join(".plugway.lock.draft"), whole.get(..whole.len() / 2).unwrap());
    assert!(folder.0.join(".plugway.lock.guard").exists());
    assert_eq!(file.read().unwrap().unwrap().pins.len(), 1);
    let (now, ()) = file
        .change(|lock, is_there| {
            assert!(is_there);
            lock.pin(tool("sub"), version("\"two\""));
            Ok(())
        })
        .unwrap();
    assert_eq!(file.read().unwrap(), Some(now.clone()));
    assert_eq!(now.pins.len(), 2);
    assert!(!folder.0.join(".plugway.lock.draft").exists());
}

#[test]
fn what_cannot_be_written_changes_nothing_and_nothing_is_written_for_nothing() {
    let folder = Folder::new();
    let file = LockFile::new(folder.0.join("missing/plugway.lock"));
    assert!(file.change(|_, _| Ok(())).is_err());
    let file = LockFile::new(folder.file());
    file.change(|_, _| Ok(())).unwrap();
    assert!(!folder.file().exists());
    write(&folder.file(), "{broken");
    let changed = file.change(|lock, _| {
        lock.pin(tool("add"), version("\"one\""));
        Ok(())
    });
    let why = changed.unwrap_err().to_string();
    assert!(why.contains("plugway.lock: it is broken"), "{why}");
    assert_eq!(text_of(&folder.file()), "{broken");
}

#[cfg(unix)]
#[test]
fn a_new_file_is_its_owners_alone_and_another_one_stays_as_it_was() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = Folder::new();
    let file = LockFile::new(folder.file());
    let add = |name: &'static str| {
        let changed = file.change(|lock, _| {
            lock.pin(tool(name), version("\"one\""));
            Ok(())
        });
        drop(changed.unwrap());
        std::fs::metadata(folder.file()).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(add("a"), 0o600);
    std::fs::set_permissions(folder.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(add("b"), 0o644);
    // A link stays a link.
    let elsewhere = folder.0.join("elsewhere.lock");
    std::fs::rename(folder.file(), &elsewhere).unwrap();
    symlink(&elsewhere, folder.file()).unwrap();
    add("c");
    assert!(std::fs::symlink_metadata(folder.file()).unwrap().is_symlink());
    assert_eq!(file.read().unwrap().unwrap().pins.len(), 3);
}

#[cfg(unix)]
#[test]
fn a_file_stays_its_owners_whoever_writes() {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let folder = Folder::new();
    let file = LockFile::new(folder.file());
    let add = |name: &str| {
        file.change(|lock, _| {
            lock.pin(tool(name), version("\"one\""));
            Ok(())
        })
    };
    let owner = |path: &std::path::Path| {
        let metadata = std::fs::metadata(path).unwrap();
        (metadata.uid(), metadata.gid())
    };
    let guard = folder.0.join(".plugway.lock.guard");
    // Only an administrator can give something away; for all others it is their own before and after.
    let given = chown(&folder.0, Some(4_242), Some(4_343)).is_ok();
    let of_folder = owner(&folder.0);
    assert!(!given || of_folder == (4_242, 4_343));
    drop(add("a").unwrap());
    assert_eq!((owner(&folder.file()), owner(&guard)), (of_folder, of_folder));
    if given {
        chown(folder.file(), Some(4_444), Some(4_545)).unwrap();
        drop(add("b").unwrap());
        assert_eq!(owner(&folder.file()), (4_444, 4_545));
    }
}

#[test]
fn many_processes_lose_nothing() {
    let folder = Folder::new();
    let path = folder.file();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let file = LockFile::new(path.clone());
            scope.spawn(move || {
                for number in 0..5 {
                    let changed = file.change(|lock, _| {
                        lock.pin(tool(&format!("{thread}.{number}")), version("\"x\""));
                        Ok(())
                    });
                    drop(changed.unwrap());
                }
            });
        }
    });
    assert_eq!(LockFile::new(path).read().unwrap().unwrap().pins.len(), 40);
}

#[test]
fn everything_in_it_is_bounded() {
    let mut lock = Lock::default();
    for number in 0..20 {
        let text = format!("\"{number}\"");
        lock.apply(Record::Wait(tool("add"), waiting(&text, true)));
        lock.apply(Record::Pin(tool("sub"), version(&text)));
    }
    let waits: Vec<_> = lock.waiting[&tool("add")].iter().map(|one| one.text.clone()).collect();
    assert_eq!(waits.len(), super::super::lock::WAITING);
    assert_eq!(waits.last().unwrap().as_deref(), Some("\"19\""));
    assert_eq!(lock.pins[&tool("sub")].len(), super::super::lock::VERSIONS);
    let many = |lock: &mut Lock, upstream: &str| {
        let of = |name: String| Key { upstream: upstream.into(), ..tool(&name) };
        let records = (0..super::super::lock::OF_ONE).flat_map(|number| {
            [
                Record::Pin(of(format!("t{number}")), version("\"x\"")),
                Record::Wait(of(format!("w{number}")), waiting("\"x\"", true)),
            ]
        });
        lock.apply_all(records.collect());
        lock.pins.len() + lock.waiting.len()
    };
    // One server takes no other's room.
    assert_eq!(many(&mut lock, "notes"), super::super::lock::OF_ONE);
    assert_eq!(many(&mut lock, "other"), 2 * super::super::lock::OF_ONE);
    for upstream in ["a", "b", "c", "d"] {
        many(&mut lock, upstream);
    }
    assert_eq!(lock.pins.len() + lock.waiting.len(), super::super::lock::THINGS);
}

#[test]
fn what_a_server_shows_no_more_waits_no_more() {
    let mut lock = Lock::default();
    for (name, text, everybodys) in
        [("a", "\"1\"", true), ("a", "\"2\"", true), ("a", "\"3\"", false), ("b", "\"1\"", true)]
    {
        lock.apply(Record::Wait(tool(name), waiting(text, everybodys)));
    }
    let other = Key { upstream: "other".into(), ..tool("a") };
    lock.apply(Record::Wait(other.clone(), waiting("\"1\"", true)));
    let gone = [(tool("a"), digest("\"1\"")), (tool("b"), digest("\"1\""))];
    lock.apply(Record::Settle(BTreeSet::from(gone)));
    let texts = |key: &Key| -> Vec<&str> {
        let all = lock.waiting.get(key).into_iter().flatten();
        all.filter_map(|one| one.text.as_deref()).collect()
    };
    assert_eq!(texts(&tool("a")), ["\"2\"", "\"3\""]);
    assert!(texts(&tool("b")).is_empty());
    assert_eq!(texts(&other), ["\"1\""]);
}
