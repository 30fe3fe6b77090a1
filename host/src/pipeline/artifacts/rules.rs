//! What the operator says about links to files.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::header::HOST;
use http::uri::Authority;

/// Who may follow a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Who {
    /// The caller who got it, with its credential. One that was given to nobody in particular leads anybody who has it.
    #[default]
    Caller,
    /// Whoever has it.
    Holder,
}

/// How a connector shows links to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Who may follow them.
    pub who: Who,
    /// How long one is good, from when it was last given.
    pub lifetime: Duration,
    /// The URL of the connector for clients without a slash at the end, such as `https://mcp.example.com/hub`; none = what the
    /// client itself calls it.
    pub public: Option<Arc<str>>,
    /// The base path of the connector: empty, or `/hub`.
    pub path: Arc<str>,
}

impl Rules {
    /// The URL of the connector for whoever sent this request; none where it did not come over HTTP: nothing would serve the
    /// file then. plugway itself speaks no TLS, so that without [`Rules::public`] the scheme is `http`.
    pub(super) fn base(&self, request: &HeaderMap) -> Option<String> {
        let host = request.get(HOST)?.to_str().ok()?;
        if let Some(public) = &self.public {
            return Some(public.to_string());
        }
        let authority: Authority = host.parse().ok()?;
        let host = Some(authority.as_str()).filter(|host| !host.contains('@'))?;
        Some(format!("http://{host}{}", self.path))
    }
}
