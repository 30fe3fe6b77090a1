//! State in this process, one namespace for each place of a plugin entry in each connector.

use std::sync::Arc;
use std::time::Instant;

use dashmap::DashMap;

use super::namespace::{Namespace, Quota};
use crate::pipeline::port::LocalState;

/// Every namespace of the process.
#[derive(Debug, Default)]
pub struct Memory {
    quota: Quota,
    namespaces: DashMap<(Box<str>, Box<str>), Arc<Namespace>>,
}

impl Memory {
    /// Nothing stored yet.
    pub fn new(quota: Quota) -> Self {
        Self { quota, namespaces: DashMap::with_shard_amount(4) }
    }

    /// The namespace of a place of a plugin entry in a connector: the same one each time, also after a swap or a new configuration.
    pub fn namespace(&self, connector: &str, plugin: &str) -> Arc<dyn LocalState> {
        let key = (connector.into(), plugin.into());
        self.namespaces.entry(key).or_insert_with(|| Arc::new(Namespace::new(self.quota))).clone()
    }

    /// Forgets what is over; worth doing every minute.
    pub fn sweep(&self) {
        let now = Instant::now();
        for namespace in &self.namespaces {
            namespace.sweep(now);
        }
    }
}
