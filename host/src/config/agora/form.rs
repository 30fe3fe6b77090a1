//! Which form a file has. It is told by words that only one of them knows; what both know decides nothing.

use super::words::{DISPATCHER, GATEWAY};
use crate::config::key::KeyPath;
use crate::config::tree::{Node, Value};

/// The key that says it.
pub(super) const SAID_BY: &str = "form";

/// What a file is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A configuration of plugway.
    Own,
    /// A `RouterConfig`. The key that gave it away; none where the file says so itself.
    Router(Option<KeyPath>),
    /// Words that only a `RouterConfig` has, and words that only a configuration of plugway has.
    Mixed {
        /// Of the first kind.
        theirs: KeyPath,
        /// Of the second kind.
        own: KeyPath,
    },
    /// A `GatewayConfig`. The key that gave it away; none where the file says so itself.
    Gateway(Option<KeyPath>),
    /// A `DispatcherConfig`, and the key that makes it one.
    Dispatcher(KeyPath),
}

/// What a tree is.
pub(super) fn of(tree: &Node) -> Form {
    let top = KeyPath::top();
    let said = match tree.value_of(SAID_BY).map(|node| &node.value) {
        Some(Value::Text(word)) => Some(word.as_str()),
        _ => None,
    };
    if said.is_some_and(|word| word != "agora") {
        return Form::Own;
    }
    // `upstream: [..]` is a slip of the pen in a configuration of plugway.
    if is(tree, "upstream", |value| matches!(value, Value::Map(_))) {
        return Form::Gateway(said.is_none().then(|| top.key("upstream")));
    }
    if is(tree, "workers", |value| matches!(value, Value::List(_))) {
        return Form::Dispatcher(top.key("workers"));
    }
    if said.is_some() {
        return Form::Router(None);
    }
    let Some(theirs) = theirs(tree) else { return Form::Own };
    match own(tree) {
        Some(own) => Form::Mixed { theirs, own },
        None => Form::Router(Some(theirs)),
    }
}

fn is(tree: &Node, key: &str, wanted: impl Fn(&Value) -> bool) -> bool {
    tree.value_of(key).is_some_and(|node| wanted(&node.value))
}

/// The first key that plugway does not know and the reference does. `bridges` is a word of both, `policy` may be a slip
/// of the pen, and `health_check_interval` a key in the wrong place.
fn theirs(tree: &Node) -> Option<KeyPath> {
    let shared = ["upstream", "policy", "health_check_interval"];
    let others = GATEWAY.iter().chain(DISPATCHER).map(|(key, _)| *key);
    let mut top = ["entra_client_id", "entra_tenant_id"].into_iter().chain(others);
    top.find(|key| !shared.contains(key) && tree.value_of(key).is_some())
        .map(|key| KeyPath::top().key(key))
        .or_else(|| in_upstreams(tree, &["expose_tools", "tool_aliases"]))
}

/// The first key that says in plugway's words what the reference says in others.
fn own(tree: &Node) -> Option<KeyPath> {
    let connectors = tree.value_of("connectors").map(|_| KeyPath::top().key("connectors"));
    connectors.or_else(|| in_upstreams(tree, &["expose", "aliases"]))
}

fn in_upstreams(tree: &Node, keys: &[&str]) -> Option<KeyPath> {
    let Value::List(items) = &tree.value_of("upstreams")?.value else { return None };
    items.iter().find_map(|item| {
        let key = keys.iter().find(|key| item.node.value_of(key).is_some())?;
        Some(KeyPath::top().key("upstreams").item(item.index).key(key))
    })
}
