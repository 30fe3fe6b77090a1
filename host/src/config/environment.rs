//! The environment as it was when plugway started.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// Variables by name; empty ones have a name and count as absent otherwise. Shows no values, since some are secrets.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// These variables.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(variables.into_iter().collect())
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The names of all variables, of empty ones too.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The first of these variables that is set.
    pub fn first(&self, names: &[&'static str]) -> Option<(&'static str, &str)> {
        names.iter().find_map(|name| self.get(name).map(|value| (*name, value)))
    }

    /// plugway's own directory in the user's cache.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        let absolute = |name| self.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .map(|cache| cache.join("plugway"))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_no_values() {
        let environment = Environment::of([("TOKEN".to_owned(), "hunter2".to_owned())]);
        assert_eq!(format!("{environment:?}"), "[\"TOKEN\"]");
    }

    #[test]
    fn the_cache_is_absolute_or_absent() {
        let of = |name: &str, value: &str| Environment::of([(name.to_owned(), value.to_owned())]);
        assert_eq!(of("HOME", "/home/a").cache_dir(), Some("/home/a/.cache/plugway".into()));
        assert_eq!(of("XDG_CACHE_HOME", "/c").cache_dir(), Some("/c/plugway".into()));
        assert_eq!(of("XDG_CACHE_HOME", "c").cache_dir(), None);
        assert_eq!(of("HOME", "").cache_dir(), None);
    }
}
