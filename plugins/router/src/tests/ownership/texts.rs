//! Texts that are changed in places: whatever stands in them, nothing else of them changes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{python, wrapped};
use crate::ownership::{sessions, text};

const MARK: &str = "j_1a2b3c4d5e6f";

/// Any JSON, with the mark in some of its strings.
fn anything() -> impl Strategy<Value = Value> {
    let piece =
        prop_oneof![any::<String>(), Just(MARK.to_owned()), Just("\\\"{[\u{7f}é😀".to_owned())];
    let string = prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        string.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The value with each mark in its strings replaced, by rebuilding it.
fn rebuilt(value: &Value, to: &str) -> Value {
    match value {
        Value::String(text) => text.replace(MARK, to).into(),
        Value::Array(items) => items.iter().map(|item| rebuilt(item, to)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.replace(MARK, to), rebuilt(value, to))).collect()
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn an_id_is_put_in_place_wherever_it_stands(value in anything(), to in any::<String>()) {
        let answer = json!({"answer": value});
        let change = |string: &str| string.contains(MARK).then(|| string.replace(MARK, &to));
        let inner = python(&answer);
        let result = wrapped(&inner).to_string();
        let made = text::map_texts(&result, |text| text::map_inner(text, change));
        let wanted = wrapped(&python(&rebuilt(&answer, &to))).to_string();
        prop_assert_eq!(made, wanted);
    }

    #[test]
    fn a_list_of_any_form_keeps_what_stays_of_it(
        own in prop::collection::vec((any::<bool>(), anything()), 0..5),
        before in anything(),
        pretty in any::<bool>(),
    ) {
        let all: Vec<Value> = own.iter().enumerate().map(|(at, (_, more))| json!({"session_id": at.to_string(), "more": more})).collect();
        let list = |sessions: &[Value]| {
            let value = json!({"before": before, "count": sessions.len(), "sessions": sessions, "after": [1.50]});
            if pretty { python(&value) } else { value.to_string() }
        };
        let kept: Vec<Value> = all.iter().zip(&own).filter(|(_, (own, _))| *own).map(|(session, _)| session.clone()).collect();
        let is_own = |id: &str| own[id.parse::<usize>().unwrap()].0;
        let (made, count) = sessions::filtered(&list(&all), is_own).unwrap();
        prop_assert_eq!(count, kept.len());
        prop_assert_eq!(made, list(&kept));
    }

    #[test]
    fn nothing_that_is_put_in_fails(given in any::<String>(), other in any::<String>()) {
        text::map_inner(&given, |_| Some(other.clone()));
        text::map_strings(&given, text::Style::Ascii, |_| Some(other.clone()));
        sessions::filtered(&given, |_| true);
        sessions::recounted(&given, 1);
        text::renumbered(&given, &other, 1);
    }
}

#[test]
fn numbers_of_sessions_are_replaced_where_they_are_numbers() {
    let sentence = "Session x not found. Active sessions: 17";
    let failed = python(&json!({"success": false, "error": sentence, "active": 17}));
    assert_eq!(
        sessions::recounted(&failed, 2).unwrap(),
        python(
            &json!({"success": false, "error": "Session x not found. Active sessions: 2", "active": 17})
        )
    );
    assert_eq!(
        sessions::recounted(sentence, 0).unwrap(),
        "Session x not found. Active sessions: 0"
    );
    let closed = r#"{"remaining_sessions": 17, "message": "remaining_sessions: 17"}"#;
    assert_eq!(
        sessions::recounted(closed, 3).unwrap(),
        r#"{"remaining_sessions": 3, "message": "remaining_sessions: 17"}"#
    );
    assert_eq!(sessions::recounted(r#"{"a": "Active sessions: none"}"#, 3), None);
}
