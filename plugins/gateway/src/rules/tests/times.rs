//! Hours of the week.

use plugway_sdk::serde_json::json;

use super::{Made, Outlook, holds, rules};

const MINUTE: f64 = 60_000.0;
const DAY: f64 = 24.0 * 60.0 * MINUTE;
/// Monday 2026-06-29 00:00:00 UTC.
const MONDAY: f64 = 1_782_691_200_000.0;

fn at(day: f64, hours: f64, minutes: f64) -> Made {
    Made { now_ms: MONDAY + day * DAY + (hours * 60.0 + minutes) * MINUTE, ..Made::default() }
}

#[test]
fn hours_of_days() {
    let office = json!({"time": {"from": "09:00", "to": "17:30", "days": ["mon", "tue", "wed", "thu", "fri"]}});
    for (made, expected) in [
        (at(0.0, 8.0, 59.0), false),
        (at(0.0, 9.0, 0.0), true),
        (at(4.0, 17.0, 29.0), true),
        (at(4.0, 17.0, 30.0), false),
        (at(5.0, 12.0, 0.0), false),
        (at(6.0, 12.0, 0.0), false),
    ] {
        assert_eq!(holds(&office, &made), expected, "{}", made.now_ms);
    }
}

#[test]
fn hours_over_midnight_belong_to_the_day_on_which_they_begin() {
    let night = json!({"time": {"from": "22:00", "to": "06:00", "days": "sun"}});
    for (made, expected) in [
        (at(6.0, 21.0, 59.0), false),
        (at(6.0, 22.0, 0.0), true),
        (at(0.0, 0.0, 0.0), true),
        (at(0.0, 5.0, 59.0), true),
        (at(0.0, 6.0, 0.0), false),
        (at(0.0, 22.0, 0.0), false),
    ] {
        assert_eq!(holds(&night, &made), expected, "{}", made.now_ms);
    }
}

#[test]
fn an_offset_moves_the_hours() {
    let east =
        json!({"time": {"from": "00:00", "to": "01:00", "days": "mon", "utc_offset": "+02:00"}});
    assert!(holds(&east, &at(6.0, 22.0, 30.0)), "it is Monday there already");
    assert!(!holds(&east, &at(0.0, 0.0, 30.0)));
    let west =
        json!({"time": {"from": "23:00", "to": "24:00", "days": "sun", "utc_offset": "-05:30"}});
    assert!(holds(&west, &at(0.0, 4.0, 30.0)));
    assert!(!holds(&west, &at(0.0, 5.0, 30.0)));
}

#[test]
fn a_list_says_when_it_changes() {
    let rules = rules(json!({"rules": [
        {"when": {"tool": "files_*", "time": {"from": "09:00", "to": "17:00"}}, "do": "deny"},
    ]}));
    let (outlook, valid) = rules.sight(&at(2.0, 8.0, 0.0).listed());
    assert_eq!((outlook, valid), (Outlook::Callable, Some(60 * 60_000)));
    let (outlook, valid) = rules.sight(&at(2.0, 16.0, 59.0).listed());
    assert_eq!((outlook, valid), (Outlook::Denied, Some(60_000)));
    let other = Made { names: vec!["other".to_owned()], ..at(2.0, 8.0, 0.0) };
    assert_eq!(rules.sight(&other.listed()), (Outlook::Callable, None), "no time matters to it");
}

#[test]
fn hours_that_never_end_never_change() {
    let rules = rules(json!({"rules": [{"when": {"time": {"to": "24:00"}}, "do": "deny"}]}));
    assert_eq!(rules.sight(&Made::default().listed()), (Outlook::Denied, None));
    let weekend = super::rules(json!({"rules": [
        {"when": {"time": {"days": ["sun", "mon"]}}, "do": "deny"},
    ]}));
    let (outlook, valid) = weekend.sight(&at(6.0, 23.0, 0.0).listed());
    assert_eq!((outlook, valid), (Outlook::Denied, Some(25 * 60 * 60_000)), "over Sunday's end");
}
