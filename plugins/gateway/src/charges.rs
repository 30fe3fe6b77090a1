//! What one call is charged for.

use plugway_sdk::Rejection;
use plugway_sdk::host::state::{self, Charge};

use crate::called::Called;
use crate::limits::Limit;
use crate::refusal;

const MINUTE_MS: u32 = 60_000;

/// Charges a call at all limits that it falls under, at each what is due there, or at none of them; the error is what the
/// caller hears.
pub fn take(limits: &[(&Limit, u32)], called: &Called) -> Result<(), Rejection> {
    if let Some((limit, cost)) = limits.iter().find(|(limit, cost)| *cost > limit.room()) {
        let kind = called.kind();
        return Err(refusal::too_much(kind, *cost, limit.room(), limit.name.to_string()));
    }
    let refused = match limits {
        [] => None,
        [(only, cost)] => one(only, &only.key(called), *cost).err().map(|wait| (0, wait)),
        several => {
            let charges = several.iter().map(|&(limit, cost)| Charge {
                key: limit.key(called),
                cost,
                limit: limit.per_minute,
                window_ms: MINUTE_MS,
                burst: limit.burst,
            });
            state::take_all(&charges.collect::<Vec<_>>()).err()
        }
    };
    let Some((place, wait)) = refused else { return Ok(()) };
    let limit = limits.get(place).map(|(limit, _)| limit);
    let (per_minute, name) = limit.map_or((0, ""), |limit| (limit.per_minute, &*limit.name));
    Err(refusal::limited(called.kind(), per_minute, wait, name.to_owned()))
}

/// What a call was charged before, when it is judged again because somebody changed it: at the limits of the configuration, and
/// at those of rules, of which another one may decide now.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Charged {
    own: u32,
    of_rules: Vec<(String, u32)>,
}

impl Charged {
    /// As it was kept.
    pub fn read(text: &str) -> Self {
        let mut words = text.split(' ');
        let own = words.next().and_then(|cost| cost.parse().ok()).unwrap_or(0);
        let of_rule = |word: &str| {
            let (rule, cost) = word.split_once('=')?;
            Some((rule.to_owned(), cost.parse().ok()?))
        };
        Self { own, of_rules: words.filter_map(of_rule).collect() }
    }

    /// As it is to be kept.
    pub fn text(&self) -> String {
        let rules = self.of_rules.iter().map(|(rule, cost)| format!(" {rule}={cost}"));
        std::iter::once(self.own.to_string()).chain(rules).collect()
    }

    /// Notes this cost at the limits of the configuration, and says how much more it is than before.
    pub fn raise_own(&mut self, cost: u32) -> u32 {
        raise(&mut self.own, cost)
    }

    /// The same at the limit of a rule.
    pub fn raise_of_rule(&mut self, prefix: &str, cost: u32) -> u32 {
        if let Some((_, known)) = self.of_rules.iter_mut().find(|(rule, _)| rule == prefix) {
            return raise(known, cost);
        }
        self.of_rules.push((prefix.to_owned(), cost));
        cost
    }
}

fn raise(known: &mut u32, cost: u32) -> u32 {
    let due = cost.saturating_sub(*known);
    *known = cost.max(*known);
    due
}

fn one(limit: &Limit, key: &str, cost: u32) -> Result<(), u32> {
    match limit.burst {
        None => state::take(key, cost, limit.per_minute, MINUTE_MS),
        Some(burst) => state::draw(key, cost, limit.per_minute, burst),
    }
}

#[cfg(test)]
mod tests {
    use super::Charged;

    #[test]
    fn what_was_charged_is_kept_for_each_limit() {
        let mut charged = Charged::default();
        assert_eq!((charged.raise_own(2), charged.raise_of_rule("ra", 2)), (2, 2));
        let mut charged = Charged::read(&charged.text());
        assert_eq!((charged.raise_own(3), charged.raise_of_rule("rb", 3)), (1, 3));
        assert_eq!((charged.raise_of_rule("ra", 1), charged.raise_own(1)), (0, 0));
        assert_eq!(charged.text(), "3 ra=2 rb=3");
        assert_eq!(Charged::read("4").text(), "4");
    }
}
