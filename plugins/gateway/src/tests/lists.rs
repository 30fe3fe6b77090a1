use serde_json::json;

use super::{at_chem, at_notes, attributes, blocked, gateway, passes, refusal};
use plugway_sdk::hooks::policy::Admit;
use plugway_sdk::testing::Host;

#[test]
fn a_blocked_tool_is_refused_under_each_of_its_names() {
    for entry in ["notes_delete", "delete", "*_delete", "del*"] {
        let gateway = gateway(json!({"blocked_tools": [entry]}));
        assert_eq!(refusal(&gateway, &at_notes("delete")), blocked("notes_delete"), "{entry}");
        assert!(passes(&gateway, &at_notes("read")), "{entry}");
    }
}

#[test]
fn short_names_are_of_servers_that_run_code() {
    let gateway = gateway(json!({"blocked_tools": ["parallel_execute", "send"]}));
    for own in ["chem_parallel_execute", "chem_check_batch", "chem_cancel_batch", "chem_send"] {
        assert_eq!(refusal(&gateway, &at_chem(own, "")), blocked(own));
    }
    for own in ["execute_chem_code", "chem_check_job", "chem_resend"] {
        assert!(passes(&gateway, &at_chem(own, "")), "{own}");
    }
    // A server for messages runs no code.
    assert!(passes(&gateway, &at_notes("mail_send")));
}

#[test]
fn short_names_cover_what_the_connector_offers_itself() {
    let gateway = gateway(json!({"blocked_tools": ["search_tools", "load_skill"]}));
    let host = Host::new();
    for (name, blocked) in [
        ("search_hub_tools", true),
        ("load_hub_skill", true),
        ("plan_hub_workflow", false),
        ("search_other_tools", false),
    ] {
        host.caller("ann").call("tools/call", name).attribute("connector", "hub");
        assert_eq!(passes(&gateway, &host), !blocked, "{name}");
    }
}

#[test]
fn an_allow_list_leaves_what_the_connector_offers_itself() {
    let gateway = gateway(json!({"allowed_tools": ["read"], "allowed_resources": ["notes://*"]}));
    let host = Host::new();
    for (method, name, passing) in [
        ("tools/call", "hub_status", true),
        ("tools/call", "find_tools", true),
        ("tools/call", "anything", false),
        ("resources/read", "plugway://hub/status", true),
        ("resources/read", "plugway://hub/else", false),
        ("resources/read", "notes://a", true),
        ("resources/subscribe", "clock://a", false),
    ] {
        host.caller("ann").call(method, name).attribute("connector", "hub");
        assert_eq!(passes(&gateway, &host), passing, "{method} {name}");
    }
}

#[test]
fn an_allowed_function_brings_the_tools_that_reach_it() {
    let gateway = gateway(json!({"allowed_tools": ["parse_molecule"]}));
    let functions = "parse_molecule\ndock\n";
    for own in ["execute_chem_code", "chem_check_job", "load_chem_skill", "chem_parallel_execute"] {
        assert!(passes(&gateway, &at_chem(own, functions)), "{own}");
        assert_eq!(refusal(&gateway, &at_chem(own, "other\n")), blocked(own));
    }
    assert_eq!(refusal(&gateway, &at_chem("chem_send", functions)), blocked("chem_send"));
    assert_eq!(refusal(&gateway, &at_notes("read")), blocked("notes_read"));
    let host = at_chem("execute_chem_code", functions);
    host.arguments(json!({"code": "parse_molecule('dock')"}));
    assert!(passes(&gateway, &host));
    host.arguments(json!({"code": "dock(1)"}));
    assert_eq!(refusal(&gateway, &host), blocked("dock"));
    host.arguments(json!({"code": "x = 'open"}));
    assert!(refusal(&gateway, &host).contains("cannot be read as Python"));
}

#[test]
fn an_allowed_tool_leaves_the_functions() {
    let gateway = gateway(json!({"allowed_tools": ["execute_code"]}));
    let host = at_chem("execute_chem_code", "dock\n");
    host.arguments(json!({"code": "dock(1)"}));
    assert!(passes(&gateway, &host));
    assert_eq!(refusal(&gateway, &at_chem("chem_check_job", "dock\n")), blocked("chem_check_job"));
}

#[test]
fn code_in_any_tool_of_the_server_is_read() {
    let gateway = gateway(json!({"blocked_tools": ["dock"]}));
    for own in ["execute_chem_code", "chem_parallel_execute", "run_snippet"] {
        let host = at_chem(own, "dock\n");
        host.arguments(json!({"code": "dock(1)", "inputs": [{}]}));
        assert_eq!(refusal(&gateway, &host), blocked("dock"), "{own}");
        host.arguments(json!({"code": 7, "inputs": [{}]}));
        assert!(passes(&gateway, &host), "{own}");
    }
    let host = at_notes("write");
    host.arguments(json!({"code": "dock(1)"}));
    assert!(passes(&gateway, &host), "this server has no functions");
}

