use plugway_sdk::hooks::policy::Admit;
use plugway_sdk::testing::Host;
use serde_json::json;

use super::{ask, at_notes, attributes, blocked, gateway, passes, refusal};

#[test]
fn a_rule_refuses_with_its_reason_or_the_usual_sentence() {
    let gateway = gateway(json!({"rules": [
        {"name": "no-delete", "when": {"tool": "delete"}, "do": "deny", "reason": "Ask Ann first."},
        {"when": {"tool": "write"}, "do": "deny"},
    ]}));
    let Admit::Reject(refused) = ask(&gateway, &at_notes("delete")) else { panic!("it passed") };
    assert_eq!(refused.body.as_deref(), Some(r#"{"success": false, "error": "Ask Ann first."}"#));
    assert_eq!(refused.cause.as_deref(), Some("the rule no-delete"));
    assert_eq!(refusal(&gateway, &at_notes("write")), blocked("notes_write"));
    assert_eq!(ask(&gateway, &at_notes("read")), Admit::Pass);
}

#[test]
fn nothing_passes_where_nothing_is_the_default() {
    let gateway = gateway(json!({
        "default": "deny", "rules": [{"when": {"scope": "write"}, "do": "allow"}],
    }));
    let host = at_notes("read");
    assert!(!passes(&gateway, &host));
    host.scope("write");
    assert!(passes(&gateway, &host));
}

#[test]
fn a_rule_asks_a_person_about_tools_alone() {
    let gateway = gateway(json!({"rules": [
        {"when": {"upstream": "notes"}, "do": "confirm", "reason": "it costs money"},
    ]}));
    assert_eq!(ask(&gateway, &at_notes("buy")), Admit::Confirm("notes/buy: it costs money".into()));
    let host = Host::new();
    host.caller("ann").call("prompts/get", "greet").target("notes", "greet");
    assert_eq!(refusal(&gateway, &host), "Prompt 'greet' is blocked by gateway policy.");
}

#[test]
fn the_limit_of_a_rule_counts_beside_the_others() {
    let rule = json!({"name": "slow", "when": {"tool": "write"}, "do": "limit", "limit": {"per_minute": 1}});
    let gateway = gateway(json!({"max_calls_per_minute": 2, "rules": [rule]}));
    let host = Host::new();
    let call = |tool: &str| {
        host.caller("ann").call("tools/call", tool).target("notes", tool);
        passes(&gateway, &host)
    };
    assert!(call("write"));
    assert!(!call("write") && !call("write"));
    assert!(call("read"), "refused calls were charged");
    assert!(!call("read"));
}

#[test]
fn who_asks_is_told_which_rule_let_a_call_pass() {
    let gateway =
        gateway(json!({"rules": [{"name": "readers", "when": {"tool": "read"}, "do": "allow"}]}));
    for (tool, rule) in [("read", "readers"), ("write", "default")] {
        let host = at_notes(tool);
        assert_eq!(ask(&gateway, &host), Admit::Pass);
        host.attribute("explain", "true");
        assert_eq!(attributes(&gateway, &host), [("decided-by".to_owned(), rule.to_owned())]);
    }
}

#[test]
fn who_observes_says_what_lists_and_rules_would() {
    let gateway = gateway(json!({
        "mode": "observe", "blocked_tools": ["delete"],
        "rules": [{"name": "never", "when": {"tool": "delete"}, "do": "deny"}],
    }));
    let set = attributes(&gateway, &at_notes("delete"));
    assert_eq!(set[0].0, "audit");
    assert_eq!(set[0].1, "would deny: `blocked_tools` names it; would deny: never");
}
