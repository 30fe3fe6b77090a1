//! What becomes of definitions that changed.

/// What becomes of definitions that are not those that were seen or approved before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pin {
    /// They are not looked at.
    #[default]
    Off,
    /// The log and `/ready` tell of them.
    Warn,
    /// What changed is held back.
    Hold,
    /// What changed and what is new is held back.
    Locked,
}

impl Pin {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Hold => "hold",
            Self::Locked => "locked",
        }
    }
}
