//! All that a caller is shown anywhere, and all that it may use: whatever policies decide, the two are the same, and nothing
//! else is named.
//!
//! [`mod@shown`] reads every place where names are shown, [`mod@used`] calls everything, and [`agree`] compares. A connector is called
//! `hub`; what there is at all is read of one without policies before the same servers.

mod shown;
mod used;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::{Plugway, plugway::Setup, rpc::Client, wait};

pub use self::shown::{Place, Shown, shown};
pub use self::used::used;

/// Tools that plugway always has where discovery is lazy: their descriptions name one another.
const DISCOVERY: [&str; 4] = ["find_tools", "load_tools", "unload_tools", "call_tool"];

const BOUND: Duration = Duration::from_secs(30);

/// What has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// As `tools/list` names it.
    Tool,
    /// As `prompts/list` names it.
    Prompt,
    /// Its URI.
    Resource,
    /// Its URI template.
    Template,
    /// `SERVER.NAME`.
    Function,
    /// A function in a plan, which says only its name.
    Step,
    /// As it is loaded.
    Skill,
}

/// Some names.
pub type Names = BTreeSet<(Kind, String)>;

/// A caller, with a session that lasts and without one.
#[derive(Debug)]
pub struct Who {
    token: &'static str,
    clients: [Client; 2],
}

impl Who {
    /// Whoever has this token.
    pub async fn of(plugway: &Plugway, token: &'static str) -> Result<Self> {
        let session = Client::legacy_as(plugway.address(), "/mcp", token).await?;
        Ok(Self { token, clients: [session, Client::modern_as(plugway.address(), "/mcp", token)] })
    }

    /// All that this caller is shown of a connector without policies, which is all there is.
    pub async fn everything(&self, plugway: &Plugway) -> Result<Shown> {
        shown(plugway, &self.clients[1], self.token, &BTreeSet::new()).await
    }
}

/// Puts another configuration in place.
pub async fn applied(plugway: &Plugway, setup: &Setup) -> Result<()> {
    let lines =
        || plugway.stderr().iter().filter(|line| line.contains("configuration applied")).count();
    let before = lines();
    setup.put(plugway)?;
    let is_there = async || Ok((lines() > before).then_some(()));
    wait::until("the configuration is applied", BOUND, is_there).await
}

/// Whether each place shows this caller, of what it would show of `all`, exactly what the caller may use, and nobody names
/// anything else. What it may use.
pub async fn agree(plugway: &Plugway, all: &Shown, who: &Who) -> Result<Names> {
    let mut may = None;
    for (client, era) in who.clients.iter().zip(["legacy", "modern"]) {
        let about = || format!("the caller {} of the {era} era", who.token);
        let used = used(client, all).await.with_context(about)?;
        let shown = shown(plugway, client, who.token, &all.names()).await.with_context(about)?;
        compare(all, &shown, &used).with_context(about)?;
        ensure!(
            may.as_ref().is_none_or(|may| *may == used),
            "{}: not {may:?} but {used:?}",
            about()
        );
        may = Some(used);
    }
    may.context("there is a client of each era")
}

fn compare(all: &Shown, shown: &Shown, used: &Names) -> Result<()> {
    for (place, there) in &all.places {
        let reached = there.gate.as_ref().is_none_or(|gate| used.contains(gate));
        let expected: Names = there.names.intersection(used).filter(|_| reached).cloned().collect();
        let found = shown.places.get(place).map(|place| place.names.clone()).unwrap_or_default();
        ensure!(
            found == expected,
            "{place} shows {found:?}, and to be used of that are {expected:?} of {used:?}"
        );
    }
    let names = all.names();
    let may_be_said = |name: &str| used.iter().any(|(_, used)| bare(used) == name);
    let hidden = names.difference(used).map(|(kind, name)| match kind {
        Kind::Function => bare(name),
        _ => name.as_str(),
    });
    let is_secret = |name: &&str| !may_be_said(name) && !DISCOVERY.contains(name);
    let hidden: BTreeSet<&str> = hidden.filter(is_secret).collect();
    for (place, text) in &shown.said {
        for name in &hidden {
            ensure!(!is_named(text, name), "{place} names {name:?}, which is hidden: {text}");
        }
    }
    Ok(())
}

/// The name of a function without its server.
fn bare(name: &str) -> &str {
    name.split_once('.').filter(|_| !name.contains(':')).map_or(name, |(_, bare)| bare)
}

/// Whether a text holds this name and not only as a part of a longer one.
fn is_named(text: &str, name: &str) -> bool {
    // Texts stand in JSON within JSON.
    let text = text.replace("\\\\n", "\n").replace("\\n", "\n");
    let of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(of_name) && !after.is_some_and(of_name)
    })
}

#[cfg(test)]
mod tests {
    use super::is_named;

    #[test]
    fn a_name_is_found_as_a_whole() {
        let text = r#"{"text":"{\"tools\":[\"a_parse\"],\\nrun\":\n- parse_it, compute: x"}"#;
        for (name, found) in [("compute", true), ("run", true), ("parse", false), ("a_parse", true)]
        {
            assert_eq!(is_named(text, name), found, "{name}");
        }
    }
}
