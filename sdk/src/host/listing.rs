//! Details of the items of a [`Page`](crate::hooks::visibility::Page), by their place in it, and of the request that they are
//! judged for. Only within `visible`.

imports! { listing {
    /// The upstream's own name for the thing.
    fn upstream_name(index: u32) -> String;
    /// Hash of the definition.
    fn digest(index: u32) -> String;
    /// A documented key.
    fn attribute(index: u32, key: &str) -> Option<String>;
    /// A granted header of the request that the view is for, all values of that name with `, ` between them.
    fn header(name: &str) -> Option<String>;
    /// A granted parameter in the query of its URL, all values of that name with `,` between them.
    fn query(name: &str) -> Option<String>;
} }
