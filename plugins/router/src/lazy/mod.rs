//! Lazy discovery: tools by which a client finds what its list does not show, and loads it. The host keeps what a session has
//! loaded, and makes a call of the named tool out of a call of `call_tool`.
//!
//! In reading order: [`offers`] names and describes the tools; [`find`] and [`load`] answer; [`listed`] reads definitions.

pub mod offers;

pub mod find;
pub mod listed;
pub mod load;
