//! What operators are shown, and what they approve.

use super::super::definition::digest;
use super::super::difference::unified;
use super::super::lock::{Key, KeyText, Kind, Lock, Record, Waiting, Why};
use super::super::work::{Chosen, approve, differences, is_somebody, list, quoted};
use super::{tool, version};

fn waits(text: &str, why: Why) -> Waiting {
    let unseen = vec!["U+202E".to_owned()];
    let (digest, text) = (digest(text), Some(text.into()));
    Waiting {
        digest,
        text,
        first_seen: "2026-02-02T00:00:00Z".into(),
        why,
        unseen,
        everybodys: true,
    }
}

fn lock() -> Lock {
    let mut lock = Lock::default();
    lock.pin(tool("add"), version(r#"{"description":"Adds.","name":"add"}"#));
    lock.apply(Record::Wait(
        tool("add"),
        waits("{\"description\":\"Adds.\u{202e}\",\"name\":\"add\"}", Why::Changed),
    ));
    lock.apply(Record::Wait(tool("odd/\u{200b}"), waits("\"x\"", Why::New)));
    let said = Key { kind: Kind::Instructions, name: "".into(), ..tool("") };
    lock.apply(Record::Wait(said, waits("\"Say it.\"", Why::New)));
    lock
}

fn key(text: &str) -> Chosen {
    Chosen::Key(KeyText::parse(text).unwrap(), None)
}

#[test]
fn what_waits_is_listed_before_what_counts() {
    let text = list(&lock(), &Chosen::All, false);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].starts_with("waits     hub/notes/tool/add sha256:"), "{text}");
    assert!(lines[0].ends_with(": changed; characters that cannot be seen: U+202E"), "{text}");
    assert!(lines[1].contains(r"hub/notes/tool/odd/\u{200b} sha256:"), "{text}");
    assert!(lines[2].contains("hub/notes/instructions sha256:"), "{text}");
    assert!(lines[3].ends_with("by ann at 2026-01-03T03:04:05Z"), "{text}");
    assert_eq!(list(&lock(), &Chosen::All, true).lines().count(), 3);
    assert_eq!(list(&lock(), &Chosen::Connector("other".to_owned()), false), "");
}

#[test]
fn a_difference_shows_what_nobody_sees() {
    let text = differences(&lock(), &key("hub/notes/tool/add"), " --pins-file x");
    let shown = "  {\n-   \"description\": \"Adds.\",\n+   \"description\": \"Adds.\\u202e\",\n    \"name\": \"add\"\n  }\n";
    assert!(text.contains(shown), "{text}");
    assert!(text.contains("approved by ann at 2026-01-03T03:04:05Z\n+++ sha256:"), "{text}");
    let line = text.lines().rev().find(|line| !line.is_empty()).unwrap();
    assert!(
        line.starts_with("$ plugway pins approve hub/notes/tool/add --digest sha256:"),
        "{line}"
    );
    assert!(line.ends_with(" --pins-file x --by WHO"), "{line}");
    let new = differences(&lock(), &key("hub/notes/instructions"), "");
    assert!(
        new.contains("--- (nothing is approved)\n")
            && new.contains("+ \"Say it.\"\n$ plugway pins"),
        "{new}"
    );
}

#[test]
fn what_is_meant_is_approved_and_nothing_else() {
    for (chosen, count) in [
        (Chosen::All, 3),
        (Chosen::Upstream("notes".to_owned()), 3),
        (Chosen::Upstream("hub/notes".to_owned()), 3),
        (Chosen::Upstream("hub".to_owned()), 0),
        (key("hub/notes/tool/add"), 1),
        (key("hub/notes/tool/odd/\u{200b}"), 1),
        (key(r"hub/notes/tool/odd/\u{200b}"), 1),
        (key("hub/notes/prompt/add"), 0),
        (key("hub/notes/instructions"), 1),
    ] {
        let mut lock = lock();
        let approved = approve(&mut lock, &chosen, "bob").unwrap();
        assert_eq!(approved.len(), count, "{chosen:?}");
        for one in approved {
            let newest = lock.newest(&one.key).unwrap();
            assert_eq!((&newest.digest, &*newest.approved_by), (&one.digest, "bob"));
            assert!(lock.waits(&one.key, &one.digest).is_none());
        }
        let left: usize = lock.waiting.values().map(Vec::len).sum();
        assert_eq!(left, 3 - count);
    }
}

