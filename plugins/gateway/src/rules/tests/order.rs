//! Which rule decides, and what it says.

use plugway_sdk::serde_json::json;

use super::{Act, Made, Outlook, rules};
use crate::rules::LimitKey;

#[test]
fn the_first_rule_that_holds_decides() {
    let rules = rules(json!({"default": "deny", "rules": [
        {"name": "nobody deletes", "when": {"tool": "files_delete", "not": {"scope": "admin"}}, "do": "deny", "reason": "Ask an administrator."},
        {"when": {"tool": "files_*"}, "do": "limit", "limit": {"per_minute": 5, "burst": 2, "per": "tool"}},
        {"when": {"hint": {"readOnlyHint": true}}, "do": "confirm"},
    ]}));
    let made = Made::default();
    let verdict = rules.decide(&made);
    assert_eq!((verdict.act, verdict.rule), (Act::Deny, Some("nobody deletes")));
    assert_eq!((verdict.reason, verdict.observed), (Some("Ask an administrator."), None));
    assert_eq!(rules.sight(&made.listed()), (Outlook::Denied, None));

    let admin = Made { scopes: ["admin".to_owned()].into(), ..made.clone() };
    let limit = Act::Limit { per_minute: 5, burst: Some(2), key: LimitKey::Tool };
    let verdict = rules.decide(&admin);
    assert_eq!((verdict.act, verdict.rule, verdict.reason), (limit, Some("rules[1]"), None));
    assert_eq!(rules.sight(&admin.listed()), (Outlook::Callable, None));

    let reads = Made {
        names: vec!["other".to_owned()],
        hints: [("readOnlyHint".to_owned(), true)].into(),
        ..made.clone()
    };
    assert_eq!(rules.decide(&reads).act, Act::Confirm);
    let rest = Made { names: vec!["other".to_owned()], ..made };
    let verdict = rules.decide(&rest);
    assert_eq!((verdict.act, verdict.rule), (Act::Deny, None));
}

#[test]
fn a_list_knows_no_arguments() {
    let deny = |default: &str| {
        rules(json!({"default": default, "rules": [
            {"when": {"argument": {"pointer": "/n", "equals": 5}}, "do": "deny"},
        ]}))
    };
    let made = Made::default();
    assert_eq!(deny("allow").sight(&made.listed()).0, Outlook::Maybe);
    assert_eq!(deny("deny").sight(&made.listed()).0, Outlook::Denied);
    let allow = rules(json!({"default": "deny", "rules": [
        {"when": {"argument": {"pointer": "/n", "exists": false}}, "do": "allow"},
    ]}));
    assert_eq!(allow.sight(&made.listed()).0, Outlook::Maybe);
}

#[test]
fn observing_refuses_nothing_and_says_what_it_would_have_done() {
    let rules = rules(json!({"mode": "observe", "default": "deny", "rules": [
        {"name": "a", "when": {"scope": "admin"}, "do": "confirm", "reason": "It matters."},
        {"when": {"scope": "read"}, "do": "limit", "limit": {"per_minute": 1}},
    ]}));
    assert!(rules.observes());
    let made = Made::default();
    let verdict = rules.decide(&made);
    let limit = Act::Limit { per_minute: 1, burst: None, key: LimitKey::Caller };
    assert_eq!((verdict.act, verdict.observed), (limit, None));
    let admin = Made { scopes: ["admin".to_owned()].into(), ..made.clone() };
    let verdict = rules.decide(&admin);
    let said = "would ask for confirmation: a (It matters.)";
    assert_eq!((verdict.act, verdict.observed.as_deref()), (Act::Allow, Some(said)));
    let stranger = Made { scopes: [].into(), ..made };
    let verdict = rules.decide(&stranger);
    assert_eq!(
        (verdict.act, verdict.observed.as_deref()),
        (Act::Allow, Some("would deny: default"))
    );
    assert_eq!(rules.sight(&stranger.listed()), (Outlook::Callable, None));
}

#[test]
fn rules_about_other_tools_read_nothing() {
    let rules = rules(json!({"rules": [
        {"when": {"tool": "a", "scope": "x"}, "do": "deny"},
        {"when": {"tool": ["b", "c"], "claim": {"name": "d", "exists": true}}, "do": "deny"},
        {"when": {"tool": "other_*", "time": {"from": "09:00"}}, "do": "deny"},
    ]}));
    let made = Made::default();
    assert_eq!(rules.decide(&made).act, Act::Allow);
    assert_eq!(made.reads.get(), 0);
}

#[test]
fn nothing_written_decides_nothing() {
    assert!(rules(json!({})).is_empty());
    assert!(rules(json!({"rules": [], "default": "allow"})).is_empty());
    assert!(!rules(json!({"default": "deny"})).is_empty());
    assert_eq!(rules(json!({})).decide(&Made::default()).act, Act::Allow);
}
