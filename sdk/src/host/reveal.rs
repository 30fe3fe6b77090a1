//! Capability `reveal`: which tools the session has loaded, where discovery is lazy.

pub use crate::raw::plugway::plugin::reveal::Change;

imports! { reveal {
    /// What is loaded, the one used the longest ago first; none where nothing is kept.
    fn loaded() -> Option<Vec<String>>;
    /// Loads tools by their shown names, all or none; `once` for one call, `evict` what was used the longest ago. The error is
    /// one sentence for the client.
    fn load(names: &[String], once: bool, evict: bool) -> Result<Change, String>;
    /// Unloads tools; those that are not loaded are no error.
    fn unload(names: &[String]) -> Change;
} }