#[test]
fn of_several_the_one_of_a_digest_is_approved() {
    let mut lock = lock();
    lock.apply(Record::Wait(tool("add"), waits("\"y\"", Why::Changed)));
    let wanted = digest("\"y\"");
    let of = |digest: &str| {
        Chosen::Key(KeyText::parse("hub/notes/tool/add").unwrap(), Some(digest.to_owned()))
    };
    for nothing in ["", "sha256:", "zz"] {
        assert!(approve(&mut lock.clone(), &of(nothing), "bob").unwrap().is_empty());
    }
    let approved = approve(&mut lock, &of(wanted.get(..20).unwrap()), "bob").unwrap();
    assert_eq!((approved.len(), &approved[0].digest), (1, &wanted));
    assert_eq!(lock.waiting[&tool("add")].len(), 1);
    assert_eq!(lock.pins[&tool("add")].len(), 2, "a server may show both");
}

#[test]
fn a_beginning_that_means_several_is_refused() {
    let mut lock = Lock::default();
    // Two whose digests begin with the same digit.
    let text = |number: u32| format!("\"{number}\"");
    let first = digest(&text(0));
    let beginning = first.get(..8).unwrap();
    let other = (1..u32::MAX).map(text).find(|text| digest(text).starts_with(beginning)).unwrap();
    for text in [&text(0), &other] {
        lock.apply(Record::Wait(tool("add"), waits(text, Why::Changed)));
    }
    let of = |digest: &str| {
        Chosen::Key(KeyText::parse("hub/notes/tool/add").unwrap(), Some(digest.to_owned()))
    };
    let before = lock.clone();
    assert!(approve(&mut lock, &of(beginning), "bob").unwrap_err().contains("2 definitions"));
    assert_eq!(lock, before);
    assert_eq!(approve(&mut lock, &of(&first), "bob").unwrap().len(), 1);
    // What waits is another one by now.
    assert!(approve(&mut lock, &of(&first), "bob").unwrap().is_empty());
}

#[test]
fn a_key_means_one_thing() {
    let (plain, odd) = (tool(r"a\u{202e}"), tool("a\u{202e}"));
    assert_ne!(plain.to_string(), odd.to_string());
    for key in [&plain, &odd] {
        let text = KeyText::parse(&key.to_string()).unwrap();
        assert_eq!((text.means(&plain), text.means(&odd)), (*key == plain, *key == odd));
    }
}

#[test]
fn who_approves_is_somebody() {
    for who in ["Ann Lee", "ann@example.com", "Łucja"] {
        assert_eq!(is_somebody(who), Ok(()));
    }
    for who in ["", " ", "first sight", "First  Sight ", "ann\n", "a\u{1b}[2K", "ann\u{200b}"] {
        assert!(is_somebody(who).is_err(), "{who:?}");
    }
}

#[test]
fn a_word_of_a_shell_is_one_word() {
    assert_eq!(quoted("hub/up/tool/add"), "hub/up/tool/add");
    assert_eq!(quoted("a b; rm 'x' $y"), r"'a b; rm '\''x'\'' $y'");
    assert_eq!(quoted(""), "''");
}

#[test]
fn what_is_no_key_is_none() {
    for text in [
        "",
        "hub",
        "hub/notes",
        "hub/notes/tool",
        "hub/notes/thing/add",
        "hub/notes/instructions/x",
    ] {
        assert!(KeyText::parse(text).is_err(), "{text}");
    }
}

#[test]
fn lines_that_differ_are_shown_with_some_around_them() {
    assert_eq!(unified("a\nb\n", "a\nb\n"), "");
    let before: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    let mut after = before.clone();
    after[10] = "ten".to_owned();
    after.remove(30);
    let text = unified(&before.join("\n"), &after.join("\n"));
    let expected = "  7\n  8\n  9\n- 10\n+ ten\n  11\n  12\n  13\n  ...\n  27\n  28\n  29\n- 30\n  31\n  32\n  33\n";
    assert_eq!(text, expected);
    let (one, other) = ("x\n".repeat(3_000), "y\n".repeat(3_000));
    assert_eq!(unified(&one, &other).lines().count(), 6_000);
}