#[test]
fn prompts_and_resources_have_lists_of_their_own() {
    let gateway = gateway(json!({
        "blocked_prompts": ["greet"], "allowed_resources": ["notes://a", "notes://{id}"],
    }));
    let host = Host::new();
    let said = |method: &str, name: &str| {
        host.caller("ann").call(method, name).target("notes", name);
        (!passes(&gateway, &host)).then(|| refusal(&gateway, &host))
    };
    let prompt = "Prompt 'greet' is blocked by gateway policy.";
    assert_eq!(said("prompts/get", "greet").as_deref(), Some(prompt));
    assert_eq!(said("completion/complete", "greet").as_deref(), Some(prompt));
    assert_eq!(said("prompts/get", "other"), None);
    assert_eq!(said("tools/call", "greet"), None);
    let resource = "Resource 'notes://b' is blocked by gateway policy.";
    for method in ["resources/read", "resources/subscribe", "completion/complete"] {
        assert_eq!(said(method, "notes://b").as_deref(), Some(resource), "{method}");
        assert_eq!(said(method, "notes://a"), None, "{method}");
    }
    // Found by an allowed template.
    host.call("resources/read", "notes://c").target("notes", "notes://{id}");
    assert!(passes(&gateway, &host));
}

#[test]
fn who_observes_refuses_nothing_and_says_what_it_would() {
    let gateway = gateway(json!({"blocked_tools": ["delete"], "mode": "observe"}));
    let set = attributes(&gateway, &at_notes("delete"));
    assert_eq!(set, [("audit".to_owned(), "would deny: `blocked_tools` names it".to_owned())]);
    assert_eq!(super::ask(&gateway, &at_notes("read")), Admit::Pass);
}

#[test]
fn other_messages_pass() {
    let gateway = gateway(json!({"allowed_tools": ["nothing"], "max_calls_per_minute": 1}));
    let host = Host::new();
    for method in ["tasks/get", "logging/setLevel", "anything/else"] {
        host.caller("ann").call(method, "");
        assert_eq!(super::ask(&gateway, &host), Admit::Pass, "{method}");
    }
}

#[test]
fn a_blocked_function_is_blocked_under_its_shown_name() {
    for entry in ["docking", "dock"] {
        let gateway = gateway(json!({"blocked_tools": [entry]}));
        let host = at_chem("execute_chem_code", "dock\tdocking\nfold\n");
        for (code, used) in [("dock(1)", "dock"), ("docking(1)", "docking")] {
            host.arguments(json!({"code": code}));
            assert_eq!(refusal(&gateway, &host), blocked(used), "{entry}");
        }
        host.arguments(json!({"code": "fold(1)"}));
        assert!(passes(&gateway, &host), "{entry}");
    }
}

#[test]
fn code_that_is_too_long_is_counted_and_refused_unread() {
    let gateway = gateway(json!({"blocked_tools": ["dock"], "max_calls_per_minute": 2}));
    let host = at_chem("execute_chem_code", "dock\n");
    let long = "x = 1\n".repeat(22_000);
    host.arguments(json!({"code": long}));
    for _ in 0..2 {
        let said = refusal(&gateway, &host);
        assert!(said.contains("longer than 128 KiB"), "{said}");
    }
    let said = refusal(&gateway, &host);
    assert!(said.contains("Rate limit exceeded"), "{said}");
    // Where no list names a function nobody looks into it.
    let others = super::gateway(json!({"blocked_tools": ["chem_send"]}));
    assert!(passes(&others, &host));
}

#[test]
fn who_observes_is_told_of_code_too() {
    let gateway = gateway(json!({"blocked_tools": ["dock"], "mode": "observe"}));
    let host = at_chem("execute_chem_code", "dock\n");
    host.arguments(json!({"code": "dock(1)"}));
    let set = attributes(&gateway, &host);
    assert_eq!(set, [("audit".to_owned(), "would deny: `blocked_tools` names it".to_owned())]);
}

#[test]
fn a_completion_is_of_what_its_reference_says() {
    let gateway =
        gateway(json!({"blocked_prompts": ["a:b"], "blocked_resources": ["{scheme}://x"]}));
    for (reference, name, said) in [
        ("prompt", "a:b", "Prompt 'a:b' is blocked by gateway policy."),
        ("template", "{scheme}://x", "Resource '{scheme}://x' is blocked by gateway policy."),
    ] {
        let host = Host::new();
        host.caller("ann").call("completion/complete", name).target("notes", name);
        host.attribute("reference", reference);
        assert_eq!(refusal(&gateway, &host), said);
    }
}

#[test]
fn a_subscription_to_what_is_blocked_can_be_ended() {
    let gateway = gateway(json!({
        "blocked_resources": ["notes://*"], "default": "deny", "rules": [{"do": "allow", "when": {"scope": "x"}}],
    }));
    let host = Host::new();
    for (method, passing) in [("resources/subscribe", false), ("resources/unsubscribe", true)] {
        host.caller("ann").call(method, "notes://a").target("notes", "notes://a");
        assert_eq!(passes(&gateway, &host), passing, "{method}");
    }
}

#[test]
fn both_spellings_of_a_uri_count() {
    let blocking = gateway(json!({"blocked_resources": ["notes://a/b"]}));
    let allowing = gateway(json!({"allowed_resources": ["notes://a/*"]}));
    for (uri, normalised, open) in [
        ("NOTES://a/%62", "notes://a/b", false),
        ("notes://a/b", "notes://a/c", false),
        ("notes://a/%63", "notes://a/c", true),
        ("notes://a/../d", "notes://d", false),
        ("Notes://a/c", "notes://a/c", false),
    ] {
        let host = Host::new();
        host.caller("ann").call("resources/read", uri).target("notes", uri);
        host.attribute("uri-normalised", normalised);
        let both = passes(&blocking, &host) && passes(&allowing, &host);
        assert_eq!(both, open, "{uri} {normalised}");
    }
}
