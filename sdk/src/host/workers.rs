//! Details of workers that a [`Candidate`](crate::Candidate) has no room for. For dispatchers.

imports! { workers {
    /// The configured name.
    fn name(id: u32) -> Option<String>;
    /// By configured name; also a worker that is not a candidate now.
    fn find(name: &str) -> Option<u32>;
    /// A label that the operator wrote at the worker.
    fn label(id: u32, key: &str) -> Option<String>;
    /// Changes when the worker table changes.
    fn generation() -> u32;
} }
