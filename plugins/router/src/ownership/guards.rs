//! Which tools of an upstream are about ids of servers that run code. The upstream may be such a server, whatever it calls
//! itself, or a connector before some of them.

use std::collections::BTreeSet;

use super::tool::Tool;
use crate::head::Head;

/// The servers that run code behind one upstream, by their names in its tools.
#[derive(Debug, Default)]
pub struct Guards(BTreeSet<String>);

impl Guards {
    /// Those for which a tool `execute_{server}_code` is among the upstream's own definitions, whether or not it can be shown.
    pub fn of(definitions: &[String]) -> Self {
        let names = definitions.iter().filter_map(|one| Head::of(one, "name").ok());
        let servers = names.filter_map(|head| match Tool::of(&head.text)? {
            (Tool::Execute, server) => Some(plain(&server)),
            _ => None,
        });
        Self(servers.collect())
    }

    /// Whether calls of a tool are about ids that belong to somebody.
    pub fn has(&self, own: &str) -> bool {
        !self.0.is_empty()
            && Tool::of(own)
                .is_some_and(|(tool, server)| tool.is_guarded() && self.0.contains(&plain(&server)))
    }
}

/// A server's name without the word `execute`: where that stands twice in a tool's name, nobody knows which one is the verb.
fn plain(server: &str) -> String {
    server.split('_').filter(|word| *word != "execute").collect::<Vec<_>>().join("_")
}
