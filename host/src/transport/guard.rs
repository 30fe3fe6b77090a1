//! Which hosts and origins may ask: the guard against DNS rebinding (MCP, Streamable HTTP, "Security Warning").

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

use super::headers;
use crate::fault::{Code, Fault};

/// Names under which the listener may be addressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Any: the operator accepted that.
    Any,
    /// The loopback names at any port, and exactly these.
    Listed(Vec<Arc<str>>),
}

impl Hosts {
    /// Refuses a request whose target, Host or Origin is not one of these. A target in absolute form names a host too,
    /// and overrides the header (RFC 9112, section 3.2.2).
    pub fn check(&self, target: Option<&str>, request: &HeaderMap) -> Result<(), Fault> {
        let host = headers::single(request, &HOST)?.unwrap_or_default();
        for host in [Some(host), target].into_iter().flatten() {
            if !self.allows(host) {
                return Err(forbidden("Host", host));
            }
        }
        match headers::single(request, &ORIGIN)? {
            None => Ok(()),
            Some(origin) => {
                let authority = origin.split_once("://").map(|(_, authority)| authority);
                if authority.is_some_and(|authority| self.allows(authority)) {
                    return Ok(());
                }
                Err(forbidden("Origin", origin))
            }
        }
    }

    fn allows(&self, authority: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(names) => {
                is_loopback(authority)
                    || names.iter().any(|name| name.eq_ignore_ascii_case(authority))
            }
        }
    }
}

/// Whether an authority names this machine, at any port.
fn is_loopback(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    port.is_none_or(|port| port.parse::<u16>().is_ok())
        && (host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

fn forbidden(header: &str, value: &str) -> Fault {
    let value: String = value.chars().take(100).collect();
    let text = format!(
        "The {header} {value:?} is not allowed here: the operator lists it in allowed_hosts."
    );
    Fault::new(Code::ForbiddenOrigin, text)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::Hosts;

    fn check(hosts: &Hosts, host: &'static str, origin: Option<&'static str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert("host", HeaderValue::from_static(host));
        if let Some(origin) = origin {
            headers.insert("origin", HeaderValue::from_static(origin));
        }
        hosts.check(None, &headers).is_ok()
    }

    #[test]
    fn only_the_listeners_own_names_may_ask() {
        let loopback = Hosts::Listed(Vec::new());
        let exact = Hosts::Listed(vec!["mcp.example.com".into()]);
        for (hosts, host, origin, allowed) in [
            (&loopback, "127.0.0.1:9000", None, true),
            (&loopback, "localhost", Some("http://localhost:5173"), true),
            (&loopback, "[::1]:9000", None, true),
            (&loopback, "evil.example", None, false),
            (&loopback, "localhost.evil.example", None, false),
            (&loopback, "127.0.0.1:9000", Some("http://evil.example"), false),
            (&loopback, "127.0.0.1:9000", Some("null"), false),
            (&loopback, "", None, false),
            (&exact, "mcp.example.com", None, true),
            (&exact, "mcp.example.com:443", None, false),
            (&exact, "127.0.0.1:9000", None, true),
            (&loopback, "127.0.0.1.evil.example", None, false),
            (&loopback, "[::1]evil", None, false),
            (&exact, "mcp.example.com", Some("https://mcp.example.com"), true),
        ] {
            assert_eq!(check(hosts, host, origin), allowed, "{host} {origin:?}");
        }
    }
}
