//! What the checks found.

use std::path::PathBuf;

use crate::config::key::KeyPath;
use crate::config::problem::Problem;

/// Everything that was found so far.
#[derive(Clone, Debug, Default)]
pub(in crate::config) struct Findings {
    pub(in crate::config) problems: Vec<Problem>,
    pub(in crate::config) warnings: Vec<Problem>,
    /// Files of secrets that were read.
    pub(in crate::config) sources: Vec<PathBuf>,
}

impl Findings {
    /// Something that keeps plugway from serving.
    pub(in crate::config) fn problem(
        &mut self,
        key: &KeyPath,
        sentence: impl Into<String>,
        hint: &str,
    ) {
        self.problems.push(Problem::new(key.clone(), sentence).hint(hint));
    }

    /// A file that was read besides the configuration, if one was.
    pub(in crate::config) fn source(&mut self, file: Option<PathBuf>) {
        self.sources.extend(file.filter(|file| !self.sources.contains(file)));
    }

    /// Something that deserves a word.
    pub(in crate::config) fn warning(
        &mut self,
        key: &KeyPath,
        sentence: impl Into<String>,
        hint: &str,
    ) {
        self.warnings.push(Problem::new(key.clone(), sentence).hint(hint));
    }
}
