//! Names that belong to somebody although nobody leases them now.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::lease::Holder;
use super::rules::overlap;

/// How long a name stays with its last holder after the lease ended.
pub const KEPT: Duration = Duration::from_hours(24);
/// Names of one identity that are kept.
pub const OF_IDENTITY: usize = 64;
/// Names of one connector that are kept.
pub const NAMES: usize = 4096;

/// Names whose leases ended, and whose they still are.
#[derive(Debug, Default)]
pub struct Names(HashMap<Arc<str>, Kept>);

#[derive(Debug)]
struct Kept {
    holder: Holder,
    ended: Instant,
}

impl Kept {
    /// How long it is still kept.
    fn left(&self, now: Instant) -> Option<Duration> {
        let left = KEPT.checked_sub(now.saturating_duration_since(self.ended))?;
        (!left.is_zero()).then_some(left)
    }
}

impl Names {
    /// The lease of this name ended. Where there are too many names, the one that is kept longest is forgotten: first among
    /// those of the same identity, so that nobody takes the place of others.
    pub fn keep(&mut self, name: Arc<str>, holder: Holder, now: Instant) {
        self.0.retain(|_, kept| kept.left(now).is_some());
        let id = &holder.id;
        if self.0.values().filter(|kept| kept.holder.id == *id).count() >= OF_IDENTITY {
            self.forget_oldest(|kept| kept.holder.id == *id);
        } else if self.0.len() >= NAMES {
            self.forget_oldest(|_| true);
        }
        self.0.insert(name, Kept { holder, ended: now });
    }

    fn forget_oldest(&mut self, of: impl Fn(&Kept) -> bool) {
        let those = self.0.iter().filter(|(_, kept)| of(kept));
        let oldest = those.min_by_key(|(_, kept)| kept.ended).map(|(name, _)| name.clone());
        if let Some(name) = oldest {
            self.0.remove(&name);
        }
    }

    /// The identity that a name still belongs to, and for how long.
    pub fn owner(&self, name: &str, now: Instant) -> Option<(&Arc<str>, Duration)> {
        let kept = self.0.get(name)?;
        Some((&kept.holder.id, kept.left(now)?))
    }

    /// Whether a name of another identity is kept that could make the same names of tools as this one.
    pub fn overlap(&self, name: &str, id: &str, now: Instant) -> bool {
        let mut others = self.0.iter().filter(|(_, kept)| *kept.holder.id != *id);
        others.any(|(other, kept)| overlap(other, name) && kept.left(now).is_some())
    }

    /// The name is nobody's, where its last holder is one of these.
    pub fn forget(&mut self, name: &str, of: impl Fn(&Holder) -> bool) {
        if self.0.get(name).is_some_and(|kept| of(&kept.holder)) {
            self.0.remove(name);
        }
    }

    /// The name is leased again.
    pub fn take(&mut self, name: &str) {
        self.0.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(id: &str) -> Holder {
        Holder { id: id.into(), shown: id.into() }
    }

    #[test]
    fn a_name_is_kept_for_a_day_and_no_longer() {
        let (mut names, start) = (Names::default(), Instant::now());
        names.keep("a".into(), holder("ann"), start);
        let owner = |names: &Names, at| names.owner("a", at).map(|(id, _)| id.to_string());
        assert_eq!(owner(&names, start), Some("ann".to_owned()));
        assert_eq!(
            owner(&names, start + KEPT.saturating_sub(Duration::from_nanos(1))),
            Some("ann".to_owned())
        );
        assert_eq!(owner(&names, start + KEPT), None);
        names.take("a");
        assert_eq!(owner(&names, start), None);
    }

    #[test]
    fn who_leaves_many_names_behind_loses_its_own_oldest_ones() {
        let (mut names, start) = (Names::default(), Instant::now());
        let at = |n: usize| start + Duration::from_secs(n as u64);
        names.keep("bobs".into(), holder("bob"), start);
        for n in 0..=OF_IDENTITY {
            names.keep(format!("n{n}").into(), holder("ann"), at(n + 1));
        }
        let now = at(OF_IDENTITY + 2);
        assert!(names.owner("n0", now).is_none() && names.owner("n1", now).is_some());
        assert!(names.owner("bobs", now).is_some(), "others lose nothing");
        for n in 0..NAMES {
            names.keep(format!("m{n}").into(), holder(&format!("id{n}")), now);
        }
        assert_eq!(names.0.len(), NAMES);
        assert!(names.owner("bobs", now).is_none(), "the oldest of all");
    }
}
