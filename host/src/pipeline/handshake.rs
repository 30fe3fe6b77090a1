//! What a connector says about itself: the results of `initialize` and `server/discover`.

use super::answer::json_string;
use super::connector::Connector;
use crate::catalogue::EntryKind;
use crate::catalogue::list::MODERN_MEMBERS;
use crate::protocol::Revision;

/// JSON text of the result of `initialize`.
pub fn initialize(connector: &Connector, revision: Revision) -> String {
    format!(
        r#"{{"protocolVersion":"{}","capabilities":{},"serverInfo":{}{}}}"#,
        revision.as_str(),
        capabilities(connector),
        server_info(connector),
        instructions(connector),
    )
}

/// JSON text of the result of `server/discover` (2026-07-28).
pub fn discover(connector: &Connector) -> String {
    format!(
        r#"{{{MODERN_MEMBERS}"supportedVersions":["{}"],"capabilities":{}{},"_meta":{{"io.modelcontextprotocol/serverInfo":{}}}}}"#,
        Revision::NEWEST.as_str(),
        capabilities(connector),
        instructions(connector),
        server_info(connector),
    )
}

/// What this version of plugway forwards, and an upstream offers. Tools are always declared: a client that does not
/// list them at the start would never see those of a server that comes up later.
fn capabilities(connector: &Connector) -> String {
    let view = connector.views.whole();
    let has = |kind: EntryKind| view.catalogue().entries().iter().any(|entry| entry.kind == kind);
    let mut text = String::from(r#"{"tools":{}"#);
    if has(EntryKind::Prompt) {
        text.push_str(r#","prompts":{}"#);
    }
    if has(EntryKind::Resource) || has(EntryKind::Template) {
        text.push_str(r#","resources":{}"#);
    }
    if connector.completes() {
        text.push_str(r#","completions":{}"#);
    }
    text.push('}');
    text
}

fn server_info(connector: &Connector) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(r#"{{"name":{},"version":"{version}"}}"#, json_string(&connector.name))
}

fn instructions(connector: &Connector) -> String {
    if connector.description.is_empty() {
        return String::new();
    }
    format!(r#","instructions":{}"#, json_string(&connector.description))
}
