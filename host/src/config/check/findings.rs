//! What the checks found.

use std::path::PathBuf;

use crate::config::key::KeyPath;
use crate::config::problem::Problem;

/// Everything that was found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
    /// Files of secrets that were read.
    pub(super) sources: Vec<PathBuf>,
}

impl Findings {
    /// Something that keeps plugway from serving.
    pub(super) fn problem(&mut self, key: &KeyPath, sentence: impl Into<String>, hint: &str) {
        self.problems.push(Problem::new(key.clone(), sentence).hint(hint));
    }

    /// Something that deserves a word.
    pub(super) fn warning(&mut self, key: &KeyPath, sentence: impl Into<String>, hint: &str) {
        self.warnings.push(Problem::new(key.clone(), sentence).hint(hint));
    }
}
