//! `subscriptions/listen` of the modern era: one stream for a client, fed by plugway itself, which tells of its lists, and by
//! every server whose resources or tasks the client wants to hear of.
//!
//! Reading order: [`filter`] is what the client wants; [`lists`] takes what plugway tells; [`resources`] says which of them
//! the caller may hear of; [`part`] is one server's share;
//! [`acknowledged`] says what is honoured, [`lasting`] whether anything is left to hear; [`mod@open`] holds it together.

mod acknowledged;
mod filter;
mod lasting;
mod lists;
mod open;
mod part;
mod resources;

pub(super) use open::listen;
