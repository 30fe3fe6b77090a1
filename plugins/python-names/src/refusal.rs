//! Why a text is not read.

use std::fmt;

/// A text that is not Python, or not certain to be read as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPython {
    /// The line, from 1.
    pub line: usize,
    /// What is in the way, in words that hold nothing of the text.
    pub why: &'static str,
}

impl fmt::Display for NotPython {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for NotPython {}
