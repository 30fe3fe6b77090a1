//! Time.

imports! { clock {
    /// Microseconds since an arbitrary start; never goes back.
    fn monotonic_us() -> f64;
    /// Milliseconds since 1970-01-01T00:00:00Z; may jump.
    fn unix_ms() -> f64;
} }
