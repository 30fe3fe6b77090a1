//! Hides functions of servers that run code from callers who lack a scope, and refuses their code where it calls one of these.

#![cfg(target_family = "wasm")]

use plugway_sdk::glob;
use plugway_sdk::prelude::*;

#[derive(Deserialize)]
#[serde(crate = "plugway_sdk::serde", deny_unknown_fields)]
struct Config {
    /// Functions that are hidden: globs over `SERVER.NAME`, with the name that clients see or that the code knows.
    hide: Vec<String>,
    /// Whether they are only unlisted.
    #[serde(default)]
    unlist: bool,
    /// The scope that shows all; none = nobody has it.
    #[serde(default)]
    scope: Option<String>,
}

struct Guest(Config);

impl Plugin for Guest {
    type Config = Config;

    fn configure(config: Config) -> Result<Self, BadConfig> {
        Ok(Self(config))
    }
}

impl Guest {
    fn sees_all(&self) -> bool {
        self.0.scope.as_deref().is_some_and(caller::has_scope)
    }

    fn hides(&self, server: &str, name: &str) -> bool {
        let name = [server, ".", name].concat();
        self.0.hide.iter().any(|pattern| glob::matches(pattern, &name))
    }
}

impl Visibility for Guest {
    fn sight(&self, item: &Item<'_>) -> Result<Sight, Failure> {
        let shown = item.kind != "function"
            || self.sees_all()
            || !(self.hides(item.upstream, item.name)
                || self.hides(item.upstream, &listing::upstream_name(item.index)));
        Ok(match (shown, self.0.unlist) {
            (true, _) => Sight::Shown,
            (false, true) => Sight::Unlisted,
            (false, false) => Sight::Hidden,
        })
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let (Some((server, _)), Some(all)) = (call::target(), call::attribute("functions")) else {
            return Ok(Admit::Pass);
        };
        let code = call::argument::<String>("/code")?.unwrap_or_default();
        let is_called = |name: &&str| {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            code.split(|c| !word(c)).any(|part| part == *name)
        };
        let hidden = |name: &&str| !self.sees_all() && self.hides(&server, name);
        Ok(match all.lines().map(own).filter(is_called).find(hidden) {
            Some(_) => Admit::refuse("The code calls what is not to be used."),
            None => Admit::Pass,
        })
    }
}

/// The name in the code out of a line of `functions`.
fn own(line: &str) -> &str {
    line.split_once('\t').map_or(line, |(own, _)| own)
}

plugway_sdk::export!(Guest: visibility, admission);
