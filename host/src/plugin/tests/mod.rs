//! Tests of the plugin room. `loading`, `serving`, `inbound` and `swapping` run the components of `tests/guests`, which
//! `cargo xtask components` builds.

mod bench;
mod breaker;
mod inbound;
mod loading;
mod serving;
mod stage;
mod swapping;
mod waiting;
