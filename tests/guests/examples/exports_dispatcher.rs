//! A dispatcher with all its hooks: round-robin, one retry, the first of gathered answers.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Takes one after the other.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Dispatcher for Guest {
    fn pick(
        &self,
        _affinity: Option<u32>,
        assigned: Option<u32>,
        candidates: Vec<Candidate>,
    ) -> Result<Pick, Failure> {
        if let Some(worker) = assigned.filter(|id| candidates.iter().any(|one| one.id == *id)) {
            return Ok(Pick::stick(worker));
        }
        let turn = usize::try_from(state::next(0)).unwrap_or_default();
        Ok(match candidates.get(turn % candidates.len().max(1)) {
            Some(candidate) => Pick::stick(candidate.id),
            None => Pick::Reject(Rejection::new("No worker is there.").retry_after(1_000)),
        })
    }
}

impl Settling for Guest {
    fn settle(&self, candidates: Vec<Candidate>) -> Result<Verdict, Failure> {
        let another =
            candidates.first().filter(|_| call::attempt() == 0 && !outcome::dispatched(0));
        Ok(another.map_or(Verdict::Relay, |candidate| Verdict::Retry(candidate.id)))
    }
}

impl Learning for Guest {
    fn learn(&self) -> Result<(), Failure> {
        if let Some(name) = outcome::worker(0).and_then(workers::name) {
            state::set(&format!("last/{}", caller::id()), &name, None);
        }
        Ok(())
    }
}

impl Merging for Guest {
    fn merge(&self) -> Result<String, Failure> {
        let first = (0..outcome::count()).find(|index| outcome::failed(*index).is_none());
        first.map(outcome::body).ok_or_else(|| Failure::temporary("no worker answered"))
    }
}

plugway_sdk::export!(Guest: dispatcher, settling, learning, merging);
