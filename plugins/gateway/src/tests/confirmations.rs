use plugway_sdk::hooks::policy::Admit;
use plugway_sdk::testing::Host;
use serde_json::json;

use super::{ask, at_notes, gateway, passes};

#[test]
fn a_person_is_asked_about_what_counts_as_destructive() {
    let gateway = gateway(json!({"confirm": "destructive", "not_destructive": ["notes_add"]}));
    let asked = Admit::confirm("notes/delete counts as destructive.");
    assert_eq!(ask(&gateway, &at_notes("delete")), asked, "nobody said anything of it");
    for (hint, value, asks) in [
        ("readOnlyHint", true, false),
        ("readOnlyHint", false, true),
        ("destructiveHint", false, false),
        ("destructiveHint", true, true),
        ("idempotentHint", true, true),
    ] {
        let host = at_notes("delete");
        host.hint(hint, value);
        assert_eq!(ask(&gateway, &host) == asked, asks, "{hint} {value}");
    }
    assert_eq!(ask(&gateway, &at_notes("add")), Admit::Pass);
}

#[test]
fn only_calls_of_tools_are_asked_about() {
    let gateway = gateway(json!({"confirm": "destructive"}));
    let host = Host::new();
    host.caller("ann").call("prompts/get", "greet").target("notes", "greet");
    assert_eq!(ask(&gateway, &host), Admit::Pass);
    host.call("tools/call", "search_hub_tools").attribute("connector", "hub");
    assert_eq!(ask(&gateway, &host), Admit::Pass, "this only shows what there is");
    assert!(passes(&super::gateway(json!({"confirm": "off"})), &at_notes("delete")));
}

#[test]
fn what_is_refused_anyway_is_not_asked_about() {
    let gateway = gateway(json!({
        "confirm": "destructive", "blocked_tools": ["delete"], "max_calls_per_minute": 1,
    }));
    assert!(matches!(ask(&gateway, &at_notes("delete")), Admit::Reject(_)));
    let host = at_notes("write");
    assert!(matches!(ask(&gateway, &host), Admit::Confirm(_)));
    assert!(matches!(ask(&gateway, &host), Admit::Reject(_)), "the minute is used up");
}

#[test]
fn what_would_have_been_denied_is_told_where_a_person_is_asked_too() {
    let gateway = gateway(json!({
        "confirm": "destructive", "mode": "observe", "blocked_tools": ["delete"],
    }));
    let Admit::Confirm(asked) = ask(&gateway, &at_notes("delete")) else {
        panic!("nobody is asked")
    };
    let told = "would deny: `blocked_tools` names it".to_owned();
    assert_eq!(asked.attributes, [("audit".to_owned(), told)]);
}
