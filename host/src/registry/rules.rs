//! What the operator allows.

use std::net::IpAddr;
use std::sync::Arc;

use http::Uri;
use http::uri::Scheme;

use crate::config::{ConnectorSettings, HostRule, RegistrySettings, Target, UpstreamSettings};
use crate::fault::{Code, Fault};
use crate::glob;

/// What tools of a connector itself begin with, or those of its servers that run code: `execute_chem_code`, `find_tools`. A
/// server of such a name could make the name of a tool that is not there yet.
const OWN_TOOLS: [&str; 7] = ["execute", "plan", "load", "search", "find", "call", "unload"];

/// What the file says about leases of one connector, and the names in it that no lease may take.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The connector.
    pub connector: Arc<str>,
    /// The bounds.
    pub registry: RegistrySettings,
    /// Its upstreams in the file.
    entries: Vec<UpstreamSettings>,
    /// Names of upstreams that are not started.
    disabled: Vec<Arc<str>>,
}

/// Where a lease has its place.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// It is an upstream of its own, behind those of the file.
    Own,
    /// It says where this upstream of the file is.
    Entry(&'a UpstreamSettings),
}

impl Rules {
    /// Those of a connector as it stands in the file; none where it has no registry.
    pub fn of(connector: &ConnectorSettings) -> Option<Self> {
        Some(Self {
            connector: connector.name.clone(),
            registry: connector.registry.clone()?,
            entries: connector.upstreams.clone(),
            disabled: connector.disabled.clone(),
        })
    }

    /// Whether this is the name of an upstream of the file.
    pub fn is_entry(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| &*entry.name == name)
    }

    /// The place of a lease of this name, holder (as logs show it) and address; a fault says why it has none.
    pub fn place(&self, name: &str, holder: &str, url: &Uri) -> Result<Place<'_>, Fault> {
        if !self.registry.hosts.iter().any(|rule| covers(rule, url)) {
            let host = url.authority().map_or("", http::uri::Authority::as_str);
            let text = format!("The operator allows no server at {host}.");
            return Err(Fault::new(Code::Forbidden, text));
        }
        let taken = |text: String| Err(Fault::new(Code::NameTaken, text));
        let entry = self.entries.iter().find(|entry| &*entry.name == name);
        if let Some(entry) = entry {
            let accepted = entry.accept_leases.iter().any(|who| **who == *holder);
            return match &entry.target {
                Target::Leased(_) if accepted => Ok(Place::Entry(entry)),
                _ => taken(format!("The name {name:?} belongs to the configuration.")),
            };
        }
        if self.disabled.iter().any(|own| **own == *name) || *self.connector == *name {
            return taken(format!("The name {name:?} belongs to the configuration."));
        }
        if OWN_TOOLS.iter().any(|verb| name == *verb || within(name, verb)) {
            let text =
                format!("The name {name:?} could make names of tools of the connector itself.");
            return taken(text);
        }
        let names = self.entries.iter().map(|entry| &*entry.name);
        let names = names.chain(self.disabled.iter().map(|own| &**own)).chain([&*self.connector]);
        for own in names {
            if overlap(own, name) {
                let text = format!(
                    "The name {name:?} could make names of tools that belong to {own:?} of the configuration."
                );
                return taken(text);
            }
        }
        let aliases = self.entries.iter().flat_map(|entry| entry.naming.aliases.values());
        for alias in aliases {
            if within(alias, name) {
                let text = format!(
                    "The name {name:?} could make the name {alias:?}, which belongs to the configuration."
                );
                return taken(text);
            }
        }
        if !self.registry.names.iter().any(|glob| glob::matches(glob, name)) {
            let text = format!("The operator allows no server to register as {name:?}.");
            return Err(Fault::new(Code::Forbidden, text));
        }
        Ok(Place::Own)
    }
}

/// Whether tools of two upstreams of these names could have the same name: `a` and `a_b` have both `a_b_c`.
pub fn overlap(one: &str, other: &str) -> bool {
    within(one, other) || within(other, one)
}

fn within(longer: &str, shorter: &str) -> bool {
    longer.strip_prefix(shorter).is_some_and(|rest| rest.starts_with('_'))
}

