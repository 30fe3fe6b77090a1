//! Details of the items of a [`Page`](crate::hooks::visibility::Page), by their place in it. Only within `visible`.

imports! { listing {
    /// The upstream's own name for the thing.
    fn upstream_name(index: u32) -> String;
    /// Hash of the definition.
    fn digest(index: u32) -> String;
    /// A documented key.
    fn attribute(index: u32, key: &str) -> Option<String>;
} }
