//! Which tasks a caller made: a server may list those of everybody who is the same to it, as all who share the operator's
//! credential are.

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::{IndexMap, IndexSet};
use sha2::{Digest as _, Sha256};

/// Callers of whom something is remembered; for one more the one that was quiet the longest is forgotten.
const CALLERS: usize = 4_096;
/// Tasks that are remembered of one caller; for one more the oldest is forgotten, and not listed any more.
const TASKS: usize = 256;

/// Half of a digest of an id, so that ids of any length are bounded.
type Key = [u8; 16];

/// The tasks that callers were told of when they made or asked for them. It outlives a reload, as sessions do.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Made(Mutex<IndexMap<Arc<str>, IndexSet<Key>>>);

impl Made {
    /// The caller has a task with this id, as it knows it.
    pub(super) fn add(&self, caller: &Arc<str>, id: &str) {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = callers.shift_remove(caller).unwrap_or_default();
        own.insert(key(id));
        if own.len() > TASKS {
            own.shift_remove_index(0);
        }
        callers.insert(caller.clone(), own);
        if callers.len() > CALLERS {
            callers.shift_remove_index(0);
        }
    }

    /// Whether it has.
    pub(super) fn has(&self, caller: &str, id: &str) -> bool {
        let callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        callers.get(caller).is_some_and(|own| own.contains(&key(id)))
    }
}

fn key(id: &str) -> Key {
    let digest = Sha256::digest(id.as_bytes());
    let mut key = Key::default();
    key.iter_mut().zip(digest).for_each(|(byte, of)| *byte = of);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caller_made_is_its_own_and_bounded() {
        let made = Made::default();
        let (ann, bob): (Arc<str>, Arc<str>) = ("ann".into(), "bob".into());
        for number in 0..=TASKS {
            made.add(&ann, &number.to_string());
        }
        assert!(!made.has("ann", "0") && made.has("ann", "1") && made.has("ann", "256"));
        assert!(!made.has("bob", "1"));
        made.add(&bob, "1");
        for number in 2..CALLERS {
            made.add(&number.to_string().into(), "x");
        }
        assert!(made.has("ann", "1") && made.has("bob", "1"));
        made.add(&bob, "2");
        made.add(&"one more".into(), "x");
        assert!(!made.has("ann", "1"), "it was quiet the longest");
        assert!(made.has("bob", "1") && made.has("bob", "2"));
    }
}
