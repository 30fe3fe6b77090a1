//! What a plugin may decide: one trait for each hook, one module for each kind of plugin.
//!
//! A plugin's kind is fixed by its main hook: [`router::Router`], [`dispatcher::Dispatcher`] or
//! [`transfer::Transfer`]; a policy has any of [`visibility::Visibility`], [`policy::Admission`],
//! [`policy::Reviewing`] and [`policy::Inbound`], and may have [`explaining::Explaining`] beside them. All further hooks are optional.

pub mod dispatcher;
pub mod explaining;
pub mod policy;
pub mod readiness;
pub mod router;
pub mod transfer;
pub mod visibility;
