use plugway_sdk::hooks::policy::Admit;
use plugway_sdk::testing::{Caller, Host};
use serde_json::json;

use super::{ask, at_chem, at_notes, attributes, gateway, passes, refusal};

fn called(host: &Host, caller: &str, own: &str) {
    host.caller(caller).call("tools/call", own).target("notes", own);
}

#[test]
fn each_caller_has_its_own_minute() {
    let gateway = gateway(json!({"max_calls_per_minute": 2}));
    let host = Host::new();
    for caller in ["ann", "bob"] {
        called(&host, caller, "read");
        assert_eq!(ask(&gateway, &host), Admit::Pass);
        host.advance(10_000);
        assert_eq!(ask(&gateway, &host), Admit::Pass);
        let Admit::Reject(refusal) = ask(&gateway, &host) else { panic!("a third call") };
        assert_eq!(refusal.retry_after_ms, Some(50_000));
        assert_eq!(
            refusal.body.unwrap(),
            r#"{"success": false, "error": "Rate limit exceeded: maximum 2 calls per minute. Please wait and try again.", "retry_after_seconds": 50}"#
        );
        assert_eq!((refusal.code, refusal.cause.as_deref()), (None, Some("max_calls_per_minute")));
        host.advance(50_000);
        assert_eq!(ask(&gateway, &host), Admit::Pass);
    }
}

#[test]
fn only_calls_of_tools_are_counted() {
    let gateway = gateway(json!({"max_calls_per_minute": 1}));
    let host = Host::new();
    for method in ["prompts/get", "resources/read"] {
        host.caller("ann").call(method, "x://y").target("notes", "x://y");
        assert!(passes(&gateway, &host) && passes(&gateway, &host), "{method}");
    }
}

#[test]
fn a_retry_and_what_is_denied_are_not_counted() {
    let gateway = gateway(json!({"max_calls_per_minute": 1, "blocked_tools": ["delete"]}));
    let host = Host::new();
    called(&host, "ann", "delete");
    assert!(!passes(&gateway, &host) && !passes(&gateway, &host));
    called(&host, "ann", "read");
    host.attempt(0, Some("r1"), None);
    assert!(passes(&gateway, &host) && passes(&gateway, &host));
    called(&host, "ann", "read");
    assert!(passes(&gateway, &host));
    assert!(!passes(&gateway, &host));
}

#[test]
fn parallel_calls_count_by_their_inputs() {
    let gateway = gateway(json!({"max_calls_per_minute": 5}));
    let host = at_chem("chem_parallel_execute", "");
    let with = |inputs: serde_json::Value| {
        host.arguments(json!({"inputs": inputs}));
        passes(&gateway, &host)
    };
    assert!(with(json!([{}, {}, {}])));
    assert!(!with(json!([{}, {}, {}])), "only two are left");
    assert!(with(json!([])), "at least one");
    assert!(with(json!(null)));
    assert!(!with(json!([])));
    host.arguments(json!({"inputs": [1, 2, 3, 4, 5, 6]}));
    let said = refusal(&gateway, &host);
    assert!(said.contains("this counts as 6 calls") && !said.contains("retry_after"), "{said}");
}

#[test]
fn a_call_that_is_judged_again_is_counted_once() {
    let gateway = gateway(json!({"max_calls_per_minute": 4}));
    let host = at_chem("chem_parallel_execute", "");
    host.arguments(json!({"inputs": [1, 2]}));
    let set = attributes(&gateway, &host);
    let [(key, value)] = &*set else { panic!("{set:?}") };
    assert_eq!((value.as_str(), key.starts_with("gateway/charged/")), ("2", true));
    host.attribute(key, value);
    for _ in 0..9 {
        assert!(passes(&gateway, &host));
    }
    // Somebody added an input.
    host.arguments(json!({"inputs": [1, 2, 3]}));
    assert_eq!(attributes(&gateway, &host)[0].1, "3");
    host.call("tools/call", "read").target("notes", "read");
    assert!(passes(&gateway, &host));
    assert!(!passes(&gateway, &host), "all four are used up");
}

#[test]
fn a_burst_is_made_up_for() {
    let gateway = gateway(json!({"limits": [{"calls_per_minute": 60, "burst": 2}]}));
    let host = at_notes("read");
    assert!(passes(&gateway, &host) && passes(&gateway, &host));
    let Admit::Reject(refusal) = ask(&gateway, &host) else { panic!("a third call") };
    assert_eq!(refusal.retry_after_ms, Some(1_000));
    host.advance(1_000);
    assert!(passes(&gateway, &host));
    assert!(!passes(&gateway, &host));
}

