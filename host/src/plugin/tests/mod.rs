//! Tests of the plugin room. `loading`, `serving` and `swapping` run the components of `tests/guests`, which
//! `cargo xtask components` builds.

mod bench;
mod breaker;
mod loading;
mod serving;
mod stage;
mod swapping;
