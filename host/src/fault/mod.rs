//! What can go wrong with a request, as data: who is to blame, a stable code, one public sentence, the hidden cause.
//!
//! Only `transport::reply` turns a fault into bytes; only there HTTP status codes and JSON-RPC codes are chosen.

mod code;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

pub use code::Code;

/// Who has to change something so that the request can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Blame {
    /// The request itself.
    Client,
    /// A plugin failed, or refused as it is meant to.
    Plugin,
    /// The server behind plugway.
    Upstream,
    /// plugway or its operator.
    Us,
}

impl Blame {
    /// The word in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Plugin => "plugin",
            Self::Upstream => "upstream",
            Self::Us => "us",
        }
    }
}

/// A failed request. Small: the parts live behind one pointer.
pub struct Fault(Box<Parts>);

struct Parts {
    code: Code,
    blame: Blame,
    /// One sentence that the client may read and act on; holds nothing internal.
    public: Cow<'static, str>,
    source: Option<Box<dyn Error + Send + Sync>>,
    retry_after: Option<Duration>,
    /// JSON for `error.data`.
    data: Option<Box<str>>,
    /// A JSON-RPC code that a plugin or an upstream chose, in place of the one that belongs to `code`.
    rpc: Option<i32>,
    /// How the client is to identify itself.
    challenge: Option<Cow<'static, str>>,
    /// The plugin that decided so.
    decider: Option<Box<str>>,
    /// Whether the audit heard of it.
    told: bool,
}

impl Fault {
    /// A fault with the blame that its code implies.
    pub fn new(code: Code, public: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Parts {
            code,
            blame: code.blame(),
            public: public.into(),
            source: None,
            retry_after: None,
            data: None,
            rpc: None,
            challenge: None,
            decider: None,
            told: false,
        }))
    }

    /// Keeps the cause for the log; the client never sees it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// When it makes sense to try again.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// JSON text for the member `data` of the error.
    #[must_use]
    pub fn with_data(mut self, json: impl Into<Box<str>>) -> Self {
        self.0.data = Some(json.into());
        self
    }

    /// The JSON-RPC code to answer with, where somebody else chose it.
    #[must_use]
    pub fn with_rpc_code(mut self, code: i32) -> Self {
        self.0.rpc = Some(code);
        self
    }

    /// How the client is to identify itself: a value of `WWW-Authenticate`.
    #[must_use]
    pub fn with_challenge(mut self, challenge: impl Into<Cow<'static, str>>) -> Self {
        self.0.challenge = Some(challenge.into());
        self
    }

    /// The plugin that decided so, for log and audit.
    #[must_use]
    pub fn by(mut self, plugin: &str) -> Self {
        self.0.decider = Some(plugin.into());
        self
    }

    /// The plugin that decided so, where one did.
    pub fn decider(&self) -> Option<&str> {
        self.0.decider.as_deref()
    }

    /// The audit heard of it.
    #[must_use]
    pub fn told(mut self) -> Self {
        self.0.told = true;
        self
    }

    /// Whether the audit heard of it: it is not told twice.
    pub fn is_told(&self) -> bool {
        self.0.told
    }

    /// The stable code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Who is to blame.
    pub fn blame(&self) -> Blame {
        self.0.blame
    }

    /// The sentence for the client.
    pub fn public(&self) -> &str {
        &self.0.public
    }

    /// The cause, for the log.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync)> {
        self.0.source.as_deref()
    }

    /// When to try again, if that is known.
    pub fn wait(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// JSON text of the error's data.
    pub fn data(&self) -> Option<&str> {
        self.0.data.as_deref()
    }

    /// How the client is to identify itself: a value of `WWW-Authenticate`.
    pub fn challenge(&self) -> Option<&str> {
        self.0.challenge.as_deref()
    }

    /// The JSON-RPC code that somebody else chose.
    pub fn rpc_code(&self) -> Option<i32> {
        self.0.rpc
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("code", &self.0.code.as_str())
            .field("blame", &self.0.blame.as_str())
            .field("public", &self.0.public)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.public)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
