//! The audit.

use std::path::PathBuf;

use crate::config::secret::Secret;

/// Where the audit is written, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each switch of the operator")]
pub struct AuditSettings {
    /// The file.
    pub file: Option<PathBuf>,
    /// Whether lines are written to standard output.
    pub stdout: bool,
    /// When the file is put aside.
    pub rotation: AuditRotation,
    /// Whether calls are refused while no line can be written.
    pub required: bool,
    /// Whether lines tell arguments, redacted.
    pub arguments: bool,
    /// Whether lines are tied together.
    pub chain: bool,
    /// The key of digests; none = a random one for each process.
    pub digest_key: Option<Secret>,
}

/// When a file is put aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditRotation {
    /// Before it has more bytes than this.
    pub size: u64,
    /// How many are kept.
    pub keep: u32,
    /// Whether each day has a file of its own.
    pub daily: bool,
}
