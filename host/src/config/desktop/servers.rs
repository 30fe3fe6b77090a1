//! Where the servers stand in a file.

use crate::config::check::Findings;
use crate::config::key::KeyPath;
use crate::config::nearest::nearest;
use crate::config::tree::{Member, Node};

use super::fields;

/// Keys that hold servers: of most clients, and of VS Code.
const HOLDERS: &[&str] = &["mcpServers", "servers"];
/// Keys beside them that plugway knows.
const BESIDE: &[&str] = &["inputs", "$schema"];
/// Foreign keys that a warning names.
const NAMED: usize = 5;

/// The key and the members of the map of servers; a problem where there is none.
pub(super) fn find<'a>(tree: &'a Node, findings: &mut Findings) -> Option<(KeyPath, &'a [Member])> {
    let top = KeyPath::top();
    let Some(members) = fields::members(tree) else {
        findings.problem(&top, "is no set of keys", "write `{\"mcpServers\": {..}}`");
        return None;
    };
    // Settings of VS Code hold the same thing one level deeper.
    let inner = members.iter().find(|member| member.key == "mcp");
    let inner = inner.and_then(|member| Some((top.key("mcp"), fields::members(&member.node)?)));
    let found = holder(&top, members).or_else(|| {
        let (key, members) = inner?;
        holder(&key, members)
    });
    let Some((key, holder)) = found else {
        let keys = members.iter().map(|member| member.key.as_str());
        let hint = match keys.clone().find(|key| nearest(key, HOLDERS.iter().copied()).is_some()) {
            Some(near) => format!("did you mean `mcpServers` or `servers` with `{near}`?"),
            None => "name a file such as claude_desktop_config.json, .cursor/mcp.json, .mcp.json \
                     or .vscode/mcp.json"
                .to_owned(),
        };
        findings.problem(&top, "holds neither `mcpServers` nor `servers`", &hint);
        return None;
    };
    let outer = key.steps().next().and_then(|(name, _)| name);
    let foreign: Vec<&str> = members
        .iter()
        .map(|member| member.key.as_str())
        .filter(|name| Some(*name) != outer && !BESIDE.contains(name))
        .collect();
    warn_of_foreign(&foreign, findings);
    let Some(servers) = fields::members(holder) else {
        findings.problem(&key, "must be a set of servers", "write `{\"NAME\": {..}}`");
        return None;
    };
    if servers.is_empty() {
        findings.problem(&key, "holds no server", "write at least one");
        return None;
    }
    Some((key, servers))
}

fn holder<'a>(outer: &KeyPath, members: &'a [Member]) -> Option<(KeyPath, &'a Node)> {
    HOLDERS.iter().find_map(|name| {
        let member = members.iter().find(|member| member.key == *name)?;
        Some((outer.key(name), &member.node))
    })
}

/// Such files hold much that is nobody else's business: one warning for all of it.
fn warn_of_foreign(keys: &[&str], findings: &mut Findings) {
    if keys.is_empty() {
        return;
    }
    let named: Vec<_> = keys.iter().take(NAMED).map(|key| format!("`{key}`")).collect();
    let more = match keys.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let sentence = format!("holds keys that mean nothing to plugway: {}{more}", named.join(", "));
    findings.warning(&KeyPath::top(), sentence, "plugway leaves them alone");
}
