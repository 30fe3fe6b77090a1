//! What a server offers to clients with certain capabilities: it may hide from others what they could not use, as tools
//! with a user interface from clients that show none.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use http::HeaderValue;
use tokio::time::Instant;

use super::failure::Failure;
use super::limits::{CALLER_AGAIN, VARIANT_CLAIMS, VARIANT_USED, VARIANTS};
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
    /// The only caller that it is for; none where it is for everybody with these capabilities.
    pub(super) lender: Option<Arc<str>>,
    /// The last reading, by whomever came first.
    pub(super) slot: Arc<Slot<Read>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    used: Instant,
    /// What counts, even while it is read again.
    last: Option<Arc<Offering>>,
    failed: Option<Failed>,
    /// When the last reading began.
    began: Option<Instant>,
    /// With what it is read: the newest one that its caller came with.
    credential: Option<HeaderValue>,
    /// Whether the server did not accept it in a call since.
    doubted: bool,
}

/// How it could not be read.
#[derive(Debug)]
struct Failed {
    /// The reading of the catalogue at which that was.
    reads: u64,
    at: Instant,
    credential: Option<HeaderValue>,
    /// A sentence for clients.
    why: Arc<str>,
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
        let variant = Arc::new(Variant::new(claims, None, now));
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
    /// One of which nothing was read yet.
    pub(super) fn new(claims: &str, lender: Option<Arc<str>>, now: Instant) -> Self {
        let state = State {
            used: now,
            last: None,
            failed: None,
            began: None,
            credential: None,
            doubted: false,
        };
        let (claims, slot) = (claims.into(), Arc::new(Slot::new()));
        Self { claims, lender, slot, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was read last.
    pub(super) fn last(&self) -> Option<Arc<Offering>> {
        self.state().last.clone()
    }

    /// When somebody asked for it last.
    pub(super) fn used(&self) -> Instant {
        self.state().used
    }

    /// Somebody asks for it.
    pub(super) fn is_used(&self, now: Instant) {
        self.state().used = now;
    }

    /// With what it is read.
    pub(super) fn credential(&self) -> Option<HeaderValue> {
        self.state().credential.clone()
    }

    /// Its caller came with this.
    pub(super) fn lend(&self, credential: &HeaderValue) {
        let mut state = self.state();
        if state.credential.as_ref() != Some(credential) {
            state.credential = Some(credential.clone());
            state.doubted = false;
        }
    }

    /// The server did not accept the credential with which this was read; says whether that has to be looked at.
    pub(super) fn doubt(&self, credential: &HeaderValue) -> bool {
        let Some(read) = self.slot.current() else { return false };
        let mut state = self.state();
        if state.doubted || state.last.is_none() || state.credential.as_ref() != Some(credential) {
            return false;
        }
        state.doubted = true;
        drop(state);
        self.slot.forget(&read);
        true
    }

    /// Whether it was doubted since it was read.
    pub(super) fn is_doubted(&self) -> bool {
        self.state().doubted
    }

    /// Why it could not be read, in a sentence for clients.
    pub(super) fn why(&self) -> Option<Arc<str>> {
        self.state().failed.as_ref().map(|failed| failed.why.clone())
    }

    /// When the last reading began.
    pub(super) fn began(&self) -> Option<Instant> {
        self.state().began
    }

    /// A reading begins.
    pub(super) fn begins(&self, now: Instant) {
        self.state().began = Some(now);
    }

    /// Whether it could not be read since the catalogue was read for the last time. One caller's is tried again before that:
    /// nothing is seen in its place.
    pub(super) fn failed(&self, reads: u64, now: Instant) -> bool {
        let state = self.state();
        state.failed.as_ref().is_some_and(|failed| {
            let tried = failed.credential == state.credential
                && now.saturating_duration_since(failed.at) < CALLER_AGAIN;
            failed.reads == reads && (self.lender.is_none() || tried)
        })
    }

    /// It was read with this credential, or could not be; says whether what counts is something else now. What a caller is
    /// refused does not count any more.
    pub(super) fn was_read(
        &self,
        (reads, now): (u64, Instant),
        credential: Option<HeaderValue>,
        read: Result<&Arc<Offering>, &Failure>,
    ) -> bool {
        let mut state = self.state();
        state.doubted = false;
        match read {
            Ok(offering) => {
                state.failed = None;
                state.last.replace(Arc::clone(offering)).as_ref() != Some(offering)
            }
            Err(failure) => {
                let why = failure.public().clone();
                state.failed = Some(Failed { reads, at: now, credential, why });
                self.lender.is_some() && failure.is_refusal() && state.last.take().is_some()
            }
        }
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
        let now = Instant::now();
        let away = Failure::unavailable("demo");
        let failed = |reads| variant.failed(reads, now + 2 * CALLER_AGAIN);
        let read = |reads: u64, read: Result<&Arc<Offering>, &Failure>| {
            variant.was_read((reads, now), None, read)
        };
        assert!(!read(1, Err(&away)) && failed(1) && !failed(2));
        assert!(read(2, Ok(&offering("a"))) && !failed(2));
        assert!(!read(3, Ok(&offering("a"))), "the same");
        assert!(!read(4, Err(&away)) && failed(4));
        assert_eq!(variant.last(), Some(offering("a")));
        assert!(read(5, Ok(&offering("b"))));
    }
}
