//! What one session has loaded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;

/// The tools that a session of the legacy era has loaded, by the names that clients see. Names stay while a tool is hidden or
/// its server is away: views decide what is listed.
#[derive(Debug, Default)]
pub struct Loads(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// The one used the longest ago first.
    tools: IndexMap<Arc<str>, Loaded>,
    /// Counts up with every change.
    revision: u32,
    /// Whether the client could not be told of a change.
    untold: bool,
}

#[derive(Clone, Copy, Debug)]
struct Loaded {
    used: Instant,
    /// Whether it is unloaded by its first call.
    once: bool,
}

/// What is to be loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    /// Names, each once.
    pub(super) names: &'a [Arc<str>],
    /// Each until its first call.
    pub(super) once: bool,
    /// Whether those go that were used the longest ago, where there is no room.
    pub(super) evict: bool,
    /// So many tools may be loaded.
    pub(super) cap: usize,
    /// The present moment.
    pub(super) now: Instant,
}

/// Names in the order of use.
type Names = Vec<Arc<str>>;

/// There is no room for so many more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full {
    /// So many more were asked for.
    pub(super) more: usize,
}

/// What became of a call of a tool by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is not loaded.
    Not,
    /// It is.
    Loaded,
    /// It was, for this one call.
    Last,
}

impl Loads {
    /// What is loaded, the one used the longest ago first.
    pub fn names(&self) -> Vec<Arc<str>> {
        self.lock().tools.keys().cloned().collect()
    }

    /// Counts up with every change.
    pub(super) fn revision(&self) -> u32 {
        self.lock().revision
    }

    /// Loads what is not loaded yet, all of it or nothing; gives what was, and what was unloaded for it. What cannot be seen
    /// now makes room first, and nobody is told of that.
    pub(super) fn load(
        &self,
        wish: Wish<'_>,
        is_seen: impl Fn(&str) -> bool,
    ) -> Result<(Names, Names), Full> {
        let mut kept = self.lock();
        let is_new = |name: &&Arc<str>| !kept.tools.contains_key(*name);
        let new: Vec<Arc<str>> = wish.names.iter().filter(is_new).cloned().collect();
        let wanted = |name: &Arc<str>| wish.names.contains(name);
        let over = |loaded: usize| (loaded + new.len()).saturating_sub(wish.cap);
        let unseen = over(kept.tools.len()) > 0;
        let stays = |name: &Arc<str>| !unseen || is_seen(name);
        let over = over(kept.tools.keys().filter(|name| stays(name)).count());
        if over > 0 && (!wish.evict || wish.names.len() > wish.cap) {
            // All of it or nothing: what cannot be seen now stays, too.
            return Err(Full { more: new.len() });
        }
        kept.tools.retain(|name, _| stays(name));
        let old = kept.tools.keys().filter(|name| !wanted(name)).take(over);
        let gone: Vec<Arc<str>> = old.cloned().collect();
        for name in &gone {
            kept.tools.shift_remove(name);
        }
        for name in wish.names {
            kept.tools.shift_remove(name);
            kept.tools.insert(name.clone(), Loaded { used: wish.now, once: wish.once });
        }
        if !new.is_empty() {
            kept.revision = kept.revision.wrapping_add(1);
        }
        Ok((new, gone))
    }

    /// Unloads; gives what had been loaded.
    pub(super) fn unload(&self, names: &[String]) -> Vec<Arc<str>> {
        let mut kept = self.lock();
        let gone = names.iter();
        let gone = gone.filter_map(|name| Some(kept.tools.shift_remove_entry(name.as_str())?.0));
        let gone: Vec<Arc<str>> = gone.collect();
        if !gone.is_empty() {
            kept.revision = kept.revision.wrapping_add(1);
        }
        gone
    }

    /// A tool is called by its name.
    pub(super) fn call(&self, name: &str, now: Instant) -> Use {
        let mut kept = self.lock();
        let Some((name, loaded)) = kept.tools.shift_remove_entry(name) else { return Use::Not };
        if loaded.once {
            kept.revision = kept.revision.wrapping_add(1);
            return Use::Last;
        }
        kept.tools.insert(name, Loaded { used: now, ..loaded });
        Use::Loaded
    }

    /// A tool is used in another way than by its name.
    pub(super) fn touch(&self, name: &str, now: Instant) {
        let mut kept = self.lock();
        if let Some((name, loaded)) = kept.tools.shift_remove_entry(name) {
            kept.tools.insert(name, Loaded { used: now, ..loaded });
        }
    }

