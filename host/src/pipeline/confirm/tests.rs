//! What a person is shown, what an answer means, and how many calls may wait.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::limits::{
    CARRIED, LINES, OPEN, OPEN_BYTES, OPEN_BYTES_OF_CALLER, OPEN_OF_CALLER, SHOWN, USED_OF_CALLER,
    USED_OF_STRANGERS, VALUE,
};
use super::open::{Confirmations, Spent};
use super::question::{cut, named};
use super::verdict::{No, of_result};
use super::visible::{beginning, quoted};
use crate::fault::Code;
use crate::glyph::hides;
use crate::pipeline::Caller;
use crate::protocol::Message;

fn shown(json: &str) -> (String, usize) {
    super::arguments::shown(json, (SHOWN, LINES))
}

/// What was shown, with what was escaped visibly as JSON has it.
fn read_back(shown: &str) -> String {
    let mut text = String::new();
    let mut letters = shown.chars().peekable();
    while let Some(letter) = letters.next() {
        text.push(letter);
        if letter != '\\' {
            continue;
        }
        let Some(next) = letters.next() else { break };
        if next == 'u' && letters.peek() == Some(&'{') {
            letters.next();
            let digits: String = letters.by_ref().take_while(|digit| *digit != '}').collect();
            let letter = char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap();
            text.pop();
            let escaped = serde_json::to_string(&letter.to_string()).unwrap();
            text.push_str(escaped.get(1..escaped.len() - 1).unwrap());
        } else {
            text.push(next);
        }
    }
    text
}

fn is_plain(text: &str) -> bool {
    text.chars().all(|letter| letter == '\n' || !(hides(letter) || letter == '`'))
}

