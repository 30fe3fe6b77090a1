//! What must hold for any text.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{CARD, settings, token};
use crate::document::mask;
use crate::find::find;
use crate::kind::Kinds;

/// Texts with things in them, in each other and cut off.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just(token()),
        Just(CARD.to_owned()),
        Just("4111-1111 ".to_owned()),
        Just("ann@example.com".to_owned()),
        Just("GB82WEST12345698765432".to_owned()),
        Just("+44 20 7946 0958".to_owned()),
        Just("SecretAccessKey=".to_owned()),
        Just("x".repeat(40)),
        Just(["sk-", "ant-", "api03-"].concat()),
        Just(["-----BEGIN ", "PRIVATE KEY-----"].concat()),
        Just(["eyJhbGciOiJub25lIn0", ".e30."].concat()),
        Just("[masked card]".to_owned()),
        "[ -~]{0,6}",
        "\\PC{0,4}",
        "[0-9 @.+=:_-]{0,12}",
    ];
    proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::from(4_111_111_111_111_111_u64)),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((text(), inner), 0..4)
                .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Whether anything stands in a string of the value.
fn holds_something(value: &Value) -> bool {
    let is_found = |text: &str| !find(text.as_bytes(), None, Kinds::all()).is_empty();
    match value {
        Value::String(text) => is_found(text),
        Value::Array(items) => items.iter().any(holds_something),
        Value::Object(members) => {
            members.iter().any(|(name, value)| is_found(name) || holds_something(value))
        }
        _ => false,
    }
}

proptest! {
    #[test]
    fn what_is_left_is_json_in_which_nothing_is_found(value in value()) {
        let settings = settings(r#"{"detect":["all"]}"#);
        let text = value.to_string();
        let masked = mask(&text, &settings).unwrap();
        match &masked.text {
            None => prop_assert!(!holds_something(&value)),
            Some(left) => {
                prop_assert!(left != &text);
                let left_value: Value = serde_json::from_str(left).unwrap();
                prop_assert!(!holds_something(&left_value), "{}", left);
                prop_assert_eq!(mask(left, &settings).unwrap().text, None);
            }
        }
        prop_assert_eq!(masked.text.is_some(), masked.counts.found().next().is_some());
    }

    #[test]
    fn hits_are_in_order_and_within_the_text(text in text()) {
        let hits = find(text.as_bytes(), None, Kinds::all());
        let mut at = 0;
        for hit in hits {
            prop_assert!(at <= hit.start && hit.start < hit.end && hit.end <= text.len());
            at = hit.end;
        }
    }

    #[test]
    fn any_text_and_any_bytes_are_taken(text in "\\PC{0,200}", bytes: Vec<u8>) {
        mask(&text, &settings(r#"{"detect":["all"]}"#)).unwrap();
        find(&bytes, Some(&bytes), Kinds::all());
    }

    #[test]
    fn strings_come_out_as_they_went_in(text in "\\PC{0,40}") {
        let written = serde_json::to_string(&text).unwrap();
        let inner = written.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
        let decoded = crate::json::decode(inner.as_bytes());
        prop_assert_eq!(&*decoded, text.as_bytes());
        let mut encoded = Vec::new();
        crate::json::encode(&decoded, &mut encoded);
        let again: String = serde_json::from_str(&format!("\"{}\"", String::from_utf8(encoded).unwrap())).unwrap();
        prop_assert_eq!(again, text);
    }
}
