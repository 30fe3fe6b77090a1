//! What a server offers to one caller each, where it says that to callers with credentials of their own only
//! (docs/decisions/0026).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderValue;
use tokio::time::Instant;

use super::limits::{CALLER_VARIANT_KEPT, CALLER_VARIANTS, VARIANT_CLAIMS};
use super::variants::Variant;
use crate::pipeline::port::Lender;
use crate::protocol::Mirrored;

/// The catalogues of one upstream's callers.
#[derive(Debug, Default)]
pub(super) struct Lent(Mutex<Vec<Arc<Variant>>>);

impl Lent {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Variant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The catalogue of a caller whose client has these capabilities; none where the caller never came with a credential.
    /// Whatever it comes with now is what all of its catalogues are read with from now on.
    pub(super) fn of(
        &self,
        claims: &str,
        lender: Lender<'_>,
        now: Instant,
    ) -> Option<Arc<Variant>> {
        let claims = if claims.len() > VARIANT_CLAIMS { "{}" } else { claims };
        let mut kept = self.lock();
        let own = || kept.iter().filter(|one| one.lender.as_deref() == Some(&**lender.caller));
        let credential = lender.credential.cloned();
        let credential = credential.or_else(|| own().find_map(|one| one.credential()))?;
        own().for_each(|one| one.lend(&credential));
        if let Some(variant) = own().find(|one| *one.claims == *claims).cloned() {
            variant.is_used(now);
            return Some(variant);
        }
        if kept.len() >= CALLER_VARIANTS {
            let places = kept.iter().enumerate();
            let last = places.min_by_key(|(_, one)| (one.why().is_none(), one.used()));
            let place = last.map(|(place, _)| place)?;
            kept.swap_remove(place);
        }
        let variant = Arc::new(Variant::new(claims, Some(lender.caller.clone()), now));
        variant.lend(&credential);
        kept.push(Arc::clone(&variant));
        Some(variant)
    }

    /// The server did not accept this credential in a call; says whether a catalogue was read with it, which has to be read
    /// again.
    pub(super) fn doubt(&self, credential: &HeaderValue) -> bool {
        // Each of them: a caller may have several clients.
        self.lock().iter().filter(|one| one.doubt(credential)).count() > 0
    }

    /// Forgets those whose callers do not come any more.
    pub(super) fn sweep(&self, now: Instant) {
        let is_used =
            |one: &Variant| now.saturating_duration_since(one.used()) < CALLER_VARIANT_KEPT;
        self.lock().retain(|one| is_used(one));
    }

    /// Whether there are any.
    pub(super) fn are_kept(&self) -> bool {
        !self.lock().is_empty()
    }

    /// The arguments of a tool that travel in headers, too, as the server says to whoever has this credential.
    pub(super) fn mirrored(&self, tool: &str, credential: &HeaderValue) -> Option<Arc<[Mirrored]>> {
        let kept = self.lock();
        let mut own = kept.iter().filter(|one| one.credential().as_ref() == Some(credential));
        own.find_map(|one| one.last()?.mirrored.get(tool).cloned())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::pipeline::port::Offering;
    use crate::upstream::failure::{Failure, Refused};
    use crate::upstream::limits::CALLER_AGAIN;

    fn credential(text: &str) -> HeaderValue {
        HeaderValue::from_str(text).unwrap()
    }

    fn of(lent: &Lent, caller: &str, text: Option<&str>, now: Instant) -> Option<Arc<Variant>> {
        let (caller, credential) = (caller.into(), text.map(credential));
        lent.of("{}", Lender { caller: &caller, credential: credential.as_ref() }, now)
    }

    #[test]
    fn each_caller_has_its_own_which_is_read_with_what_it_came_with_last() {
        let (lent, now) = (Lent::default(), Instant::now());
        assert!(of(&lent, "ann", None, now).is_none() && !lent.are_kept());
        let ann = of(&lent, "ann", Some("a"), now).unwrap();
        let bob = of(&lent, "bob", Some("a"), now).unwrap();
        assert!(!Arc::ptr_eq(&ann, &bob), "however they are known to the server");
        assert!(Arc::ptr_eq(&ann, &of(&lent, "ann", Some("b"), now).unwrap()));
        assert_eq!(ann.credential(), Some(credential("b")));
        assert!(Arc::ptr_eq(&ann, &of(&lent, "ann", None, now).unwrap()));
        assert_eq!(
            (ann.credential(), bob.credential()),
            (Some(credential("b")), Some(credential("a")))
        );
        lent.sweep(now + CALLER_VARIANT_KEPT - Duration::from_secs(1));
        assert!(lent.are_kept());
        lent.sweep(now + CALLER_VARIANT_KEPT);
        assert!(!lent.are_kept());
    }

    #[test]
    fn who_was_refused_makes_room_first_and_then_who_did_not_come_the_longest() {
        let (lent, now) = (Lent::default(), Instant::now());
        let later = |n: usize| now + Duration::from_millis(n as u64);
        let all: Vec<_> = (0..CALLER_VARIANTS)
            .map(|n| of(&lent, &n.to_string(), Some("c"), later(n)).unwrap())
            .collect();
        let refused = Failure::refused("demo", Refused::Callers);
        assert!(!all[7].was_read((1, now), all[7].credential(), Err(&refused)));
        of(&lent, "one more", Some("c"), later(1_000)).unwrap();
        assert!(!Arc::ptr_eq(&all[7], &of(&lent, "7", Some("c"), later(1_001)).unwrap()));
        // That took the place of the first one.
        assert!(Arc::ptr_eq(&all[1], &of(&lent, "1", Some("c"), later(1_002)).unwrap()));
        assert!(!Arc::ptr_eq(&all[0], &of(&lent, "0", Some("c"), later(1_003)).unwrap()));
        assert_eq!(lent.lock().len(), CALLER_VARIANTS);
    }

    #[test]
    fn what_is_refused_is_not_seen_any_more_and_tried_again_with_another_credential() {
        let (lent, now) = (Lent::default(), Instant::now());
        let ann = of(&lent, "ann", Some("a"), now).unwrap();
        assert!(ann.was_read((1, now), ann.credential(), Ok(&Arc::new(Offering::default()))));
        let away = Failure::unavailable("demo");
        assert!(!ann.was_read((1, now), ann.credential(), Err(&away)) && ann.last().is_some());
        let refused = Failure::refused("demo", Refused::Callers);
        assert!(ann.was_read((1, now), ann.credential(), Err(&refused)) && ann.last().is_none());
        assert!(ann.failed(1, now) && !ann.failed(2, now) && !ann.failed(1, now + CALLER_AGAIN));
        assert!(ann.why().unwrap().contains("your own credential"));
        of(&lent, "ann", Some("b"), now);
        assert!(!ann.failed(1, now));
    }
}
