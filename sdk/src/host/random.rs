//! Chance.

imports! { random {
    /// 32 uniform bits.
    fn next() -> u32;
} }
