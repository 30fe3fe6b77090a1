//! The policy before a fake host.

mod configuration;
mod confirmations;
mod limits;
mod listing;
mod lists;
mod rules;

use plugway_sdk::hooks::policy::{Admission as _, Admit, Edit};
use plugway_sdk::testing::{Host, plugin};
use serde_json::Value;

use crate::gateway::Gateway;

/// The policy with this configuration.
#[expect(clippy::needless_pass_by_value, reason = "tables are written with values")]
fn gateway(config: Value) -> Gateway {
    plugin(&config.to_string()).unwrap()
}

/// The path of the key that is wrong.
#[expect(clippy::needless_pass_by_value, reason = "tables are written with values")]
fn wrong(config: Value) -> String {
    plugin::<Gateway>(&config.to_string()).unwrap_err().path().to_owned()
}

/// A host with a call of a tool of the server `chem`, which runs code and has these functions.
fn at_chem(own: &str, functions: &str) -> Host {
    let host = Host::new();
    host.caller("ann").call("tools/call", own).target("chem", own);
    host.attribute("runs-code", "true").attribute("functions", functions);
    host
}

/// A host with a call of a tool of a server that runs no code.
fn at_notes(own: &str) -> Host {
    let host = Host::new();
    host.caller("ann").call("tools/call", &format!("notes_{own}")).target("notes", own);
    host
}

fn ask(gateway: &Gateway, host: &Host) -> Admit {
    host.run(|| gateway.admit()).unwrap()
}

/// Whether the call may go on.
fn passes(gateway: &Gateway, host: &Host) -> bool {
    matches!(ask(gateway, host), Admit::Pass | Admit::Edit(_))
}

/// What the caller reads.
fn refusal(gateway: &Gateway, host: &Host) -> String {
    match ask(gateway, host) {
        Admit::Reject(refusal) => refusal.body.unwrap_or(refusal.message),
        other => panic!("{other:?}"),
    }
}

/// The attributes that it sets.
fn attributes(gateway: &Gateway, host: &Host) -> Vec<(String, String)> {
    match ask(gateway, host) {
        Admit::Pass => Vec::new(),
        Admit::Edit(edits) => {
            let set = edits.into_iter().map(|edit| match edit {
                Edit::SetAttribute(set) => set,
                other => panic!("{other:?}"),
            });
            set.collect()
        }
        other => panic!("{other:?}"),
    }
}

fn blocked(name: &str) -> String {
    format!(r#"{{"success": false, "error": "Tool '{name}' is blocked by gateway policy."}}"#)
}
