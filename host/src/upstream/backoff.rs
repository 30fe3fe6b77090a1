//! How long to wait before the next attempt.

use std::time::Duration;

use super::limits::Limits;

/// The wait before attempt number `failures` + 1: a quick one first, then doubling, each shortened by up to a quarter
/// so that many proxies do not come back in the same moment.
pub(super) fn wait(limits: &Limits, failures: u32, random: u8) -> Duration {
    let full = match failures {
        0 => return Duration::ZERO,
        1 => limits.retry_first,
        more => {
            let doubled = limits.retry.saturating_mul(1_u32 << (more - 2).min(16));
            doubled.min(limits.retry_max)
        }
    };
    full.mul_f64(1.0 - f64::from(random) / 1020.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_the_limit_and_never_exceeds_it() {
        let limits = Limits::default();
        let waits: Vec<_> = (0..9).map(|failures| wait(&limits, failures, 0).as_millis()).collect();
        assert_eq!(waits, [0, 250, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
        assert_eq!(wait(&limits, u32::MAX, 255), Duration::from_millis(22_500));
    }
}
