//! What a person confirmed: this call and no other.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::asking::Wanted;
use super::further::Further;
use crate::hex::hex;
use crate::pipeline::call::CallContext;
use crate::pipeline::translate::digest;

/// A confirmed call, or one that is to be confirmed. Nothing of it comes from a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// Digest of what is called, where, and with which params and headers, after the edits of policies.
    pub(super) subject: Arc<str>,
    /// Names of the policies that wanted it.
    pub(super) by: Vec<Arc<str>>,
    /// The request id of the first try.
    pub(in crate::pipeline) first: Arc<str>,
}

impl Confirmed {
    /// What is to be confirmed of the call in hand.
    pub(super) fn of(
        context: &CallContext,
        further: &Further,
        wanted: &[Wanted],
        first: Arc<str>,
    ) -> Self {
        let by = wanted.iter().map(|wanted| wanted.policy.clone()).collect();
        Self { subject: subject(context, further).into(), by, first }
    }

    /// Whether it is all of what has to be confirmed now.
    pub(super) fn covers(&self, now: &Self) -> bool {
        self.subject == now.subject && now.by.iter().all(|policy| self.by.contains(policy))
    }
}

/// The order of members and the way a string is escaped mean nothing, as in [`digest`]: a client may write its params
/// another way when it sends them again.
fn subject(context: &CallContext, further: &Further) -> String {
    let mut hash = Sha256::new();
    let params = digest::of(context.message.params().unwrap_or("{}"));
    let further = [&further.members, &further.headers]
        .map(|json| json.as_deref().map_or_else(String::new, digest::whole));
    let [members, headers] = &further;
    let (upstream, own) = context.target.clone().unwrap_or_default();
    let method = context.message.method_name();
    let thing = [&*context.connector, &*method, &*context.name, &*upstream, &*own];
    for part in thing.into_iter().chain([&*params, members, headers]) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize())
}
