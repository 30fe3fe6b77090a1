//! Which headers a plugin may read and set.

use http::{HeaderMap, HeaderName};

use super::spec::Grants;

/// Headers that no plugin reads or sets, whatever the operator wrote.
const NEVER: [&str; 7] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "mcp-session-id",
    "host",
    "content-length",
];

/// The header grants of a plugin, in lower case.
#[derive(Debug, Default)]
pub struct HeaderGrants {
    names: Vec<Box<str>>,
    prefixes: Vec<Box<str>>,
    set: Vec<HeaderName>,
}

impl HeaderGrants {
    /// Reads the operator's words.
    pub fn of(grants: &Grants) -> Self {
        let mut own = Self::default();
        for name in &grants.headers {
            let name = name.to_ascii_lowercase();
            match name.strip_suffix('*') {
                Some(prefix) => own.prefixes.push(prefix.into()),
                None => own.names.push(name.into()),
            }
        }
        own.set = grants
            .set_headers
            .iter()
            .filter_map(|name| name.parse::<HeaderName>().ok())
            .filter(|name| !NEVER.contains(&name.as_str()))
            .collect();
        own
    }

    /// The first value of a header, if the plugin may read it.
    pub fn read<'a>(&self, headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
        let name = name.parse::<HeaderName>().ok()?;
        let word = name.as_str();
        let granted = self.names.iter().any(|own| **own == *word)
            || self.prefixes.iter().any(|prefix| word.starts_with(&**prefix));
        if !granted || NEVER.contains(&word) {
            return None;
        }
        headers.get(&name)?.to_str().ok()
    }

    /// The header, if the plugin may set or remove it.
    pub fn settable(&self, name: &str) -> Option<&HeaderName> {
        self.set.iter().find(|own| own.as_str().eq_ignore_ascii_case(name))
    }
}
