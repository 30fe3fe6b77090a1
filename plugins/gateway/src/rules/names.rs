//! Names: exact ones in a set, patterns one by one.

use plugway_sdk::glob;

use super::place::{Place, Wrong};

/// Any of some names and globs.
#[derive(Clone, Debug)]
pub(super) struct Names(Vec<Box<str>>);

impl Names {
    pub(super) fn read(place: &Place<'_>) -> Result<Self, Wrong> {
        Ok(Self(place.texts()?.into_iter().map(Into::into).collect()))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|pattern| glob::matches(pattern, name))
    }

    /// The names where none of them is a pattern.
    pub(super) fn exact(&self) -> Option<&[Box<str>]> {
        let exact = self.0.iter().all(|pattern| !pattern.contains(['*', '?']));
        exact.then_some(&self.0)
    }
}
