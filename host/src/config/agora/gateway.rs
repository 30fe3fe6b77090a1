//! What a `GatewayConfig` has of its own: one upstream, whose tools keep their names, and a policy, which becomes the plugin
//! `gateway` before all policies that are written by hand.

use super::rewrite::{ALSO, Rewritten, is_blank, say_so, stays, upstream};
use super::router::{self, Offers};
use super::words::GATEWAY;
use crate::config::check::Findings;
use crate::config::environment::Environment;
use crate::config::file::PluginUse;
use crate::config::key::KeyPath;
use crate::config::nearest::nearest;
use crate::config::tree::{Item, Member, Node, Value};

/// The plugin that holds callers to a policy, and its keys: the words of the reference.
const PLUGIN: &str = "gateway";
const LISTS: [&str; 2] = ["allowed_tools", "blocked_tools"];
const RATE: &str = "max_calls_per_minute";
/// What an upstream gets where nobody spoke of it: a gateway shows the names of its server.
const PREFIX: (&str, &str) = ("prefix", "never");

/// Rewrites a file that is a gateway.
pub(super) fn rewrite(tree: &Node, given_away_by: Option<&KeyPath>) -> Rewritten {
    let mut rewriter = Rewritten { also: ALSO, ..Rewritten::new(None) };
    let mut tree = tree.clone();
    let mut forwarding = None;
    if let Value::Map(members) = &mut tree.value {
        let server = take(members, "upstream");
        let policy = take(members, "policy");
        refuse_others(members, &mut rewriter.findings);
        members.retain(|member| stays(member, &mut rewriter.findings));
        forwarding = server.and_then(|server| only(members, server, &mut rewriter));
        if let Some(policy) = policy.filter(|policy| !is_blank(&policy.node)) {
            add_policy(members, &policy, &mut rewriter);
        }
        router::configure(members, Vec::new(), Offers::Search, &mut rewriter);
    }
    if let Some(key) = given_away_by {
        say_so(key, "GatewayConfig", forwarding.as_slice(), &mut rewriter.findings);
    }
    rewriter.tree = Some(tree);
    rewriter
}

/// Words of a gateway in a file that is none.
pub(super) fn refuse_words(members: &mut Vec<Member>, findings: &mut Findings) {
    members.retain(|member| {
        let is_one = GATEWAY.iter().any(|(key, _)| *key == member.key);
        if is_one && !is_blank(&member.node) {
            let sentence = "belongs to a GatewayConfig, which has one `upstream`: a set of keys";
            let hint =
                "take it out, or write `upstream: {name: .., url: ..}` in the place of `upstreams`";
            findings.problem(&KeyPath::top().key(&member.key), sentence, hint);
        }
        !is_one
    });
}

/// What a gateway cannot have.
fn refuse_others(members: &mut Vec<Member>, findings: &mut Findings) {
    members.retain(|member| {
        let (sentence, hint) = match member.key.as_str() {
            "upstreams" => (
                "stands beside `upstream`, but a gateway has exactly one",
                "keep one of them: a RouterConfig has `upstreams`",
            ),
            "connectors" => (
                "has no place in a GatewayConfig, which is one connector",
                "write `form: plugway`, and its words in all connectors",
            ),
            "bridges" => ("belongs to a RouterConfig: a gateway has one server", "take it out"),
            _ => return true,
        };
        if !is_blank(&member.node) {
            findings.problem(&KeyPath::top().key(&member.key), sentence, hint);
        }
        false
    });
}

/// Makes `upstreams` of the one; its name if it gets credentials of callers that nobody spoke of.
fn only(members: &mut Vec<Member>, server: Member, rewriter: &mut Rewritten) -> Option<String> {
    let (here, there) = (KeyPath::top().key("upstreams"), KeyPath::top().key("upstream"));
    let item_key = here.item(0);
    let place = server.node.place;
    let mut item = Item { index: 0, node: server.node };
    if let Value::Map(keys) = &mut item.node.value
        && !keys.iter().any(|member| member.key == PREFIX.0)
    {
        let node = Node { value: Value::Text(PREFIX.1.to_owned()), place };
        keys.push(Member { key: PREFIX.0.to_owned(), place, node });
    }
    let name = upstream(&mut item, (&item_key, &there), rewriter);
    rewriter.moves.push((item_key, there.clone()));
    rewriter.moves.push((here, there));
    let node = Node { value: Value::List(vec![item]), place };
    members.push(Member { key: "upstreams".to_owned(), place: server.place, node });
    name
}

/// Puts the policy before those that are written by hand.
fn add_policy(members: &mut Vec<Member>, policy: &Member, rewriter: &mut Rewritten) {
    let top = KeyPath::top();
    let key = top.key("policy");
    let Some(config) = checked(&policy.node, &key, &mut rewriter.findings) else { return };
    if config.is_empty() {
        return;
    }
    if is_configured(members) {
        let sentence = "stands beside `plugins.gateway.config`, which it would replace";
        rewriter.findings.problem(&key, sentence, "keep one of them");
        return;
    }
    let mut items = match take(members, "policies") {
        None | Some(Member { node: Node { value: Value::Null, .. }, .. }) => Vec::new(),
        Some(Member { node: Node { value: Value::List(items), .. }, .. }) => items,
        // That it must be a list is said where it is read.
        Some(other) => {
            members.push(other);
            return;
        }
    };
    let here = top.key("policies");
    for item in &mut items {
        let written = here.item(item.index);
        item.index += 1;
        rewriter.moves.push((here.item(item.index), written));
    }
    let place = policy.place;
    let text = Node { value: Value::Text(PLUGIN.to_owned()), place };
    let used = vec![
        Member { key: "use".to_owned(), place, node: text },
        Member {
            key: "config".to_owned(),
            place,
            node: Node { value: Value::Map(config), place: policy.node.place },
        },
    ];
    items.insert(0, Item { index: 0, node: Node { value: Value::Map(used), place } });
    rewriter.moves.push((here.item(0).key("config"), key.clone()));
    rewriter.moves.push((here.item(0), key));
    let node = Node { value: Value::List(items), place };
    members.push(Member { key: "policies".to_owned(), place, node });
}

