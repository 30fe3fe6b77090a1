//! Each condition, where it holds and where it does not.

use plugway_sdk::serde_json::{Value, json};

use super::{Made, holds};

fn table(made: &Made, yes: &[Value], no: &[Value]) {
    for when in yes {
        assert!(holds(when, made), "must hold: {when}");
        assert!(!holds(&json!({"not": when}), made), "its contrary must not hold: {when}");
    }
    for when in no {
        assert!(!holds(when, made), "must not hold: {when}");
        assert!(holds(&json!({"not": when}), made), "its contrary must hold: {when}");
    }
}

#[test]
fn who_calls() {
    table(
        &Made::default(),
        &[
            json!({}),
            json!({"scope": "read"}),
            json!({"scope": ["admin", "write"]}),
            json!({"tenant": "acme"}),
            json!({"tenant": ["other", "ac*"]}),
            json!({"client": "cli-?"}),
            json!({"scope": "read", "tenant": "acme", "client": "*"}),
        ],
        &[
            json!({"scope": "rea"}),
            json!({"scope": ["admin"]}),
            json!({"tenant": "acm"}),
            json!({"client": "cli-"}),
            json!({"scope": "read", "tenant": "other"}),
        ],
    );
    let nobody = Made { tenant: None, client: None, ..Made::default() };
    table(&nobody, &[], &[json!({"tenant": "*"}), json!({"client": "*"})]);
}

#[test]
fn claims() {
    table(
        &Made::default(),
        &[
            json!({"claim": {"name": "department", "equals": "ops"}}),
            json!({"claim": {"name": "groups", "equals": "admins"}}),
            json!({"claim": {"name": "groups", "equals": ["staff", "admins"]}}),
            json!({"claim": {"name": "groups", "one_of": ["x", "staff"]}}),
            json!({"claim": {"name": "groups", "matches": "adm.*"}}),
            json!({"claim": {"name": "groups", "size": {"min": 2, "max": 2}}}),
            json!({"claim": {"name": "level", "range": {"min": 3}}}),
            json!({"claim": {"name": "level", "equals": 3.0}}),
            json!({"claim": {"name": "/realm_access/roles", "equals": "editor"}}),
            json!({"claim": {"name": "/realm_access/a~1b", "equals": true}}),
            json!({"claim": {"name": "none", "exists": false}}),
            json!({"claim": {"name": "level", "exists": true}}),
            json!({"claim": [{"name": "none", "equals": 1}, {"name": "level", "equals": 3}]}),
        ],
        &[
            json!({"claim": {"name": "department", "equals": "OPS"}}),
            json!({"claim": {"name": "department", "matches": "op"}}),
            json!({"claim": {"name": "none", "equals": null}}),
            json!({"claim": {"name": "none", "matches": ".*"}}),
            json!({"claim": {"name": "/realm_access/nothing", "exists": true}}),
            json!({"claim": {"name": "level", "equals": "3"}}),
        ],
    );
}

#[test]
fn what_is_called() {
    let made = Made::default();
    table(
        &made,
        &[
            json!({"tool": "files_delete"}),
            json!({"tool": "delete"}),
            json!({"tool": ["x", "files_*"]}),
            json!({"upstream": "f*s"}),
            json!({"kind": "tool"}),
            json!({"kind": ["prompt", "tool"]}),
            json!({"hint": {"readOnlyHint": false}}),
            json!({"hint": {"destructiveHint": "unknown", "readOnlyHint": false}}),
            json!({"hint": [{"readOnlyHint": true}, {"openWorldHint": "unknown"}]}),
        ],
        &[
            json!({"tool": "files_delet"}),
            json!({"tool": ["a", "b"]}),
            json!({"upstream": "other"}),
            json!({"kind": "prompt"}),
            json!({"hint": {"readOnlyHint": true}}),
            json!({"hint": {"readOnlyHint": "unknown"}}),
            json!({"hint": {"destructiveHint": true}}),
            json!({"hint": {"destructiveHint": false}}),
        ],
    );
    let prompt = Made { kind: "prompt".to_owned(), upstream: None, ..made };
    table(&prompt, &[json!({"kind": "prompt"})], &[json!({"tool": "*"}), json!({"upstream": "*"})]);
}

