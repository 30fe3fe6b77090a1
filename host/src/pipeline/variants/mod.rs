//! Catalogues for clients with capabilities of their own: a server may offer them something else than plugway itself
//! (docs/decisions/0018).
//!
//! Reading order: [`kinds`] keeps one for each kind of clients; [`build`] makes them, and makes them anew when servers offer
//! something else; [`lent`] is the catalogue of one caller alone (docs/decisions/0026).

mod build;
mod kinds;
mod lent;
#[cfg(test)]
mod tests;

pub(super) use build::{WAIT, keep};
pub(super) use kinds::Kinds;
