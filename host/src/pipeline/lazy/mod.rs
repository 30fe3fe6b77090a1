//! Lazy discovery: clients list a few tools, find the others, and load them or call them through `call_tool`
//! (docs/decisions/0023).
//!
//! Reading order: [`residents`] says what is always listed; [`loads`] is what one session has loaded; [`reveal`] changes it
//! for a plugin; [`listing`] is the list that a client sees, and what becomes of a call of a tool that is not on it;
//! [`through`] makes a call of a tool out of a call of `call_tool`.

pub(super) mod listing;
pub mod loads;
mod residents;
pub mod reveal;
pub(super) mod through;

pub use loads::Loads;
pub use residents::Lazy;
pub use reveal::{Change, Reveal};
