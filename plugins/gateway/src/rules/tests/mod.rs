//! Rules over made callers and calls.

mod conditions;
mod config;
mod order;
mod properties;
mod readings;
mod times;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use plugway_sdk::serde_json::{Value, from_value, json};

use super::{Act, Facts, Outlook, Rules, RulesConfig};

/// A caller and a call; `arguments` none = a thing of a list.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) scopes: BTreeSet<String>,
    pub(super) claims: Value,
    pub(super) tenant: Option<String>,
    pub(super) client: Option<String>,
    pub(super) names: Vec<String>,
    pub(super) kind: String,
    pub(super) upstream: Option<String>,
    pub(super) hints: BTreeMap<String, bool>,
    pub(super) arguments: Option<Value>,
    pub(super) now_ms: f64,
    /// How often something was read.
    pub(super) reads: Cell<u32>,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            scopes: ["read".to_owned(), "write".to_owned()].into(),
            claims: json!({
                "department": "ops", "groups": ["staff", "admins"], "level": 3,
                "realm_access": {"roles": ["viewer", "editor"], "a/b": true},
            }),
            tenant: Some("acme".to_owned()),
            client: Some("cli-7".to_owned()),
            names: ["files_delete", "delete", "delete"].map(str::to_owned).into(),
            kind: "tool".to_owned(),
            upstream: Some("files".to_owned()),
            hints: [("readOnlyHint".to_owned(), false)].into(),
            arguments: Some(json!({
                "path": "/tmp/x", "list": [1, 2, 3], "n": 5, "deep": {"a": null}, "text": "äöü", "a/b": true,
            })),
            // Wednesday 2026-07-01 12:00:00 UTC
            now_ms: 1_782_907_200_000.0,
            reads: Cell::new(0),
        }
    }
}

impl Made {
    pub(super) fn listed(&self) -> Self {
        Self { arguments: None, ..self.clone() }
    }

    fn read(&self) {
        self.reads.set(self.reads.get() + 1);
    }
}

impl Facts for Made {
    fn has_scope(&self, scope: &str) -> bool {
        self.read();
        self.scopes.contains(scope)
    }
    fn claim(&self, name: &str) -> Option<String> {
        self.read();
        self.claims.get(name).map(Value::to_string)
    }
    fn tenant(&self) -> Option<String> {
        self.read();
        self.tenant.clone()
    }
    fn client(&self) -> Option<String> {
        self.read();
        self.client.clone()
    }
    fn caller(&self) -> String {
        self.read();
        "caller".to_owned()
    }
    fn tool_names(&self) -> &[String] {
        &self.names
    }
    fn kind(&self) -> &str {
        &self.kind
    }
    fn upstream(&self) -> Option<String> {
        self.read();
        self.upstream.clone()
    }
    fn hint(&self, name: &str) -> Option<bool> {
        self.read();
        self.hints.get(name).copied()
    }
    fn argument(&self, pointer: &str) -> Option<Option<String>> {
        self.read();
        let arguments = self.arguments.as_ref()?;
        Some(arguments.pointer(pointer).map(Value::to_string))
    }
    fn now_ms(&self) -> f64 {
        self.read();
        self.now_ms
    }
}

/// Rules out of the three keys as JSON.
pub(super) fn checked(config: Value) -> Result<Rules, (String, String)> {
    Rules::checked(from_value::<RulesConfig>(config).unwrap())
}

pub(super) fn rules(config: Value) -> Rules {
    checked(config).unwrap()
}

/// Whether a condition holds for a call.
pub(super) fn holds(when: &Value, made: &Made) -> bool {
    let rules = rules(json!({"rules": [{"when": when, "do": "deny"}]}));
    let decided = rules.decide(made).act == Act::Deny;
    // A call's facts are all known: lists that knew its arguments would agree.
    let (outlook, _) = rules.sight(made);
    assert_eq!(outlook, if decided { Outlook::Denied } else { Outlook::Callable }, "{when}");
    decided
}