/// Whether the rule means the host and port of this address.
fn covers(rule: &HostRule, url: &Uri) -> bool {
    let Some(host) = url.host() else { return false };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let host = match bare.parse::<IpAddr>() {
        Ok(address) => address.to_string(),
        Err(_a_name) => bare.to_ascii_lowercase(),
    };
    let standard = if url.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    let port = url.port_u16().unwrap_or(standard);
    let is_host = if rule.below {
        let before = host.strip_suffix(&*rule.host).and_then(|rest| rest.strip_suffix('.'));
        before.is_some_and(|before| !before.is_empty())
    } else {
        host == *rule.host
    };
    is_host && rule.port.is_none_or(|own| own == port)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Environment, Flags, parse};

    const FILE: &str = "name: hub\nregistry: {names: ['w-*', 'execute*', 'unload*', 'find-w', chem_x, hub_two, b?], hosts: [127.0.0.1, 'h:80', '*.example.com:8000', '[::1]:9']}\n\
        auth: {mode: static, tokens: {0123456789abcdef: {client_id: ann, scopes: ['plugway:registry']}}}\n\
        upstreams:\n- {name: chem, url: http://x, aliases: {t: w-9_tool}}\n- {name: taken, accept_leases: [ann]}\n- {name: w-off, url: http://x, disabled: true}\n";

    fn rules() -> Rules {
        let (flags, environment) = (Flags::default(), Environment::default());
        let settings = parse(FILE, Path::new("/c/plugway.yaml"), &flags, &environment).unwrap();
        Rules::of(&settings.connectors[0]).unwrap()
    }

    #[test]
    fn a_name_has_its_place_or_none() {
        let (rules, url) = (rules(), "http://h/mcp".parse().unwrap());
        for (name, holder, expected) in [
            ("w-1", "ann", Ok("own")),
            ("w-", "bob", Ok("own")),
            ("bx", "bob", Ok("own")),
            ("execute", "ann", Err((Code::NameTaken, "tools of the connector itself"))),
            ("unload_w", "ann", Err((Code::NameTaken, "tools of the connector itself"))),
            ("find-w", "ann", Ok("own")),
            ("bxy", "bob", Err((Code::Forbidden, "allows no server to register"))),
            ("other", "ann", Err((Code::Forbidden, "allows no server to register"))),
            ("taken", "ann", Ok("entry")),
            ("taken", "bob", Err((Code::NameTaken, "belongs to the configuration"))),
            ("chem", "ann", Err((Code::NameTaken, "belongs to the configuration"))),
            ("w-off", "ann", Err((Code::NameTaken, "belongs to the configuration"))),
            ("hub", "ann", Err((Code::NameTaken, "belongs to the configuration"))),
            ("chem_x", "ann", Err((Code::NameTaken, "names of tools that belong to \"chem\""))),
            ("hub_two", "ann", Err((Code::NameTaken, "names of tools that belong to \"hub\""))),
            ("w-9", "ann", Err((Code::NameTaken, "could make the name \"w-9_tool\""))),
        ] {
            let place = rules.place(name, holder, &url);
            match (place, expected) {
                (Ok(Place::Own), Ok("own")) | (Ok(Place::Entry(_)), Ok("entry")) => {}
                (Err(fault), Err((code, text))) => {
                    assert_eq!(fault.code(), code, "{name}");
                    assert!(fault.public().contains(text), "{name}: {}", fault.public());
                }
                (place, _) => panic!("{name} of {holder}: {place:?}"),
            }
        }
    }

    #[test]
    fn only_hosts_of_the_operator_are_taken() {
        let rules = rules();
        for (url, allowed) in [
            ("http://127.0.0.1:1/mcp", true),
            ("https://127.0.0.1", true),
            ("http://H/mcp", true),
            ("http://h:80", true),
            ("https://h", false),
            ("http://h:81", false),
            ("http://a.example.com:8000", true),
            ("http://a.b.EXAMPLE.com:8000", true),
            ("http://example.com:8000", false),
            ("http://a.example.com", false),
            ("http://evil-example.com:8000", false),
            ("http://example.com.evil:8000", false),
            ("http://[::1]:9", true),
            ("http://[0:0::1]:9", true),
            ("http://[::1]:10", false),
            ("http://127.0.0.2:1", false),
            ("http://127.0.0.1.evil:1", false),
            ("http://169.254.169.254", false),
        ] {
            let placed = rules.place("w-1", "ann", &url.parse().unwrap());
            assert_eq!(placed.is_ok(), allowed, "{url}: {placed:?}");
        }
    }
}
