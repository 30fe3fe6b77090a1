//! Capability `announce`: tell clients that something changed.

imports! { announce {
    /// What `shape` or `visible` would answer may have changed.
    fn content_changed();
    /// Subscribers of this URI are told.
    fn resource_updated(uri: &str);
} }