#[test]
fn limits_are_shared_as_they_say() {
    let of = |per: &str| gateway(json!({"limits": [{"calls_per_minute": 1, "per": per}]}));
    let (ann, bob, eve) = (("ann", Some("north")), ("bob", Some("north")), ("eve", None));
    for (per, first, second, shared) in [
        ("caller", (ann, "a"), (ann, "b"), true),
        ("caller", (ann, "a"), (bob, "a"), false),
        ("tenant", (ann, "a"), (bob, "b"), true),
        ("tenant", (ann, "a"), (eve, "a"), false),
        ("tool", (ann, "a"), (eve, "a"), true),
        ("tool", (ann, "a"), (ann, "b"), false),
        ("caller_tool", (ann, "a"), (ann, "a"), true),
        ("caller_tool", (ann, "a"), (bob, "a"), false),
        ("caller_tool", (ann, "a"), (ann, "b"), false),
        ("all", (ann, "a"), (eve, "b"), true),
    ] {
        let (gateway, host) = (of(per), Host::new());
        let call = |((id, tenant), tool): ((&str, Option<&str>), &str)| {
            host.as_caller(Caller {
                id: id.to_owned(),
                tenant: tenant.map(str::to_owned),
                ..Caller::default()
            });
            host.call("tools/call", tool).target("notes", tool);
            passes(&gateway, &host)
        };
        assert!(call(first), "{per}");
        assert_eq!(call(second), !shared, "{per} {first:?} {second:?}");
    }
}

#[test]
fn where_one_refuses_none_is_charged() {
    let gateway = gateway(json!({
        "max_calls_per_minute": 3,
        "limits": [{"calls_per_minute": 1, "per": "tool", "tools": ["narrow"]}],
    }));
    let host = Host::new();
    called(&host, "ann", "narrow");
    assert!(passes(&gateway, &host));
    for _ in 0..9 {
        let said = refusal(&gateway, &host);
        assert!(said.contains("maximum 1 calls"), "{said}");
    }
    called(&host, "ann", "wide");
    assert!(passes(&gateway, &host) && passes(&gateway, &host));
    assert!(refusal(&gateway, &host).contains("maximum 3 calls"));
}

#[test]
fn what_was_counted_counts_under_changed_numbers() {
    let host = Host::new();
    called(&host, "ann", "read");
    let limits = |calls: u32| json!({"calls_per_minute": calls, "tools": ["read"]});
    let before = gateway(json!({"limits": [limits(2)]}));
    assert!(passes(&before, &host) && passes(&before, &host));
    let other = json!({"calls_per_minute": 100, "per": "all"});
    let after = gateway(json!({"limits": [other, limits(3)]}));
    assert!(passes(&after, &host));
    assert!(!passes(&after, &host));
}

#[test]
fn long_names_are_counted_apart() {
    let gateway = gateway(json!({"limits": [{"calls_per_minute": 1, "per": "tool"}]}));
    let host = Host::new();
    for end in ["a", "b"] {
        called(&host, "ann", &format!("{}{end}", "x".repeat(400)));
        assert!(passes(&gateway, &host), "{end}");
        assert!(!passes(&gateway, &host), "{end}");
    }
}

#[test]
fn inputs_in_a_text_are_counted_and_others_refused() {
    let gateway = gateway(json!({"max_calls_per_minute": 5}));
    let host = at_chem("chem_parallel_execute", "");
    host.arguments(json!({"inputs": "[{}, {}, {}, {}, {}, {}]"}));
    let said = refusal(&gateway, &host);
    assert!(said.contains("this counts as 6 calls"), "{said}");
    for odd in [json!("no list"), json!({"a": 1}), json!("{\"a\": 1}"), json!(7), json!("[NaN, 1]")]
    {
        host.arguments(json!({"inputs": odd}));
        let said = refusal(&gateway, &host);
        assert!(said.contains("must be a list"), "{odd} {said}");
    }
    host.arguments(json!({"inputs": " [1, 2, 3]"}));
    assert_eq!(attributes(&gateway, &host)[0].1, "3");
    host.arguments(json!({"inputs": [1, 2]}));
    assert!(passes(&gateway, &host));
    assert!(!passes(&gateway, &host), "all five are used up");
    // Where nothing is counted nobody asks.
    host.arguments(json!({"inputs": "no list"}));
    assert!(passes(&super::gateway(json!({"blocked_tools": ["x"]})), &host));
}

#[test]
fn a_call_that_falls_under_another_rule_when_it_is_judged_again_is_counted_there() {
    let limit = |name: &str, n: u32, per_minute: u32| {
        json!({
            "name": name, "do": "limit", "limit": {"per_minute": per_minute},
            "when": {"argument": {"pointer": "/n", "equals": n}},
        })
    };
    let gateway = gateway(json!({
        "max_calls_per_minute": 9, "rules": [limit("few", 1, 1), limit("many", 2, 9)],
    }));
    let host = at_notes("write");
    host.arguments(json!({"n": 2}));
    let set = attributes(&gateway, &host);
    let [(key, value)] = &*set else { panic!("{set:?}") };
    host.attribute(key, value);
    // Somebody changed it.
    host.arguments(json!({"n": 1}));
    let set = attributes(&gateway, &host);
    host.attribute(key, &set[0].1);
    assert!(passes(&gateway, &host), "it was counted there");
    host.attribute(key, "");
    assert!(refusal(&gateway, &host).contains("maximum 1 calls"));
}

#[test]
fn who_observes_is_held_to_the_limits_of_rules() {
    let rule = json!({"do": "limit", "limit": {"per_minute": 1}});
    let gateway = gateway(json!({"mode": "observe", "rules": [rule]}));
    let host = at_notes("read");
    assert!(passes(&gateway, &host));
    assert!(refusal(&gateway, &host).contains("Rate limit exceeded"));
}
