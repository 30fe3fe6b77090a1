//! From an upstream's own name for a thing to the name that clients see.

use std::borrow::Cow;

use crate::config::{Prefix, Settings};
use crate::execution::OwnName;

/// The longest name that every client takes.
pub const LONGEST: usize = 64;

/// `_` and eight hexadecimal digits.
const SUFFIX: usize = 9;

/// What the names of one upstream depend on; nothing in it changes while the upstream comes and goes.
#[derive(Debug)]
pub struct Namer<'a> {
    /// The upstream's configured name.
    pub upstream: &'a str,
    /// What the operator wrote about names.
    pub settings: &'a Settings,
    /// Set for a code-execution server.
    pub own_name: Option<OwnName<'a>>,
}

impl Namer<'_> {
    /// The shown name of a tool or prompt.
    pub fn shown(&self, kind: &str, own: &str) -> String {
        if kind == "tool" { self.tool(own) } else { self.prompt(own) }
    }

    /// The shown name of one action of a tool: after the tool's alias, else after what stands before all names of the
    /// server; with the tool's name between where several of its tools have the action (`shared`).
    pub fn action(&self, own: &str, action: &str, shared: bool) -> String {
        let before = match (self.settings.aliases.get(own), self.settings.prefix, shared) {
            (Some(alias), ..) => alias.clone(),
            (None, Prefix::Always, false) => cleaned(self.upstream).into_owned(),
            (None, Prefix::Always, true) => [&cleaned(self.upstream), "_", own].concat(),
            (None, Prefix::Never, true) => own.to_owned(),
            (None, Prefix::Never, false) => return self.fitted(action.to_owned(), &[own, action]),
        };
        self.fitted([&before, "_", action].concat(), &[own, action])
    }

    /// The shown name of a tool: an alias, else the pattern of a code-execution server, else prefix and own name.
    fn tool(&self, own: &str) -> String {
        let aliased = self.settings.aliases.contains_key(own);
        match &self.own_name {
            Some(server) if !aliased => match server.renamed(own, &cleaned(self.upstream)) {
                Some(name) => self.fitted(name, &[own]),
                None => self.prompt(own),
            },
            _ => self.prompt(own),
        }
    }

    /// The shown name of a prompt: an alias, else prefix and own name.
    fn prompt(&self, own: &str) -> String {
        if let Some(alias) = self.settings.aliases.get(own) {
            return self.fitted(alias.clone(), &[own]);
        }
        match self.settings.prefix {
            Prefix::Never => self.fitted(own.to_owned(), &[own]),
            Prefix::Always => self.fitted([&cleaned(self.upstream), "_", own].concat(), &[own]),
        }
    }

    /// The name itself if clients take it; else what they take of it, and a hash that keeps it apart from others.
    fn fitted(&self, name: String, own: &[&str]) -> String {
        let mut clean = match cleaned(&name) {
            Cow::Borrowed(_) if name.len() <= LONGEST => return name,
            Cow::Borrowed(_) => name,
            Cow::Owned(clean) => clean,
        };
        clean.truncate(LONGEST - SUFFIX); // all ASCII by now
        let parts = [&[self.upstream], own].concat();
        format!("{clean}_{:08x}", hash(&parts))
    }
}

/// The name of a tool of the connector itself, in the pattern of code-execution servers: `{before}_{connector}_{after}`.
pub fn around(before: &str, connector: &str, after: &str) -> String {
    let settings = Settings::default();
    let own = [before, "_", after].concat();
    let name = [before, "_", &cleaned(connector), "_", after].concat();
    Namer { upstream: connector, settings: &settings, own_name: None }.fitted(name, &[&own])
}

/// Every character outside `[A-Za-z0-9_-]` becomes `_`.
fn cleaned(name: &str) -> Cow<'_, str> {
    let taken = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.bytes().all(|byte| taken(char::from(byte))) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().map(|c| if taken(c) { c } else { '_' }).collect())
}

/// FNV-1a of the parts, each ended by a byte that UTF-8 never has, folded to 32 bits. Names depend on it: never change it.
fn hash(parts: &[&str]) -> u32 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    let long = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let folded = (long ^ (long >> 32)) & u64::from(u32::MAX);
    u32::try_from(folded).unwrap_or_default()
}
