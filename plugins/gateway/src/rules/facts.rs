//! What rules may look at.

/// One call, or one thing that a list may show. Every answer is read only when a rule needs it: each may cost a crossing
/// into the host.
pub trait Facts {
    /// Whether the caller was granted exactly this scope.
    fn has_scope(&self, scope: &str) -> bool;
    /// A verified top-level claim as JSON text.
    fn claim(&self, name: &str) -> Option<String>;
    /// The caller's tenant.
    fn tenant(&self) -> Option<String>;
    /// The client that acts for the caller.
    fn client(&self) -> Option<String>;
    /// The caller's opaque id.
    fn caller(&self) -> String;
    /// Every name of the thing: as clients see it, the server's own, the short one.
    fn tool_names(&self) -> &[String];
    /// `tool`, `prompt` or `resource`.
    fn kind(&self) -> &str;
    /// The server behind it; none for what the connector itself offers.
    fn upstream(&self) -> Option<String>;
    /// An annotation after the operator's trust rules; none = unknown.
    fn hint(&self, name: &str) -> Option<bool>;
    /// JSON text at an RFC 6901 pointer into the arguments. The outer none: there are no arguments yet, as in a list; the
    /// inner none: nothing is there.
    fn argument(&self, pointer: &str) -> Option<Option<String>>;
    /// Milliseconds since 1970-01-01T00:00:00Z.
    fn now_ms(&self) -> f64;
}
