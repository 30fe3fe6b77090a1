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
fn a_rule_asks_a_person_about_what_can_be_confirmed() {
    let gateway = gateway(json!({"rules": [
        {"when": {"upstream": "notes"}, "do": "confirm", "reason": "it costs money"},
    ]}));
    let asked = |what: &str| Admit::confirm(format!("notes/{what}: it costs money"));
    assert_eq!(ask(&gateway, &at_notes("buy")), asked("buy"));
    let host = Host::new();
    host.caller("ann").call("prompts/get", "greet").target("notes", "greet");
    assert_eq!(ask(&gateway, &host), asked("greet"));
    host.call("resources/read", "notes://1").target("notes", "notes://1");
    assert_eq!(ask(&gateway, &host), asked("notes://1"));
    for (method, name, said) in [
        ("completion/complete", "greet", "Prompt 'greet' is blocked by gateway policy."),
        (
            "completion/complete",
            "notes://{id}",
            "Resource 'notes://{id}' is blocked by gateway policy.",
        ),
        ("resources/subscribe", "notes://1", "Resource 'notes://1' is blocked by gateway policy."),
    ] {
        host.call(method, name).target("notes", name);
        assert_eq!(refusal(&gateway, &host), said, "{method}");
    }
}

#[test]
fn what_is_asked_about_carries_what_was_counted_and_which_rule_it_was() {
    let rule = json!({
        "name": "careful", "do": "confirm",
        "when": {"not": {"argument": {"pointer": "/sure", "equals": true}}},
    });
    let gateway = gateway(json!({"max_calls_per_minute": 1, "rules": [rule]}));
    let host = at_notes("buy");
    host.attribute("explain", "true");
    let Admit::Confirm(asked) = ask(&gateway, &host) else { panic!("nobody is asked") };
    assert_eq!(asked.text, "notes/buy needs a confirmation.");
    let [(by, rule), (charged, once)] = &*asked.attributes else { panic!("{asked:?}") };
    assert_eq!((&**by, &**rule, &**once), ("decided-by", "careful", "1"));
    host.attribute(charged, once);
    assert!(matches!(ask(&gateway, &host), Admit::Confirm(_)), "it was charged twice");
}

#[test]
fn where_everything_is_denied_by_default_methods_that_nobody_knows_are() {
    let config = |mode| json!({"default": "deny", "mode": mode, "rules": [{"do": "allow"}]});
    let host = Host::new();
    for (method, passes) in [("x/vendor", false), ("tasks/x", false), ("tasks/get", true)] {
        host.caller("ann").call(method, "");
        let said = ask(&gateway(config("enforce")), &host);
        assert_eq!(said == Admit::Pass, passes, "{method}: {said:?}");
        assert!(super::passes(&gateway(config("observe")), &host), "{method}");
    }
    host.call("x/vendor", "");
    let sentence = "Method 'x/vendor' is blocked by gateway policy.";
    assert_eq!(refusal(&gateway(config("enforce")), &host), sentence);
    let noted = attributes(&gateway(config("observe")), &host);
    assert_eq!(noted, [("audit".to_owned(), "would deny: default".to_owned())]);
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
