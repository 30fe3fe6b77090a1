//! Which headers and query parameters a plugin may read, and which headers it may set.

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

/// The header grants of a plugin, in lower case, and those of query parameters.
#[derive(Debug, Default)]
pub struct HeaderGrants {
    names: Vec<Box<str>>,
    prefixes: Vec<Box<str>>,
    set: Vec<HeaderName>,
    query: Vec<Box<str>>,
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
        own.query = grants.query.iter().map(|name| name.as_str().into()).collect();
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
        if !self.reads(name.as_str()) {
            return None;
        }
        headers.get(&name)?.to_str().ok()
    }

    /// Whether the plugin may read a header; the name is in lower case.
    pub fn reads(&self, word: &str) -> bool {
        let granted = self.names.iter().any(|own| **own == *word)
            || self.prefixes.iter().any(|prefix| word.starts_with(&**prefix));
        granted && !NEVER.contains(&word)
    }

    /// Whether the plugin may read a parameter in the query of a request.
    pub fn reads_query(&self, name: &str) -> bool {
        self.query.iter().any(|own| **own == *name)
    }

    /// Whether it may read any header or parameter.
    pub fn reads_any(&self) -> bool {
        !self.names.is_empty() || !self.prefixes.is_empty() || !self.query.is_empty()
    }

    /// The header, if the plugin may set or remove it.
    pub fn settable(&self, name: &str) -> Option<&HeaderName> {
        self.set.iter().find(|own| own.as_str().eq_ignore_ascii_case(name))
    }
}
