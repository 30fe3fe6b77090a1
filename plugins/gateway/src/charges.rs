//! What one call is charged for.

use plugway_sdk::Rejection;
use plugway_sdk::host::state::{self, Charge};

use crate::called::Called;
use crate::limits::Limit;
use crate::refusal;

const MINUTE_MS: u32 = 60_000;

/// Charges a call at all limits that it falls under, or at none of them; the error is what the caller hears.
pub fn take(limits: &[&Limit], called: &Called, cost: u32) -> Result<(), Rejection> {
    if let Some(limit) = limits.iter().find(|limit| cost > limit.room()) {
        let kind = called.kind();
        return Err(refusal::too_much(kind, cost, limit.room(), limit.name.to_string()));
    }
    let refused = match limits {
        [] => None,
        [only] => one(only, &only.key(called), cost).err().map(|wait| (0, wait)),
        several => {
            let charges = several.iter().map(|limit| Charge {
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
    let limit = limits.get(place);
    let (per_minute, name) = limit.map_or((0, ""), |limit| (limit.per_minute, &*limit.name));
    Err(refusal::limited(called.kind(), per_minute, wait, name.to_owned()))
}

fn one(limit: &Limit, key: &str, cost: u32) -> Result<(), u32> {
    match limit.burst {
        None => state::take(key, cost, limit.per_minute, MINUTE_MS),
        Some(burst) => state::draw(key, cost, limit.per_minute, burst),
    }
}
