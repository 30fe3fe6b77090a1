//! What goes wrong, and loses nothing: files that cannot be put aside, lines that were torn in the file before, floods.

use super::tests::{Folder, KEY, kinds, lines, put, read, settings, write};
use super::{Known, Verified, verify};
use crate::config::{AuditRotation, AuditSettings};
use crate::telemetry::audit::{Said, Sink as _};

fn small(folder: &Folder) -> AuditSettings {
    let rotation = AuditRotation { size: 4_096, keep: 5, daily: false };
    AuditSettings { rotation, chain: false, ..settings(folder, None) }
}

#[test]
fn a_file_that_cannot_be_put_aside_grows_on_and_no_other_is_touched() {
    let folder = Folder::new();
    let aside = |number: u32| folder.0.join(format!("audit.jsonl.{number}"));
    for number in 1..=3 {
        put(&aside(number), &format!("old {number}\n"));
    }
    // Where the new file is to be, there is something else.
    let fresh = folder.0.join("audit.jsonl.new");
    std::fs::create_dir(&fresh).unwrap();
    for _ in 0..8 {
        write(&small(&folder), 10).close();
    }
    assert_eq!(lines(&folder.file()).len(), 8 * 12);
    for number in 1..=3 {
        assert_eq!(read(&aside(number)), format!("old {number}\n"));
    }
    assert!(!aside(4).exists());
    std::fs::remove_dir(&fresh).unwrap();
    write(&small(&folder), 10).close();
    assert!(kinds(&aside(1)).len() >= 8 * 12);
    for number in 1..=3 {
        assert_eq!(read(&aside(number + 1)), format!("old {number}\n"));
    }
    assert!(!fresh.exists() && !aside(5).exists());
}

#[test]
fn files_move_only_as_far_as_the_first_number_that_is_free() {
    let folder = Folder::new();
    let aside = |number: u32| folder.0.join(format!("audit.jsonl.{number}"));
    put(&aside(1), "old 1\n");
    put(&aside(3), "old 3\n");
    // One that plugway left when it was killed.
    put(&folder.0.join("audit.jsonl.new"), "");
    put(&folder.file(), &"x".repeat(5_000));
    write(&small(&folder), 0).close();
    assert_eq!((read(&aside(2)), read(&aside(3))), ("old 1\n".to_owned(), "old 3\n".to_owned()));
    assert!(read(&aside(1)).starts_with("xxx") && !aside(4).exists());
}

#[test]
fn a_line_that_was_torn_in_the_file_before_is_told_in_the_new_one() {
    let folder = Folder::new();
    let settings = settings(&folder, Some(KEY));
    write(&settings, 3).close();
    let text = read(&folder.file());
    let aside = folder.0.join("audit.jsonl.1");
    std::fs::rename(folder.file(), &aside).unwrap();
    put(&aside, text.get(..text.len() - 40).unwrap());
    write(&settings, 1).close();
    assert_eq!(kinds(&folder.file()), ["torn", "start", "test", "stop"]);
    let files = [folder.file(), aside.clone()];
    let verified = verify(&files, Some(KEY.as_bytes()), None).unwrap();
    let expected =
        Verified { lines: 8, first: 1, last: 8, hash: verified.hash, closed: true, broken_off: 1 };
    assert_eq!(verified, expected);
    // Alone it is cut off, and one more letter of it away shows.
    let alone = verify(std::slice::from_ref(&aside), Some(KEY.as_bytes()), None).unwrap_err();
    assert!(alone.line == 5 && alone.why.contains("cut off"), "{alone}");
    put(&aside, text.get(..text.len() - 41).unwrap());
    let changed = verify(&files, Some(KEY.as_bytes()), None).unwrap_err();
    assert!(changed.line == 5 && changed.file == aside, "{changed}");
}

#[test]
fn an_end_that_was_taken_away_back_to_an_earlier_one_shows_by_a_line_that_is_known() {
    let folder = Folder::new();
    write(&settings(&folder, None), 1).close();
    let first = read(&folder.file());
    write(&settings(&folder, None), 1).close();
    let whole = verify(&[folder.file()], None, None).unwrap();
    let known = Known { seq: whole.last, hash: whole.hash };
    verify(&[folder.file()], None, Some(known)).unwrap();
    put(&folder.file(), &first);
    assert!(verify(&[folder.file()], None, None).unwrap().closed);
    let broken = verify(&[folder.file()], None, Some(known)).unwrap_err();
    assert!(broken.why.contains("line number 6 is not among"), "{broken}");
    let text = format!("6:{}", crate::hex::hex(&known.hash));
    assert_eq!(text.parse(), Ok(known));
    for wrong in ["", "6", "6:", "x:00", text.get(..text.len() - 1).unwrap(), &format!("{text}0")] {
        assert!(wrong.parse::<Known>().is_err(), "{wrong}");
    }
}

#[test]
fn refused_acts_of_nobody_do_not_hide_those_of_others() {
    let folder = Folder::new();
    let ledger = write(&settings(&folder, None), 0);
    let act = |who, result| {
        let members = [("who", Said::Text(who)), ("result", Said::Text(result))];
        ledger.event("act", &members);
    };
    (0..1_000).for_each(|_| act("", "refused"));
    act("ann", "refused");
    (0..50).for_each(|_| act("ann", "done"));
    ledger.close();
    let lines = lines(&folder.file());
    let of = |who: &str, result: &str| {
        let fits = |line: &&serde_json::Value| line["who"] == *who && line["result"] == *result;
        lines.iter().filter(fits).count()
    };
    assert_eq!((of("ann", "refused"), of("ann", "done")), (1, 50));
    let nobody = lines.iter().filter(|line| line["kind"] == "act" && line["who"].is_null());
    let counts = nobody.map(|line| line["count"].as_u64().unwrap_or(1));
    let (told, all) = counts.fold((0, 0), |(told, all), count| (told + 1, all + count));
    assert!(told < 200 && all == 1_000, "{told} {all}");
}
