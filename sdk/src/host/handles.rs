//! Ids that servers invented, each with the caller who got it. For routers and dispatchers.

imports! { handles {
    /// The id belongs to the current caller at the current upstream; false where it belongs to somebody else, there or elsewhere.
    fn claim(kind: &str, id: &str) -> bool;
    /// Whether it belongs to the current caller at that upstream; none = at any.
    fn owns(upstream: Option<&str>, kind: &str, id: &str) -> bool;
    /// The ids of that kind that the current caller has at that upstream, last used first; none for strangers, who cannot be told apart.
    fn list(upstream: &str, kind: &str) -> Vec<String>;
    /// The current caller gives up an id at the current upstream.
    fn release(kind: &str, id: &str);
} }
