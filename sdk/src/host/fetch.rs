//! Capability `fetch`: HTTP to hosts that the operator listed. The host adds credentials; the plugin never sees them.

pub use crate::raw::plugway::plugin::fetch::{Incoming, Outgoing};

imports! { fetch {
    /// Sends a request. Any status is an answer; the error is one sentence.
    fn send(request: &Outgoing) -> Result<Incoming, String>;
} }

impl Outgoing {
    /// A GET within the hook's own deadline.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: "GET".to_owned(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout_ms: 0,
        }
    }
}
