//! What a server offers to clients with certain capabilities: it may hide from others what they could not use, as tools
//! with a user interface from clients that show none.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::time::Instant;

use super::limits::{VARIANT_CLAIMS, VARIANT_USED, VARIANTS};
use super::slot::Slot;
use crate::pipeline::port::Offering;
use crate::protocol::{Mirrored, scan};

/// The variants of one upstream's catalogue.
#[derive(Debug, Default)]
pub(super) struct Variants(Mutex<Vec<Arc<Variant>>>);

/// What is known of one.
#[derive(Debug)]
pub(super) struct Variant {
    /// JSON text of the capabilities, as far as the operator lets the server use them.
    pub(super) claims: Arc<str>,
    /// The last reading, by whomever came first.
    pub(super) slot: Arc<Slot<Read>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    used: Instant,
    /// What counts, even while it is read again.
    last: Option<Arc<Offering>>,
    /// The reading of the catalogue at which this could not be read.
    failed: Option<u64>,
    /// When the last reading began.
    began: Option<Instant>,
}

/// One reading: how many reasons there had been for it, and everybody's catalogue then.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) reasons: u64,
    pub(super) beside: Weak<Offering>,
}

impl Variants {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Variant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The variant for clients with these capabilities; none where they are plugway's own, and where there are too many
    /// others that are in use.
    pub(super) fn of(&self, claims: &str, now: Instant) -> Option<Arc<Variant>> {
        let empty = scan::members(claims).is_none_or(|members| members.is_empty());
        if empty || claims.len() > VARIANT_CLAIMS {
            return None;
        }
        let mut kept = self.lock();
        if let Some(variant) = kept.iter().find(|variant| *variant.claims == *claims) {
            variant.state().used = now;
            return Some(Arc::clone(variant));
        }
        if kept.len() >= VARIANTS {
            let oldest = kept.iter().enumerate().min_by_key(|(_, variant)| variant.state().used);
            let oldest = oldest.map(|(place, variant)| (place, variant.state().used));
            let (place, used) = oldest?;
            if now.saturating_duration_since(used) < VARIANT_USED {
                return None;
            }
            kept.swap_remove(place);
        }
        let state = Mutex::new(State { used: now, last: None, failed: None, began: None });
        let slot = Arc::new(Slot::new());
        let variant = Arc::new(Variant { claims: claims.into(), slot, state });
        kept.push(Arc::clone(&variant));
        Some(variant)
    }

    /// What is known of what is offered to clients with these capabilities.
    pub(super) fn known(&self, claims: &str) -> Option<Arc<Offering>> {
        let kept = self.lock();
        kept.iter().find(|variant| *variant.claims == *claims)?.last()
    }

    /// Whether there are any.
    pub(super) fn are_kept(&self) -> bool {
        !self.lock().is_empty()
    }

    /// The arguments of a tool that travel in headers, too, where a variant has such a tool.
    pub(super) fn mirrored(&self, tool: &str) -> Option<Arc<[Mirrored]>> {
        let kept = self.lock();
        kept.iter().find_map(|variant| variant.last()?.mirrored.get(tool).cloned())
    }
}

impl Variant {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read last.
    pub(super) fn last(&self) -> Option<Arc<Offering>> {
        self.state().last.clone()
    }

    /// When the last reading began.
    pub(super) fn began(&self) -> Option<Instant> {
        self.state().began
    }

    /// A reading begins.
    pub(super) fn begins(&self, now: Instant) {
        self.state().began = Some(now);
    }

    /// Whether it could not be read since the catalogue was read for the last time.
    pub(super) fn failed(&self, reads: u64) -> bool {
        self.state().failed == Some(reads)
    }

    /// It was read, or could not be; says whether what counts is something else now.
    pub(super) fn was_read(&self, reads: u64, offering: Option<&Arc<Offering>>) -> bool {
        let mut state = self.state();
        state.failed = offering.is_none().then_some(reads);
        let Some(offering) = offering else { return false };
        state.last.replace(Arc::clone(offering)).as_ref() != Some(offering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(n: usize) -> String {
        format!(r#"{{"extensions":{{"e{n}":{{}}}}}}"#)
    }

    #[test]
    fn a_variant_makes_room_once_it_is_not_used() {
        let variants = Variants::default();
        let now = Instant::now();
        let later = |seconds| now + std::time::Duration::from_secs(seconds);
        for own in ["{}", "{ }", "null", ""] {
            assert!(variants.of(own, now).is_none(), "{own}");
        }
        let long = format!(r#"{{"x":"{}"}}"#, "x".repeat(VARIANT_CLAIMS));
        assert!(variants.of(&long, now).is_none() && !variants.are_kept());
        let first = variants.of(&claims(0), now).unwrap();
        for n in 1..VARIANTS {
            assert!(variants.of(&claims(n), later(1)).is_some());
        }
        assert!(Arc::ptr_eq(&first, &variants.of(&claims(0), later(30)).unwrap()));
        assert!(variants.of(&claims(VARIANTS), later(59)).is_none(), "all are in use");
        // The one that was used last stays.
        assert!(variants.of(&claims(VARIANTS), later(61)).is_some());
        assert!(Arc::ptr_eq(&first, &variants.of(&claims(0), later(61)).unwrap()));
        assert_eq!(variants.lock().len(), VARIANTS);
    }

    #[test]
    fn what_was_read_counts_until_something_else_is() {
        let variants = Variants::default();
        let variant = variants.of(&claims(0), Instant::now()).unwrap();
        let offering =
            |name: &str| Arc::new(Offering { server_name: name.into(), ..Offering::default() });
        assert!(!variant.was_read(1, None) && variant.failed(1) && !variant.failed(2));
        assert!(variant.was_read(2, Some(&offering("a"))) && !variant.failed(2));
        assert!(!variant.was_read(3, Some(&offering("a"))), "the same");
        assert!(!variant.was_read(4, None) && variant.failed(4));
        assert_eq!(variant.last(), Some(offering("a")));
        assert!(variant.was_read(5, Some(&offering("b"))));
    }
}
