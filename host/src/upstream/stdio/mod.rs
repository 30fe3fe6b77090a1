//! Servers that are child processes and speak over their standard input and output.
//!
//! Reading order: [`process`] starts a process as the system can; [`lines`] splits what it writes, [`oversized`] says what was skipped; [`routes`] knows who
//! waits for which answer, [`replies`] carries the client's; [`child`] is one running server, [`pumps`] the tasks around its
//! pipes, [`opening`] how it is introduced; [`call`] is one request to it, and [`tasks`] what may be asked for later; [`children`] decides who gets which child, [`spare`] who gets one for a request, and
//! [`places`] how many there are; [`peer`] reads the catalogue, [`variant`] what clients with other capabilities are offered;
//! [`exchange`] serves the parties.
//!
//! Every request gets a number of its own in place of its id and of its progress token, so that several clients may
//! share a child, and one caller may use an id twice.

mod call;
mod channel;
mod child;
mod children;
mod exchange;
mod lines;
mod opening;
mod oversized;
mod peer;
mod places;
mod process;
mod pumps;
mod replies;
mod routes;
mod spare;
mod tasks;
#[cfg(test)]
mod tests;
mod variant;

pub(super) use child::Means;
pub(super) use children::Children;
pub(super) use exchange::StdioUpstream;
pub(super) use lines::{Line, Lines};
pub(super) use peer::StdioPeer;
