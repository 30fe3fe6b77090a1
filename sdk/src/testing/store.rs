//! The fake host's state and clock: one namespace, exact windows, a clock that tests move.

use std::collections::BTreeMap;

use crate::host::state::Charge;

#[derive(Debug, Clone)]
struct Kept {
    text: String,
    until_ms: Option<f64>,
}

#[derive(Debug, Default, Clone)]
pub(super) struct Store {
    pub(super) now_ms: f64,
    counters: BTreeMap<u32, u32>,
    texts: BTreeMap<String, Kept>,
    /// window: when each unit was taken
    taken: BTreeMap<String, Vec<(f64, u32)>>,
    /// bucket: tokens, and when they were counted
    buckets: BTreeMap<String, (f64, f64)>,
}

impl Store {
    pub(super) fn next(&mut self, slot: u32) -> u32 {
        let counter = self.counters.entry(slot % 64).or_default();
        let now = *counter;
        *counter = counter.wrapping_add(1);
        now
    }

    pub(super) fn get(&self, key: &str) -> Option<String> {
        let kept = self.texts.get(key)?;
        kept.until_ms.is_none_or(|until| self.now_ms < until).then(|| kept.text.clone())
    }

    pub(super) fn set(&mut self, key: &str, text: &str, ttl_ms: Option<u32>) {
        let until_ms = ttl_ms.map(|ttl| self.now_ms + f64::from(ttl));
        self.texts.insert(key.to_owned(), Kept { text: text.to_owned(), until_ms });
    }

    pub(super) fn add(&mut self, key: &str, delta: i32, ttl_ms: Option<u32>) -> f64 {
        let old = self.get(key);
        let sum =
            old.as_deref().and_then(|text| text.parse().ok()).unwrap_or(0.0) + f64::from(delta);
        match self.texts.get_mut(key) {
            Some(kept) if old.is_some() => kept.text = sum.to_string(),
            _ => self.set(key, &sum.to_string(), ttl_ms),
        }
        sum
    }

    pub(super) fn compare_and_set(
        &mut self,
        key: &str,
        old: Option<&str>,
        new: &str,
        ttl_ms: Option<u32>,
    ) -> bool {
        let same = self.get(key).as_deref() == old;
        if same {
            self.set(key, new, ttl_ms);
        }
        same
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.texts.remove(key);
        self.taken.remove(key);
        self.buckets.remove(key);
    }

    pub(super) fn take(&mut self, key: &str, cost: u32, limit: u32, window_ms: u32) -> u32 {
        let start = self.now_ms - f64::from(window_ms);
        let taken = self.taken.entry(key.to_owned()).or_default();
        taken.retain(|(at, _)| *at > start);
        let used: u32 = taken.iter().map(|(_, cost)| cost).sum();
        if used.saturating_add(cost) <= limit {
            taken.push((self.now_ms, cost));
            return 0;
        }
        let mut free = limit.saturating_sub(used);
        for (at, freed) in taken.iter() {
            free += freed;
            if free >= cost {
                return whole(at - start);
            }
        }
        window_ms.max(1)
    }

    pub(super) fn take_all(&mut self, charges: &[Charge]) -> Option<(u32, u32)> {
        let mut after = self.clone();
        let mut longest: Option<(u32, u32)> = None;
        for (place, charge) in (0..).zip(charges) {
            let Charge { key, cost, limit, window_ms, burst } = charge;
            let wait = match burst {
                None => after.take(key, *cost, *limit, *window_ms),
                Some(burst) => after.draw(key, *cost, *limit, *burst),
            };
            if wait > longest.map_or(0, |(_, longest)| longest) {
                longest = Some((place, wait));
            }
        }
        if longest.is_none() {
            *self = after;
        }
        longest
    }

    pub(super) fn draw(&mut self, key: &str, cost: u32, per_minute: u32, burst: u32) -> u32 {
        let full = (f64::from(burst), self.now_ms);
        let (tokens, counted) = *self.buckets.get(key).unwrap_or(&full);
        let rate = f64::from(per_minute) / 60_000.0;
        let tokens = (tokens + (self.now_ms - counted) * rate).min(f64::from(burst));
        let left = tokens - f64::from(cost);
        let tokens = if left >= 0.0 { left } else { tokens };
        self.buckets.insert(key.to_owned(), (tokens, self.now_ms));
        if left >= 0.0 { 0 } else { whole(-left / rate) }
    }
}

/// Milliseconds as the contract gives them: at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and is never negative"
)]
fn whole(milliseconds: f64) -> u32 {
    (milliseconds.ceil() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_wrap_at_their_slot() {
        let mut store = Store::default();
        assert_eq!((store.next(1), store.next(65), store.next(0)), (0, 1, 0));
    }

    #[test]
    fn texts_expire() {
        let mut store = Store::default();
        store.set("a", "x", Some(10));
        assert!(store.compare_and_set("a", Some("x"), "y", Some(10)));
        assert!(!store.compare_and_set("a", None, "z", None));
        store.now_ms = 10.0;
        assert_eq!(store.get("a"), None);
        assert!(store.compare_and_set("a", None, "z", None));
        assert!(
            (store.add("n", 2, Some(5)) + store.add("n", 3, Some(5)) - 7.0).abs() < f64::EPSILON
        );
        store.now_ms = 15.0;
        assert!((store.add("n", 1, None) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_window_says_when_it_frees() {
        let mut store = Store::default();
        assert_eq!(store.take("k", 1, 2, 1_000), 0);
        store.now_ms = 400.0;
        assert_eq!(store.take("k", 1, 2, 1_000), 0);
        assert_eq!(store.take("k", 1, 2, 1_000), 600);
        store.now_ms = 1_000.0;
        assert_eq!(store.take("k", 1, 2, 1_000), 0);
    }

    #[test]
    fn several_charges_are_one() {
        let mut store = Store::default();
        let charge = |key: &str, limit: u32, burst: Option<u32>| Charge {
            key: key.to_owned(),
            cost: 1,
            limit,
            window_ms: 1_000,
            burst,
        };
        let both = [charge("wide", 5, None), charge("narrow", 60, Some(1))];
        assert_eq!(store.take_all(&both), None);
        for _ in 0..9 {
            assert_eq!(store.take_all(&both), Some((1, 1_000)));
        }
        for _ in 0..4 {
            assert_eq!(store.take("wide", 1, 5, 1_000), 0, "a refused charge took something");
        }
        assert_eq!(store.take("wide", 1, 5, 1_000), 1_000);
    }

    #[test]
    fn a_bucket_refills() {
        let mut store = Store::default();
        assert_eq!(store.draw("k", 2, 60, 2), 0);
        assert_eq!(store.draw("k", 1, 60, 2), 1_000);
        store.now_ms = 1_000.0;
        assert_eq!(store.draw("k", 1, 60, 2), 0);
    }
}
