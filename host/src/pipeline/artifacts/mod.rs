//! Links to files of servers that run code (`{origin}/artifacts/{session}/{token}/{name}`, agora-workbench 0.4.2): in answers
//! they become links of plugway's own, which lead back to the file (docs/decisions/0022).
//!
//! Reading order: [`rules`] is what the operator says; `letter` reads a text however it is escaped, [`place`] says what a link
//! stands in, [`name`] where a string goes on behind one, [`mod@link`] reads one link; [`scan`] finds them in a body that comes in pieces, [`show`] does so with an answer; [`table`] knows which link leads
//! where, and for whom; [`mod@open`] follows one.

mod letter;
mod link;
mod name;
mod open;
mod place;
mod rules;
mod scan;
mod show;
mod table;
#[cfg(test)]
mod tests;

pub use open::{Asked, Opened, open};
pub use rules::{Rules, Who};
pub use scan::{Replace, Scanner};
pub(super) use show::shown;
pub use table::Artifacts;

/// Where servers serve such files, and where plugway does below the path of a connector.
pub const PATH: &str = "/artifacts/";
