//! Routers: they shape what clients see and say which upstream serves a name.

use crate::{Failure, Plugin, Rejection};

/// What `answer` says: JSON of a result of the called method, or a refusal.
pub use crate::glue::answering::Reply;
/// What a router sees and makes.
pub use crate::glue::router::{ConnectorView, Entry, Shaped, Target, UpstreamView};
/// What `route` says: upstream and its own name for the thing, that `answer` answers, or a refusal.
pub use crate::glue::routing::Decision as Route;

/// `router`: the main hook.
pub trait Router: Plugin {
    /// The entries that clients see, in order. Pure: no state, no clock, no chance; may log. Within 2 s.
    fn shape(&self, connector: ConnectorView) -> Result<Shaped, Failure>;
}

/// `routing`: for entries that `shape` marked [`Target::Dynamic`] or [`Target::Guarded`].
pub trait Routing: Plugin {
    /// Where the call in hand goes. Within 10 ms.
    fn route(&self) -> Result<Route, Failure>;
}

/// `answering`: for entries that `shape` marked [`Target::Local`], and calls of which `route` said [`Route::Answer`].
pub trait Answering: Plugin {
    /// The answer to the call in hand; [`answer`](crate::answer) has helpers. Within 50 ms.
    fn answer(&self) -> Result<Reply, Failure>;
}

impl Default for Shaped {
    /// No entry, and nothing wrong.
    fn default() -> Self {
        Self { entries: Vec::new(), document: String::new(), problems: Vec::new(), pending: false }
    }
}

impl Entry {
    /// A tool that an upstream serves under its own `name`.
    pub fn tool(
        definition: impl Into<String>,
        upstream: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self::fixed("tool", definition, upstream, name)
    }

    /// An entry of any kind that an upstream serves under its own name or URI.
    pub fn fixed(
        kind: impl Into<String>,
        definition: impl Into<String>,
        upstream: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        let target = Target::Fixed((upstream.into(), name.into()));
        Self { kind: kind.into(), definition: definition.into(), target }
    }

    /// As [`Entry::fixed`], with arguments (a JSON object) that are merged into those of each call (RFC 7396).
    pub fn bound(
        kind: impl Into<String>,
        definition: impl Into<String>,
        upstream: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        let target = Target::Bound((upstream.into(), name.into(), arguments.into()));
        Self { kind: kind.into(), definition: definition.into(), target }
    }

    /// A tool that an upstream serves under its own `name`, and of which [`Routing::route`] judges each call.
    pub fn guarded_tool(
        definition: impl Into<String>,
        upstream: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        let target = Target::Guarded((upstream.into(), name.into()));
        Self { kind: "tool".to_owned(), definition: definition.into(), target }
    }

    /// A tool whose upstream [`Routing::route`] names for each call.
    pub fn dynamic_tool(definition: impl Into<String>) -> Self {
        Self { kind: "tool".to_owned(), definition: definition.into(), target: Target::Dynamic }
    }

    /// A tool that [`Answering::answer`] answers.
    pub fn local_tool(definition: impl Into<String>) -> Self {
        Self { kind: "tool".to_owned(), definition: definition.into(), target: Target::Local }
    }
}

impl Target {
    /// Upstream and its own name for the thing, where they are fixed: guarded, bound or neither.
    pub fn upstream(&self) -> Option<(&str, &str)> {
        match self {
            Self::Fixed((upstream, name))
            | Self::Guarded((upstream, name))
            | Self::Bound((upstream, name, _)) => Some((upstream, name)),
            Self::Dynamic | Self::Local => None,
        }
    }
}

impl Route {
    /// To this upstream, by its own name for the thing.
    pub fn to(upstream: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Forward((upstream.into(), name.into()))
    }

    /// Refuses with one sentence that an agent can act on.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::Reject(Rejection::new(message))
    }
}

impl Reply {
    /// Refuses with one sentence that an agent can act on.
    pub fn refuse(message: impl Into<String>) -> Self {
        Self::Reject(Rejection::new(message))
    }
}
