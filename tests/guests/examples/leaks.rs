//! Keeps one more MiB with every call, until its instance has to go.

#![cfg(target_family = "wasm")]

use std::cell::RefCell;

use plugway_sdk::prelude::*;

/// What it never gives back.
struct Guest(RefCell<Vec<Vec<u8>>>);

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self(RefCell::default()))
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let mut kept = self.0.borrow_mut();
        kept.push(vec![1; 1 << 20]);
        std::hint::black_box(&mut *kept);
        Ok(Admit::Edit(vec![Edit::attribute("leaks/mib", kept.len().to_string())]))
    }
}

plugway_sdk::export!(Guest: admission);
