//! Confirmations: a policy may want the person at the client to confirm a call (`admission.decision.confirm`). plugway asks
//! once, last, for all policies together, and shows the arguments that will be sent.
//!
//! No plugin and no lock is held meanwhile. In the legacy era the question stands on the call's own stream, and the call
//! begins anew once it was answered; in the modern era the request is answered with the question, and the client sends it
//! again. Either way the whole call runs once more, with [`Confirmed`]: whoever denies it by then denies it.
//!
//! Reading order: [`confirmed`] is what was confirmed, [`verdict`] what a client's answer means, [`question`] what it is asked,
//! with the words of [`visible`] and the sight of [`arguments`], and with what [`further`] is said; [`asking`] decides and asks; [`legacy`] waits on a stream,
//! [`state`] and [`carried`] are what a modern client gives back; [`open`] counts; [`limits`] holds the bounds.

mod arguments;
mod asking;
mod carried;
mod confirmed;
mod further;
mod legacy;
mod limits;
mod open;
mod question;
mod state;
#[cfg(test)]
mod tests;
mod verdict;
mod visible;

pub(super) use asking::{Wanted, due};
pub(super) use carried::carry;
pub use confirmed::Confirmed;
pub(super) use limits::PATIENCE;
pub(super) use open::Confirmations;
pub(super) use state::resume;