/// What the policy says, without what says nothing; none where it is no policy.
fn checked(policy: &Node, key: &KeyPath, findings: &mut Findings) -> Option<Vec<Member>> {
    let Value::Map(members) = &policy.value else {
        let hint = "write `policy: {blocked_tools: [..], max_calls_per_minute: 60}`";
        findings.problem(key, "must be a set of keys", hint);
        return None;
    };
    let mut kept = Vec::new();
    for member in members {
        let key = key.key(&member.key);
        let says_something = match member.key.as_str() {
            RATE => is_rate(&member.node.value, &key, findings),
            name if LISTS.contains(&name) => is_list(&member.node.value, &key, findings),
            name => {
                let known = LISTS.iter().copied().chain([RATE]);
                let hint = match nearest(name, known.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known here: {}", known.collect::<Vec<_>>().join(", ")),
                };
                findings.problem(&key, "is not a key that plugway knows", &hint);
                false
            }
        };
        kept.extend(says_something.then(|| member.clone()));
    }
    Some(kept)
}

fn is_rate(value: &Value, key: &KeyPath, findings: &mut Findings) -> bool {
    match value {
        Value::Null => false,
        Value::Unsigned(0) => {
            refuse_zero(key, findings);
            false
        }
        Value::Unsigned(rate) if u32::try_from(*rate).is_ok() => true,
        _ => {
            findings.problem(
                key,
                "must be a whole number above 0",
                "write `max_calls_per_minute: 60`",
            );
            false
        }
    }
}

fn refuse_zero(key: &KeyPath, findings: &mut Findings) {
    let hint = "write how many calls a caller may make in a minute, or take it out for no limit";
    findings.problem(key, "is 0, with which nobody could call anything", hint);
}

fn is_list(value: &Value, key: &KeyPath, findings: &mut Findings) -> bool {
    let items = match value {
        Value::Null => return false,
        Value::List(items) => items,
        _ => {
            findings.problem(key, "must be a list of names", "write `[name, ..]`");
            return false;
        }
    };
    let wrong = items
        .iter()
        .find(|item| !matches!(&item.node.value, Value::Text(name) if !name.trim().is_empty()));
    if let Some(item) = wrong {
        findings.problem(&key.item(item.index), "must be the name of a tool", "take it out");
        return false;
    }
    if items.is_empty() && key.last_key() == Some("allowed_tools") {
        let sentence = "is empty, which allows every tool, as it does in agora-workbench";
        findings.warning(key, sentence, "name what is allowed, or take it out");
    }
    !items.is_empty()
}

/// Whether the plugin has a configuration of its own.
fn is_configured(members: &[Member]) -> bool {
    let plugins = members.iter().find(|member| member.key == "plugins");
    let config = plugins.and_then(|plugins| plugins.node.value_of(PLUGIN)?.value_of("config"));
    config.is_some_and(|config| !is_blank(config))
}

fn take(members: &mut Vec<Member>, key: &str) -> Option<Member> {
    let place = members.iter().position(|member| member.key == key)?;
    Some(members.remove(place))
}

/// Variables of a gateway, and the key of the plugin that each is.
pub(super) const VARIABLES: [(&str, &str); 3] = [
    ("GATEWAY_ALLOWED_TOOLS", "allowed_tools"),
    ("GATEWAY_BLOCKED_TOOLS", "blocked_tools"),
    ("GATEWAY_MAX_CALLS_PER_MINUTE", RATE),
];

/// The policy that the environment describes; none where it describes none.
pub(super) fn of_environment(
    environment: &Environment,
    findings: &mut Findings,
) -> Option<PluginUse> {
    let mut config = serde_json::Map::new();
    for (variable, key) in VARIABLES {
        let Some(written) = environment.get(variable).map(str::trim) else { continue };
        if key != RATE {
            let names = written.split(',').map(str::trim).filter(|name| !name.is_empty());
            let names: Vec<&str> = names.collect();
            if !names.is_empty() {
                config.insert(key.to_owned(), names.into());
            }
            continue;
        }
        let place = KeyPath::top().key(variable);
        match written.parse::<u32>() {
            Ok(0) => refuse_zero(&place, findings),
            Ok(rate) => {
                config.insert(key.to_owned(), rate.into());
            }
            Err(_) if written.is_empty() => {}
            Err(_) => {
                let sentence = format!("is `{written}`. Must be an integer");
                findings.problem(
                    &place,
                    sentence,
                    "write how many calls a caller may make in a minute",
                );
            }
        }
    }
    let config = (!config.is_empty()).then(|| serde_json::Value::Object(config));
    config.map(|config| PluginUse { plugin: Some(PLUGIN.to_owned()), config: Some(config) })
}
