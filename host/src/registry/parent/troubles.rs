//! What is wrong with the registrations of this process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// For each connector that is not registered where it should be, one sentence. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Troubles(Arc<Mutex<BTreeMap<Arc<str>, String>>>);

impl Troubles {
    /// This is so from now on; says whether it is new.
    pub fn set(&self, connector: &Arc<str>, why: &str) -> bool {
        let known = self.lock().insert(connector.clone(), why.to_owned());
        known.is_none_or(|known| known != why)
    }

    /// All is well; says whether it was not.
    pub fn clear(&self, connector: &str) -> bool {
        self.lock().remove(connector).is_some()
    }

    /// Every sentence, with its connector.
    pub fn all(&self) -> Vec<String> {
        self.lock().iter().map(|(connector, why)| format!("{connector}: {why}")).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
