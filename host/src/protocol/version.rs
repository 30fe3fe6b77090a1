//! Protocol revisions and the two eras they fall into.

/// A published revision of MCP, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// HTTP+SSE and stdio.
    V2024_11_05,
    /// Streamable HTTP, JSON-RPC batches, no version header yet.
    V2025_03_26,
    /// Batches removed, `MCP-Protocol-Version` required after initialisation.
    V2025_06_18,
    /// Newest revision with `initialize`.
    V2025_11_25,
    /// Stateless: no handshake, no sessions.
    V2026_07_28,
}

/// How requests find their context: by a session, or all in themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// Revisions up to 2025-11-25: `initialize` and sessions.
    Legacy,
    /// Revision 2026-07-28: stateless.
    Modern,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];
    /// The newest that `initialize` can agree on.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// The newest of all.
    pub const NEWEST: Self = Self::V2026_07_28;
    /// What a request over HTTP without a version header means (2025-06-18, "Protocol Version Header").
    pub const UNSTATED: Self = Self::V2025_03_26;

    /// The revision that a date names.
    pub fn parse(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == date)
    }

    /// The date that names the revision.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era of the revision.
    pub fn era(self) -> Era {
        if self == Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}
