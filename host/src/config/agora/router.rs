//! What the router plugin gets of a `RouterConfig`: its bridges, and that it offers what a connector of agora-workbench
//! offers of its own (`search_NAME_tools` and the like). It checks them itself.

use super::rewrite::{Rewritten, is_blank};
use crate::config::file::PluginUse;
use crate::config::key::KeyPath;
use crate::config::tree::{Member, Node, Value};

/// The plugin that takes these words.
const BUNDLED: &str = "router";
/// Which tools it offers of its own.
const UNIFIED: &str = "unified_tools";

/// What a connector of agora-workbench offers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offers {
    /// A router: searching, planning, loading of skills.
    All,
    /// A gateway: only searching.
    Search,
}

/// The router of a connector of this form of which nothing more was said.
pub(super) fn plain(offers: Offers) -> PluginUse {
    let word = match offers {
        Offers::All => serde_json::Value::Bool(true),
        Offers::Search => "search".into(),
    };
    let config = serde_json::json!({ UNIFIED: word });
    PluginUse { plugin: Some(BUNDLED.to_owned()), config: Some(config) }
}

/// Adds to what the file says of the router; `passed` are the members that it takes from the form, under their own names.
/// Another router than the bundled one is left alone, and takes nothing.
pub(super) fn configure(
    members: &mut Vec<Member>,
    passed: Vec<Member>,
    offers: Offers,
    rewriter: &mut Rewritten,
) {
    let passed = passed.into_iter().filter(|member| !is_blank(&member.node));
    let top = KeyPath::top();
    let place = members.iter().position(|member| member.key == BUNDLED);
    let written = place.map(|place| members.remove(place));
    let Some(mut router) = full(written.as_ref().map(|member| &member.node)) else {
        for member in passed {
            let sentence = "is for the bundled router, which this connector does not use";
            rewriter.findings.problem(&top.key(&member.key), sentence, "take one of them out");
        }
        members.extend(written);
        return;
    };
    // What stands in the place replaces what stands under `plugins`.
    let config = take(&mut router, "config");
    let config = config.or_else(|| declared(members));
    let mut config = match config.map(|member| member.node) {
        None => Vec::new(),
        Some(Node { value: Value::Map(config), .. }) => config,
        // That it must be a set of keys is said where it is read.
        Some(node) => {
            router.push(Member { key: "config".to_owned(), place: node.place, node });
            members.push(whole(router));
            return;
        }
    };
    for member in passed {
        let key = top.key(&member.key);
        if config.iter().any(|known| known.key == member.key) {
            let sentence = format!("stands in `router.config.{}`, too", member.key);
            rewriter.findings.problem(&key, sentence, "keep one of them");
            continue;
        }
        rewriter.moves.push((top.key(BUNDLED).key("config").key(&member.key), key));
        config.push(member);
    }
    if !config.iter().any(|member| member.key == UNIFIED) {
        let value = match offers {
            Offers::All => Value::Bool(true),
            Offers::Search => Value::Text("search".to_owned()),
        };
        let node = Node { value, place: None };
        config.push(Member { key: UNIFIED.to_owned(), place: None, node });
    }
    let node = Node { value: Value::Map(config), place: None };
    router.push(Member { key: "config".to_owned(), place: None, node });
    members.push(whole(router));
}

fn whole(router: Vec<Member>) -> Member {
    let node = Node { value: Value::Map(router), place: None };
    Member { key: BUNDLED.to_owned(), place: None, node }
}

/// The members of `{use: router, ..}`, however it is written; none where it is another router.
fn full(written: Option<&Node>) -> Option<Vec<Member>> {
    let text = |name: &str| Node { value: Value::Text(name.to_owned()), place: None };
    let named = |node: Node| Member { key: "use".to_owned(), place: node.place, node };
    match written.map(|node| &node.value) {
        None | Some(Value::Null) => Some(vec![named(text(BUNDLED))]),
        Some(Value::Text(name)) if name == BUNDLED => Some(vec![named(text(BUNDLED))]),
        Some(Value::Map(members)) => {
            let own = members.iter().find(|member| member.key == "use")?;
            (own.node.value == Value::Text(BUNDLED.to_owned())).then(|| members.clone())
        }
        Some(_) => None,
    }
}

fn take(members: &mut Vec<Member>, key: &str) -> Option<Member> {
    let place = members.iter().position(|member| member.key == key)?;
    Some(members.remove(place))
}

/// The configuration of the plugin's own entry, `plugins: {router: {config: ..}}`.
fn declared(members: &[Member]) -> Option<Member> {
    let plugins = members.iter().find(|member| member.key == "plugins")?;
    let Value::Map(plugins) = &plugins.node.value else { return None };
    let entry = plugins.iter().find(|member| member.key == BUNDLED)?;
    let Value::Map(entry) = &entry.node.value else { return None };
    entry.iter().find(|member| member.key == "config").cloned()
}
