//! Subscriptions of parties, around an upstream of either transport: what was subscribed to outlives the session in which it
//! was.
//!
//! Reading order: [`subscriber`] decides what a request is about; [`observed`] looks at how one was answered.

mod observed;
mod subscriber;

pub(super) use subscriber::Subscriber;
