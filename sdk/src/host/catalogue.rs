//! What the current caller may see, already filtered by every policy.

imports! { catalogue {
    /// Changes whenever entries or document change.
    fn generation() -> u32;
    /// What the router's `shape` stored beside the entries.
    fn document() -> String;
    /// Number of visible entries.
    fn count() -> u32;
    /// JSON of an entry as the client sees it.
    fn entry(index: u32) -> Option<String>;
    /// Index of a visible entry by kind and name or URI. A function is known by its upstream, a full stop and its name; behind a
    /// tab stands its name in the code where that is another one.
    fn find(kind: &str, name: &str) -> Option<u32>;
    /// Names or URIs of all visible entries of a kind, in their order, each with a line feed behind it.
    fn names(kind: &str) -> String;
    /// The same with the entries of servers that are away: what the caller may know of.
    fn known(kind: &str) -> String;
} }

/// JSON of all visible entries, one by one.
pub fn entries() -> impl Iterator<Item = String> {
    (0..count()).filter_map(entry)
}
