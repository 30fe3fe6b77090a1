//! How long a list counts, and for whom (MCP 2026-07-28, "Caching").

use crate::protocol::scan;

/// What a client may keep of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caching {
    /// Milliseconds for which it counts (`ttlMs`).
    pub ttl_ms: u64,
    /// Whether it is the same for everybody (`cacheScope`).
    pub public: bool,
}

impl Caching {
    /// What a list result says; nothing may be kept of one that does not say it.
    pub fn of(result: &str) -> Self {
        let member = |name| result.get(scan::member(result, name)?.range());
        let ttl_ms = member("ttlMs").and_then(milliseconds).unwrap_or(0);
        Self { ttl_ms, public: member("cacheScope") == Some(r#""public""#) }
    }

    /// What holds for two lists in one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { ttl_ms: self.ttl_ms.min(other.ttl_ms), public: self.public && other.public }
    }

    /// The members of a list result, each with a comma behind it.
    pub(super) fn members(self) -> String {
        let scope = if self.public { "public" } else { "private" };
        format!(r#""ttlMs":{},"cacheScope":"{scope}","#, self.ttl_ms)
    }
}

/// A number of JSON as whole milliseconds; none where it is negative or endless.
fn milliseconds(number: &str) -> Option<u64> {
    let seconds = number.parse::<f64>().ok()? / 1_000.0;
    let time = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(time.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_time_and_the_narrower_scope_hold_for_both() {
        for (text, ttl_ms, public) in [
            (r#"{"ttlMs":1500,"cacheScope":"public"}"#, 1_500, true),
            (r#"{"ttlMs":1.5e3}"#, 1_500, false),
            (r#"{"ttlMs":-1,"cacheScope":"private"}"#, 0, false),
            (r#"{"ttlMs":"9","cacheScope":"Public"}"#, 0, false),
            (r#"{"tools":[{"ttlMs":1}]}"#, 0, false),
        ] {
            assert_eq!(Caching::of(text), Caching { ttl_ms, public }, "{text}");
        }
        let (one, other) =
            (Caching { ttl_ms: 5, public: true }, Caching { ttl_ms: 7, public: true });
        assert_eq!(one.and(other), one);
        assert_eq!(one.and(Caching::default()), Caching::default());
        assert_eq!(one.members(), r#""ttlMs":5,"cacheScope":"public","#);
    }
}
