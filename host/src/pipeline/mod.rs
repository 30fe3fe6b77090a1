//! The heart: what happens to a request between the session and the upstream. Names neither the HTTP library nor the
//! WebAssembly runtime; both sides are behind the traits in [`port`].
//!
//! Reading order: [`caller`] and [`party`] say who asks; [`call`] is the call in hand; [`port`] lists what the pipeline
//! needs from others; [`connector`] holds them together; [`exchange`] runs the phases.

pub mod call;
pub mod caller;
pub mod party;
pub mod port;

pub use call::CallContext;
pub use caller::Caller;
pub use party::{Party, PartyId};
