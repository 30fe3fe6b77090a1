//! What the operator can see: logs, metrics, and what must not be seen.

mod secret;

pub use secret::Secret;