    /// Unloads what was not used for so long; whether there was any.
    pub(super) fn expire(&self, now: Instant, idle: Duration) -> bool {
        let mut kept = self.lock();
        let before = kept.tools.len();
        kept.tools.retain(|_, loaded| now.saturating_duration_since(loaded.used) < idle);
        let any = kept.tools.len() < before;
        if any {
            kept.revision = kept.revision.wrapping_add(1);
        }
        any
    }

    /// Notes whether the client could not be told of a change; gives what was noted before.
    pub(super) fn replace_untold(&self, untold: bool) -> bool {
        std::mem::replace(&mut self.lock().untold, untold)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Session(Loads, Instant);

    impl Session {
        fn new() -> Self {
            Self(Loads::default(), Instant::now())
        }

        fn load(&self, names: &[&str], evict: bool) -> Result<[String; 2], Full> {
            self.load_with(names, evict, |_| true)
        }

        fn load_with(
            &self,
            names: &[&str],
            evict: bool,
            is_seen: impl Fn(&str) -> bool,
        ) -> Result<[String; 2], Full> {
            let names: Vec<Arc<str>> = names.iter().map(|name| (*name).into()).collect();
            let wish = Wish { names: &names, once: false, evict, cap: 3, now: self.1 };
            let (new, gone) = self.0.load(wish, is_seen)?;
            Ok([new.join(" "), gone.join(" ")])
        }

        fn names(&self) -> String {
            self.0.names().join(" ")
        }
    }

    fn changed(new: &str, gone: &str) -> [String; 2] {
        [new.to_owned(), gone.to_owned()]
    }

    #[test]
    fn a_full_session_loads_nothing_unless_something_may_go() {
        let session = Session::new();
        assert_eq!(session.load(&["a", "b"], false), Ok(changed("a b", "")));
        assert_eq!(session.load(&["b", "c"], false), Ok(changed("c", "")));
        let before = session.0.revision();
        assert_eq!(session.load(&["a", "d", "e"], false), Err(Full { more: 2 }));
        assert_eq!((session.names().as_str(), session.0.revision()), ("a b c", before));
        // What is asked for again does not go, although it was used the longest ago.
        assert_eq!(session.load(&["a", "d"], true), Ok(changed("d", "b")));
        assert_eq!(session.names(), "c a d");
        let too_many = session.load(&["c", "e", "f", "g"], true);
        assert_eq!(too_many, Err(Full { more: 3 }), "there never is room for so many");
        assert_eq!(session.load(&["e", "f", "g"], true), Ok(changed("e f g", "c a d")));
    }

    #[test]
    fn calls_count_as_use() {
        let session = Session::new();
        session.load(&["a", "b", "c"], false).unwrap();
        assert_eq!(session.0.call("a", session.1), Use::Loaded);
        assert_eq!(session.0.call("d", session.1), Use::Not);
        assert_eq!(session.load(&["d"], true), Ok(changed("d", "b")));
    }

    #[test]
    fn what_cannot_be_seen_makes_room_first() {
        let session = Session::new();
        session.load(&["a", "b", "c"], false).unwrap();
        let is_seen = |name: &str| name != "b";
        assert_eq!(session.load_with(&["d"], false, is_seen), Ok(changed("d", "")));
        assert_eq!(session.names(), "a c d");
        // Where it does not help, nothing goes.
        let is_seen = |name: &str| name != "c";
        assert_eq!(session.load_with(&["e", "f"], false, is_seen), Err(Full { more: 2 }));
        assert_eq!(session.names(), "a c d");
    }

    #[test]
    fn one_that_is_loaded_for_one_call_goes_with_it() {
        let session = Session::new();
        let names: [Arc<str>; 1] = ["a".into()];
        let wish = Wish { names: &names, once: true, evict: false, cap: 3, now: session.1 };
        session.0.load(wish, |_| true).unwrap();
        let loaded = session.0.revision();
        assert_eq!(session.0.call("a", session.1), Use::Last);
        assert_eq!(session.0.call("a", session.1), Use::Not);
        assert_ne!(session.0.revision(), loaded);
        // Loaded again without that, it stays.
        session.0.load(wish, |_| true).unwrap();
        session.load(&["a"], false).unwrap();
        assert_eq!(session.0.call("a", session.1), Use::Loaded);
    }

    #[test]
    fn what_nobody_uses_expires() {
        let session = Session::new();
        let later = |seconds| session.1 + Duration::from_secs(seconds);
        session.load(&["a", "b"], false).unwrap();
        session.0.call("a", later(5));
        assert!(!session.0.expire(later(9), Duration::from_secs(10)));
        assert!(session.0.expire(later(12), Duration::from_secs(10)));
        assert_eq!(session.names(), "a");
        assert_eq!(session.0.unload(&["b".to_owned(), "a".to_owned()]).len(), 1);
        assert!(!session.0.expire(later(99), Duration::from_secs(10)));
    }
}
