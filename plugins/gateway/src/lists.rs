//! `blocked_tools`, `allowed_tools` and their kin.

use std::collections::BTreeSet;

use plugway_sdk::{BadConfig, glob};

use crate::names::{Names, SEND};

/// Entries of one list.
const ENTRIES_MAX: usize = 1_000;
/// Bytes of one entry.
const ENTRY_MAX: usize = 1_024;

/// Globs over names. Most are plain names: these are looked up, whatever their number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patterns {
    exact: BTreeSet<Box<str>>,
    globs: Vec<Box<str>>,
}

impl Patterns {
    /// The entries of a list that stands at `path`.
    pub fn checked(path: &str, entries: Vec<String>) -> Result<Self, BadConfig> {
        if entries.len() > ENTRIES_MAX {
            return Err(BadConfig::at(path, format!("more than {ENTRIES_MAX} entries")));
        }
        let mut patterns = Self::default();
        for (place, entry) in entries.into_iter().enumerate() {
            let wrong = |what: &str| Err(BadConfig::at(format!("{path}[{place}]"), what));
            if entry.is_empty() {
                return wrong(
                    "is empty; an entry is a name, in which `*` and `?` stand for others",
                );
            }
            if entry.len() > ENTRY_MAX {
                return wrong(&format!("is longer than {ENTRY_MAX} bytes"));
            }
            if entry.contains(['*', '?']) {
                patterns.globs.push(entry.into());
            } else {
                patterns.exact.insert(entry.into());
            }
        }
        Ok(patterns)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.globs.is_empty()
    }

    /// Whether one of them matches.
    pub fn matches(&self, name: &str) -> bool {
        self.exact.contains(name) || self.globs.iter().any(|pattern| glob::matches(pattern, name))
    }

    /// Whether one of them matches one of these names.
    pub fn match_any(&self, names: &Names<'_>) -> bool {
        !self.is_empty() && names.any(|name| self.matches(name))
    }

    /// The entries without `*` and `?`.
    pub fn exact(&self) -> impl Iterator<Item = &str> {
        self.exact.iter().map(|entry| &**entry)
    }
}

/// Why a list is against something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ban {
    /// An entry of the block-list names it.
    Blocked,
    /// There is an allow-list, and no entry of it names it.
    NotAllowed,
}

/// A block-list and an allow-list of one sort of things. The former wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    /// What is not to be had.
    pub blocked: Patterns,
    /// What alone is to be had; none = everything.
    pub allowed: Option<Patterns>,
}

impl Lists {
    /// The lists `blocked_{sort}` and `allowed_{sort}`. An allow-list without entries is none, as in the reference.
    pub fn checked(
        sort: &str,
        blocked: Vec<String>,
        allowed: Option<Vec<String>>,
    ) -> Result<Self, BadConfig> {
        let allowed = allowed.filter(|entries| !entries.is_empty());
        Ok(Self {
            blocked: Patterns::checked(&format!("blocked_{sort}"), blocked)?,
            allowed: allowed
                .map(|entries| Patterns::checked(&format!("allowed_{sort}"), entries))
                .transpose()?,
        })
    }

    /// Whether they say nothing.
    pub fn are_empty(&self) -> bool {
        self.blocked.is_empty() && self.allowed.is_none()
    }

    /// Judges a thing. `brought`: whether something else that is allowed brings it with it; asked only where that matters.
    pub fn judge(&self, names: &Names<'_>, brought: impl FnOnce() -> bool) -> Result<(), Ban> {
        if self.blocked.match_any(names) {
            return Err(Ban::Blocked);
        }
        match &self.allowed {
            Some(allowed) if !allowed.match_any(names) && !brought() => Err(Ban::NotAllowed),
            _ => Ok(()),
        }
    }
}

/// Whether an allowed function of a server brings this tool of it: functions are called by code, and found by the other
/// tools. Sending things to other servers is another matter.
pub fn is_brought(short: Option<&str>) -> bool {
    short.is_some_and(|short| short != SEND)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(blocked: &[&str], allowed: Option<&[&str]>) -> Lists {
        let owned = |list: &[&str]| list.iter().map(|&entry| entry.to_owned()).collect();
        Lists::checked("tools", owned(blocked), allowed.map(owned)).unwrap()
    }

    fn named(shown: &'static str, own: &'static str) -> Names<'static> {
        Names { shown, own, short: None }
    }

    #[test]
    fn an_entry_names_the_shown_or_the_own_name() {
        let lists = lists(&["delete_*", "weather_now"], None);
        assert_eq!(
            lists.judge(&named("notes_delete_all", "delete_all"), || false),
            Err(Ban::Blocked)
        );
        assert_eq!(lists.judge(&named("weather_now", "now"), || false), Err(Ban::Blocked));
        assert_eq!(lists.judge(&named("notes_read", "read"), || false), Ok(()));
    }

    #[test]
    fn the_block_list_wins() {
        let lists = lists(&["b"], Some(&["a", "b"]));
        assert_eq!(lists.judge(&named("a", "a"), || false), Ok(()));
        assert_eq!(lists.judge(&named("b", "b"), || true), Err(Ban::Blocked));
        assert_eq!(lists.judge(&named("c", "c"), || false), Err(Ban::NotAllowed));
        assert_eq!(lists.judge(&named("c", "c"), || true), Ok(()));
    }

    #[test]
    fn an_empty_allow_list_is_none() {
        assert!(lists(&[], Some(&[])).are_empty());
        assert!(!lists(&[], Some(&["a"])).are_empty());
    }

    #[test]
    fn wrong_entries_are_named() {
        let error = Lists::checked("tools", vec!["a".into(), String::new()], None).unwrap_err();
        assert_eq!(error.path(), "blocked_tools[1]");
        let many = vec!["a".to_owned(); ENTRIES_MAX + 1];
        assert_eq!(
            Lists::checked("prompts", vec![], Some(many)).unwrap_err().path(),
            "allowed_prompts"
        );
        let long = vec!["a".repeat(ENTRY_MAX + 1)];
        assert_eq!(Lists::checked("tools", long, None).unwrap_err().path(), "blocked_tools[0]");
    }
}
