//! What ids look like.

/// What an id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A session: 128 bits, as a UUID, or as the 32 digits of an MCP session.
    Session,
    /// A job in the background: `j_` and 48 bits.
    Job,
    /// Several jobs at once: `b_` and 48 bits.
    Batch,
}

impl Kind {
    /// The word under which the host keeps ids of this kind.
    pub fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Job => "job",
            Self::Batch => "batch",
        }
    }

    /// An id that nobody has, of the form that this one has or should have. `random` gives 32 uniform bits.
    pub fn nobodys(self, like: &str, mut random: impl FnMut() -> u32) -> String {
        let mut digits = |count: usize| {
            let words = (0..count.div_ceil(8)).map(|_| format!("{:08x}", random()));
            let mut all = words.collect::<Vec<_>>().concat();
            all.truncate(count);
            all
        };
        match self {
            Self::Job => ["j_", &digits(12)].concat(),
            Self::Batch => ["b_", &digits(12)].concat(),
            Self::Session if is_plain(like) => digits(32),
            // Version 4, variant 1.
            Self::Session => [
                digits(8),
                digits(4),
                ["4", &digits(3)].concat(),
                ["a", &digits(3)].concat(),
                digits(12),
            ]
            .join("-"),
        }
    }
}

/// 32 hexadecimal digits without anything between them.
fn is_plain(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}
