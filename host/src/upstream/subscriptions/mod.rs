//! Subscriptions of parties, around an upstream of either transport: what was subscribed to outlives the session, the stream
//! or the child at which it was.
//!
//! Reading order: [`subscriber`] decides what a request is about; [`observed`] looks at how one was answered; [`steady`] is
//! `subscriptions/listen` at a server of the modern era, [`emulated`] at one of the legacy era; [`own`] is for clients of the legacy era at servers of the modern one; [`uris`] are
//! what they are about.

mod emulated;
mod observed;
mod own;
mod steady;
mod subscriber;
mod uris;

pub(super) use subscriber::{Around, Subscriber};
