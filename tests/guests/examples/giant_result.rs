//! Answers with 40 MB.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;

/// Fits into 64 MiB of memory once, not twice.
const SIZE: usize = 40_000_000;

/// Answers with 40 MB.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

impl Admission for Guest {
    fn admit(&self) -> Result<Admit, Failure> {
        let (head, tail) = (r#"{"content":[{"type":"text","text":""#, r#""}]}"#);
        let mut answer = String::with_capacity(head.len() + SIZE + tail.len());
        answer.push_str(head);
        answer.extend(std::iter::repeat_n('x', SIZE));
        answer.push_str(tail);
        Ok(Admit::Answer(answer))
    }
}

plugway_sdk::export!(Guest: admission);