fn hostile() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        any::<char>(),
        prop::sample::select(vec![
            '\u{202e}',
            '\u{2066}',
            '\u{200b}',
            '\u{200d}',
            '\u{e0041}',
            '\u{fe0f}',
            '\u{1b}',
            '\0',
            '\n',
            '`',
            '"',
            '\\',
            '{',
            '}',
            '\u{3164}',
            '\u{a0}',
            '\u{feff}',
            'a',
        ]),
    ];
    prop::collection::vec(letter, 0..40).prop_map(String::from_iter)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        hostile().prop_map(Value::from),
        (0..2000_usize).prop_map(|length| Value::from("x\u{202e}".repeat(length))),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map(hostile(), inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_arguments_are_they_are_seen_as_they_are(value in value(), spaces in any::<bool>()) {
        let json = if spaces {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        let (text, left_out) = shown(&json);
        prop_assert!(is_plain(&text), "{text:?}");
        prop_assert!(text.len() <= SHOWN && text.lines().count() <= LINES, "{text:?}");
        prop_assert!(left_out <= json.len());
        if left_out == 0 {
            let seen: Value = serde_json::from_str(&read_back(&text)).unwrap();
            prop_assert_eq!(seen, value);
        }
    }

    #[test]
    fn a_name_stays_between_its_quotes(name in hostile(), limit in 0..64_usize) {
        let text = quoted(&name, limit);
        prop_assert!(is_plain(&text) && !text.contains('\n'), "{text:?}");
        let (begun, left_out) = beginning(&name, limit, true);
        prop_assert!(begun.len() <= limit && name.len() >= left_out);
        let read: String = serde_json::from_str(&format!("\"{}\"", read_back(&begun))).unwrap();
        prop_assert_eq!(read.as_str(), name.get(..name.len() - left_out).unwrap());
    }
}

#[test]
fn a_long_string_does_not_hide_what_follows_it() {
    let long = "a".repeat(1 << 20);
    let json = json!({"a": long, "b": [], "c": {}, "target": "production", "n": 1.50}).to_string();
    let (text, left_out) = shown(&json);
    let more = "1,048,320 more bytes";
    assert_eq!(left_out, (1 << 20) - VALUE);
    for line in [more, "\"b\": [],", "\"c\": {},", "\"target\": \"production\""] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let digits = format!("[{}]", "1".repeat(5000));
    assert!(shown(&digits).0.contains("4,744 more digits"), "{}", shown(&digits).0);
    assert_eq!(shown(&digits).1, 4744);
}

#[test]
fn arguments_of_any_size_take_one_page() {
    let many: Vec<u32> = (0..100_000).collect();
    let json = serde_json::to_string(&many).unwrap();
    let (text, left_out) = shown(&json);
    assert!(text.lines().count() <= LINES && text.len() <= SHOWN);
    // What is shown and what is not are all of it: the last line breaks off behind a comma.
    let last = text.trim_end().trim_end_matches(',').rsplit_once('\n').unwrap().1.trim().to_owned();
    let rest = json.get(json.len() - left_out..).unwrap();
    assert!(
        rest.trim_start_matches(',').starts_with(&(last.parse::<u32>().unwrap() + 1).to_string())
    );
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    let (text, left_out) = shown(&deep);
    assert!(text.len() <= SHOWN && left_out > 0);
}

#[test]
fn one_answer_is_a_yes() {
    for (result, expected) in [
        (r#"{"action":"accept","content":{"confirmed":true}}"#, Ok(())),
        (r#"{"content":{"x":1,"confirmed":true},"action":"accept","_meta":{}}"#, Ok(())),
        (r#"{"action":"accept","content":{"confirmed":false}}"#, Err(No::Declined)),
        (r#"{"action":"decline"}"#, Err(No::Declined)),
        (r#"{"action":"decline","content":{"confirmed":true}}"#, Err(No::Declined)),
        (r#"{"action":"cancel","content":{"confirmed":true}}"#, Err(No::Dismissed)),
        (r#"{"action":"accept"}"#, Err(No::Unclear)),
        (r#"{"action":"accept","content":null}"#, Err(No::Unclear)),
        (r#"{"action":"accept","content":{}}"#, Err(No::Unclear)),
        (r#"{"action":"accept","content":{"confirmed":"true"}}"#, Err(No::Unclear)),
        (r#"{"action":"accept","content":{"confirmed":1}}"#, Err(No::Unclear)),
        (r#"{"action":"accept","content":[true]}"#, Err(No::Unclear)),
        (r#"{"action":"ACCEPT","content":{"confirmed":true}}"#, Err(No::Unclear)),
        (
            r#"{"action":"decline","action":"accept","content":{"confirmed":true}}"#,
            Err(No::Unclear),
        ),
        (r#"{"action":"accept","content":{"confirmed":false,"confirmed":true}}"#, Err(No::Unclear)),
        (r#"["accept",{"confirmed":true}]"#, Err(No::Unclear)),
        ("true", Err(No::Unclear)),
        ("", Err(No::Unclear)),
    ] {
        assert_eq!(of_result(result), expected, "{result}");
    }
}

fn somebody(name: &str) -> Caller {
    Caller { anonymous: false, ..Caller::anonymous(name) }
}

#[tokio::test]
async fn so_many_calls_wait_and_no_more() {
    let all = Arc::new(Confirmations::default());
    let mut open = Vec::new();
    for one in 0..OPEN_OF_CALLER {
        open.push(all.open(&somebody("ann"), 1).unwrap());
        assert_eq!(all.counts().0, one + 1);
    }
    assert_eq!(
        all.open(&somebody("ann"), 1).err().map(|fault| fault.code()),
        Some(Code::Overloaded)
    );
    for other in 0.. {
        match all.open(&somebody(&format!("other-{other}")), 1) {
            Ok(one) => open.push(one),
            Err(fault) => {
                assert_eq!((fault.code(), open.len()), (Code::Overloaded, OPEN));
                break;
            }
        }
    }
    drop(open);
    assert_eq!(all.counts().0, 0);
    assert!(all.open(&somebody("ann"), 1).is_ok());
}

#[test]
fn calls_that_wait_hold_so_many_bytes_and_no_more() {
    let all = Arc::new(Confirmations::default());
    let code = |opened: Result<_, crate::fault::Fault>| opened.err().map(|fault| fault.code());
    // One call may always wait, however large; beside it another one may not.
    let large = all.open(&somebody("ann"), OPEN_BYTES_OF_CALLER + 1).unwrap();
    assert_eq!(code(all.open(&somebody("ann"), 1)), Some(Code::Overloaded));
    drop(large);
    let mut open = Vec::new();
    for other in 0..OPEN_BYTES / OPEN_BYTES_OF_CALLER {
        let half = OPEN_BYTES_OF_CALLER / 2;
        for _ in 0..2 {
            open.push(all.open(&somebody(&format!("other-{other}")), half).unwrap());
        }
        let full = all.open(&somebody(&format!("other-{other}")), 1);
        assert_eq!(code(full), Some(Code::Overloaded));
    }
    assert_eq!(code(all.open(&somebody("ann"), 1)), Some(Code::Overloaded), "all is held");
    open.pop();
    assert!(all.open(&somebody("ann"), 1).is_ok());
    drop(open);
    assert!(all.open(&somebody("ann"), OPEN_BYTES).is_ok());
    assert_eq!(code(all.open(&somebody("ann"), OPEN_BYTES + 1)), Some(Code::Overloaded));
}

#[test]
fn a_state_that_is_good_for_longer_keeps_no_other() {
    let all = Confirmations::default();
    let (ann, minute) = (somebody("ann"), Duration::from_mins(1));
    let begun = Instant::now();
    let long = all.number(CARRIED, begun);
    assert_eq!(all.using(&ann, long, begun).unwrap(), Ok(()));
    for _ in 1..USED_OF_CALLER {
        assert_eq!(all.using(&ann, all.number(minute, begun), begun).unwrap(), Ok(()));
    }
    assert!(all.using(&ann, all.number(minute, begun), begun).is_err());
    let later = begun + minute;
    assert_eq!(all.using(&ann, all.number(minute, later), later).unwrap(), Ok(()));
    assert_eq!(all.counts().1, 2, "what was over is forgotten");
    assert_eq!(all.using(&ann, long, later).unwrap(), Err(Spent::Used));
}

#[test]
fn two_long_names_that_begin_alike_are_told_apart() {
    let long = format!("file:///{}", "a".repeat(VALUE));
    let [one, other] = ["1", "2"].map(|end| format!("{long}{end}"));
    assert_ne!(named(&one), named(&other));
    assert!(named(&one).contains("9 more bytes, SHA-256 begins with "), "{}", named(&one));
    assert_eq!(named("file:///a"), r#""file:///a""#);
    let read = |params: &str| {
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{params}}}"#);
        Message::parse(text.into()).unwrap()
    };
    let digest = cut(&read("{}"), &one).unwrap();
    assert!(named(&one).ends_with(&digest), "{digest}");
    assert_ne!(cut(&read("{}"), &other), Some(digest));
    // What is shown as a whole has none: it could be guessed.
    assert_eq!(cut(&read("{}"), "file:///a"), None);
    let call = |arguments: &str| {
        let params = format!(r#"{{"name":"t","arguments":{arguments}}}"#);
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        cut(&Message::parse(text.into()).unwrap(), "t")
    };
    assert_eq!(call(r#"{"pin":1234}"#), None);
    assert!(call(&json!({ "a": long }).to_string()).is_some());
}

#[test]
fn a_state_is_used_once_and_forgotten_when_it_is_over() {
    let all = Confirmations::default();
    let (ann, minute) = (somebody("ann"), Duration::from_mins(1));
    let begun = Instant::now();
    let number = |now| all.number(minute, now);
    let times = number(begun);
    assert_eq!(all.using(&ann, times, begun).unwrap(), Ok(()));
    assert_eq!(all.using(&ann, times, begun).unwrap(), Err(Spent::Used));
    let other = number(begun);
    let later = begun + minute;
    assert_eq!(all.using(&ann, other, later).unwrap(), Err(Spent::Over));
    assert_eq!(all.using(&ann, times, later).unwrap(), Err(Spent::Over), "used or not");
    // Who asks for many has used none of them.
    for _ in 0..USED_OF_CALLER {
        number(later);
    }
    for _ in 0..USED_OF_CALLER {
        assert_eq!(all.using(&ann, number(later), later).unwrap(), Ok(()));
    }
    assert_eq!(all.counts().1, USED_OF_CALLER, "what was over is forgotten");
    let refused = all.using(&ann, number(later), later);
    assert_eq!(refused.err().map(|fault| fault.code()), Some(Code::Overloaded));
    assert_eq!(all.using(&somebody("bob"), number(later), later).unwrap(), Ok(()));
    let anybody = Caller::anybody();
    for _ in 0..USED_OF_STRANGERS {
        assert_eq!(all.using(&anybody, number(later), later).unwrap(), Ok(()));
    }
    assert!(all.using(&anybody, number(later), later).is_err());
    let end = later + minute;
    assert_eq!(all.using(&ann, number(end), end).unwrap(), Ok(()));
    assert_eq!(all.counts().1, 1);
}