#[test]
fn arguments() {
    table(
        &Made::default(),
        &[
            json!({"argument": {"pointer": "/path", "equals": "/tmp/x"}}),
            json!({"argument": {"pointer": "/path", "matches": "/tmp/.*"}}),
            json!({"argument": {"pointer": "/path", "one_of": [1, "/tmp/x"]}}),
            json!({"argument": {"pointer": "/list", "equals": [1, 2.0, 3]}}),
            json!({"argument": {"pointer": "/list/0", "equals": 1}}),
            json!({"argument": {"pointer": "/list", "size": {"min": 3, "max": 3}}}),
            json!({"argument": {"pointer": "/text", "size": {"max": 3}}}),
            json!({"argument": {"pointer": "", "size": {"min": 6}}}),
            json!({"argument": {"pointer": "/n", "range": {"min": 5, "max": 5}}}),
            json!({"argument": {"pointer": "/deep", "equals": {"a": null}}}),
            json!({"argument": {"pointer": "/a~1b", "equals": true}}),
            json!({"argument": {"pointer": "/missing", "exists": false}}),
            json!({"argument": [{"pointer": "/n", "equals": 0}, {"pointer": "/n", "equals": 5}]}),
            json!({"all": [{"argument": {"pointer": "/n", "equals": 5}}, {"argument": {"pointer": "/path", "exists": true}}]}),
        ],
        &[
            json!({"argument": {"pointer": "/path", "matches": "/tmp/"}}),
            json!({"argument": {"pointer": "/path", "matches": "tmp|/tmp/xy|x"}}),
            json!({"argument": {"pointer": "/n", "matches": "4"}}),
            json!({"argument": {"pointer": "/n", "size": {"min": 2}}}),
            json!({"argument": {"pointer": "/n", "range": {"max": 4.9}}}),
            json!({"argument": {"pointer": "/list", "equals": 1}}),
            json!({"argument": {"pointer": "/text", "size": {"min": 4}}}),
            json!({"argument": {"pointer": "/missing", "equals": null}}),
            json!({"argument": {"pointer": "/missing", "size": {"min": 0}}}),
            json!({"argument": {"pointer": "/path", "equals": "/tmp/x", "size": {"max": 3}}}),
            json!({"all": [{"argument": {"pointer": "/n", "equals": 5}}, {"argument": {"pointer": "/path", "equals": ""}}]}),
        ],
    );
}

#[test]
fn what_is_too_deep_to_be_read_is_measured_all_the_same() {
    let rules = super::rules(json!({"rules": [
        {"when": {"argument": {"pointer": "/x", "size": {"min": 2}}}, "do": "deny"},
    ]}));
    let deep = |items: &str| format!("[{}{items}{}]", "[".repeat(5_000), "]".repeat(5_000));
    let two = Deep(Made::default(), format!("[{0},{0}]", deep("1")));
    assert_eq!(rules.decide(&two).act, super::Act::Deny);
    let one = Deep(Made::default(), deep("1,2"));
    assert_eq!(rules.decide(&one).act, super::Act::Allow);
}

/// A call whose every argument is this text.
struct Deep(Made, String);
impl super::Facts for Deep {
    fn has_scope(&self, scope: &str) -> bool {
        self.0.has_scope(scope)
    }
    fn claim(&self, name: &str) -> Option<String> {
        self.0.claim(name)
    }
    fn tenant(&self) -> Option<String> {
        self.0.tenant()
    }
    fn client(&self) -> Option<String> {
        self.0.client()
    }
    fn caller(&self) -> String {
        self.0.caller()
    }
    fn tool_names(&self) -> &[String] {
        self.0.tool_names()
    }
    fn kind(&self) -> &str {
        self.0.kind()
    }
    fn upstream(&self) -> Option<String> {
        self.0.upstream()
    }
    fn hint(&self, name: &str) -> Option<bool> {
        self.0.hint(name)
    }
    fn argument(&self, _: &str) -> Option<Option<String>> {
        Some(Some(self.1.clone()))
    }
    fn now_ms(&self) -> f64 {
        self.0.now_ms()
    }
}
