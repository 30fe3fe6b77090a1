//! What a server sends toward a client passes the policies that export `inbound`: in the configured order each may change what
//! it says, or refuse it. Where no policy has the hook, nothing is read or copied.
//!
//! Reading order: [`message`] is one message and whom it is for, [`mod@answer`] what a server says in the course of a call.

mod answer;
mod message;
#[cfg(test)]
mod tests;

pub use answer::{answer, incoming};
pub use message::{Toward, is_judged, pass};
