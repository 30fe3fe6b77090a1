//! Where something stands in a configuration file.

use std::fmt;

/// One step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Step {
    Key(String),
    Index(usize),
}

/// The way from the top of the file to a value, written as `connectors[0].upstreams[1].url`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KeyPath(Vec<Step>);

impl KeyPath {
    /// The top of the file.
    pub fn top() -> Self {
        Self::default()
    }

    /// The value of a key below.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.below(Step::Key(key.to_owned()))
    }

    /// An item of a list below.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        self.below(Step::Index(index))
    }

    fn below(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    /// Whether this is the top of the file.
    pub fn is_top(&self) -> bool {
        self.0.is_empty()
    }

    /// The last key on the way.
    pub fn last_key(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }

    /// This way, begun at another place.
    pub(super) fn inside(&self, outer: &Self) -> Self {
        Self(outer.0.iter().chain(&self.0).cloned().collect())
    }

    /// Whether this is a place inside `outer`, or `outer` itself.
    pub(super) fn is_within(&self, outer: &Self) -> bool {
        self.0.starts_with(&outer.0)
    }

    /// This way, where it leads into `from`, as one that leads into `to`.
    pub(super) fn moved(&self, from: &Self, to: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(from.0.as_slice())?;
        Some(Self(to.0.iter().chain(rest).cloned().collect()))
    }

    /// Walks down from a value: `by_key` and `by_index` give the value below, or none where the way ends.
    pub(super) fn walk<T>(
        &self,
        top: T,
        by_key: impl Fn(&T, &str) -> Option<T>,
        by_index: impl Fn(&T, usize) -> Option<T>,
    ) -> (T, bool) {
        let mut at = top;
        for step in &self.0 {
            let next = match step {
                Step::Key(key) => by_key(&at, key),
                Step::Index(index) => by_index(&at, *index),
            };
            match next {
                Some(below) => at = below,
                None => return (at, false),
            }
        }
        (at, true)
    }
}

impl KeyPath {
    /// Each step, as a key or as an index.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Option<&str>, Option<usize>)> {
        self.0.iter().map(|step| match step {
            Step::Key(key) => (Some(key.as_str()), None),
            Step::Index(index) => (None, Some(*index)),
        })
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_like_code() {
        let path = KeyPath::top().key("connectors").item(0).key("upstreams").item(1).key("url");
        assert_eq!(path.to_string(), "connectors[0].upstreams[1].url");
        assert_eq!(path.last_key(), Some("url"));
        assert!(KeyPath::top().is_top());
    }
}
