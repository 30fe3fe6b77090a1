//! Which link leads where. A link's token is not kept: only its digest is, by which it is found.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::pipeline::caller::Caller;
use crate::pipeline::seal::Sealer;

/// Links of one caller; for one more the oldest is forgotten.
const OF_CALLER: usize = 256;
/// The same of all who are nobody in particular in the modern era: they are one caller.
const OF_ANYBODY: usize = 4_096;
/// Links of a connector; for one more whoever has most of them loses the oldest.
const ALL: usize = 8_192;
/// Files of one caller that are fetched at once: browsers open six connections to a host.
const AT_ONCE_OF_CALLER: usize = 8;
/// The same of all who are nobody in particular in the modern era: half of all, so that who is somebody is served.
const AT_ONCE_OF_ANYBODY: usize = 32;
/// Files of a connector that are fetched at once.
const AT_ONCE: usize = 64;

type Digest = [u8; 32];

/// The links of a connector. They outlive a reload, as sessions do.
#[derive(Debug, Default)]
pub struct Artifacts(Mutex<Table>);

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Who was given the link.
    pub(super) caller: Arc<Caller>,
    /// The server whose file it is.
    pub(super) upstream: Arc<str>,
    /// The origin that the server named.
    pub(super) origin: Arc<str>,
    /// The path there.
    pub(super) path: Arc<str>,
}

impl File {
    /// What the file is about, and nothing else is.
    fn place(&self) -> Digest {
        let mut hash = Sha256::new();
        for part in [&*self.caller.id, &self.upstream, &self.origin, &self.path] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

#[derive(Debug, Default)]
struct Table {
    /// By digest of their tokens.
    links: HashMap<Digest, Link>,
    /// The same by what they lead to.
    places: HashMap<Digest, Digest>,
    /// How many links a caller has.
    counts: HashMap<Arc<str>, usize>,
    /// How many files are being fetched for a caller.
    fetched: HashMap<Arc<str>, usize>,
}

#[derive(Debug)]
struct Link {
    file: File,
    place: Digest,
    /// What makes the token of this link another one than that of an earlier link to the same file.
    chance: Box<str>,
    good_until: Instant,
}

impl Artifacts {
    /// The token of a link to a file: 128 bits that nobody guesses. A file that the caller has a link to already keeps it, so
    /// that the same answer is the same text. None where the system has no randomness.
    pub(super) fn give(
        &self,
        file: File,
        sealer: &Sealer,
        (now, lifetime): (Instant, Duration),
    ) -> Option<String> {
        let place = file.place();
        let mut table = self.lock();
        let known = table.places.get(&place).copied();
        if let Some(digest) = known {
            match table.links.get_mut(&digest).filter(|link| link.good_until > now) {
                Some(link) => {
                    link.good_until = now + lifetime;
                    // The caller's rights may be others than they were.
                    link.file.caller = file.caller;
                    return token(sealer, &link.file, &link.chance);
                }
                None => table.forget(&digest),
            }
        }
        let mut chance = [0; 16];
        getrandom::fill(&mut chance).ok()?;
        let chance: Box<str> = URL_SAFE_NO_PAD.encode(chance).into();
        let token = token(sealer, &file, &chance)?;
        table.make_room(&file.caller, now);
        let digest = Sha256::digest(&token).into();
        *table.counts.entry(file.caller.id.clone()).or_default() += 1;
        table.places.insert(place, digest);
        table.links.insert(digest, Link { file, place, chance, good_until: now + lifetime });
        Some(token)
    }

    /// Where the link with this token leads; none where there is none, or none any more.
    pub(super) fn find(&self, token: &str, now: Instant) -> Option<File> {
        let digest: Digest = Sha256::digest(token).into();
        let mut table = self.lock();
        let link = table.links.get(&digest)?;
        if link.good_until > now {
            return Some(link.file.clone());
        }
        table.forget(&digest);
        None
    }

    /// A place among those for whom files are fetched, until it is dropped.
    pub(super) fn begin(self: &Arc<Self>, caller: &Caller) -> Option<Fetching> {
        let most = if caller.is_anybody() { AT_ONCE_OF_ANYBODY } else { AT_ONCE_OF_CALLER };
        let mut table = self.lock();
        let all: usize = table.fetched.values().sum();
        let own = table.fetched.get(&caller.id).copied().unwrap_or_default();
        if all >= AT_ONCE || own >= most {
            return None;
        }
        table.fetched.insert(caller.id.clone(), own + 1);
        Some(Fetching { artifacts: self.clone(), caller: caller.id.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn token(sealer: &Sealer, file: &File, chance: &str) -> Option<String> {
    let File { caller, upstream, origin, path } = file;
    sealer.tag(&["artifact", &caller.id, upstream, origin, path, chance]).ok()
}

impl Table {
    fn forget(&mut self, digest: &Digest) {
        let Some(link) = self.links.remove(digest) else { return };
        self.places.remove(&link.place);
        let caller = &link.file.caller.id;
        if let Some(count) = self.counts.get_mut(caller) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(caller);
            }
        }
    }

    /// Room for one link more of a caller.
    fn make_room(&mut self, caller: &Caller, now: Instant) {
        let most = if caller.is_anybody() { OF_ANYBODY } else { OF_CALLER };
        let own = self.counts.get(&caller.id).copied().unwrap_or_default();
        if own < most && self.links.len() < ALL {
            return;
        }
        let over: Vec<Digest> = self
            .links
            .iter()
            .filter(|(_, link)| link.good_until <= now)
            .map(|(digest, _)| *digest)
            .collect();
        for digest in &over {
            self.forget(digest);
        }
        if self.counts.get(&caller.id).is_some_and(|count| *count >= most) {
            self.forget_oldest(&caller.id);
        } else if self.links.len() >= ALL
            && let Some((whose, _)) = self.counts.iter().max_by_key(|(_, count)| **count)
        {
            let whose = whose.clone();
            self.forget_oldest(&whose);
        }
    }

    fn forget_oldest(&mut self, caller: &Arc<str>) {
        let own = self.links.iter().filter(|(_, link)| link.file.caller.id == *caller);
        let oldest = own.min_by_key(|(_, link)| link.good_until).map(|(digest, _)| *digest);
        if let Some(digest) = oldest {
            self.forget(&digest);
        }
    }
}

/// A file that is being fetched for a caller.
#[derive(Debug)]
pub(super) struct Fetching {
    artifacts: Arc<Artifacts>,
    caller: Arc<str>,
}

impl Drop for Fetching {
    fn drop(&mut self) {
        let mut table = self.artifacts.lock();
        if let Some(count) = table.fetched.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                table.fetched.remove(&self.caller);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn file(caller: &str, path: &str) -> File {
        File {
            caller: Arc::new(Caller::anonymous(caller)),
            upstream: "up".into(),
            origin: "http://h".into(),
            path: path.into(),
        }
    }

    #[test]
    fn a_link_leads_to_its_file_until_it_ends_and_no_token_is_kept() {
        let (artifacts, sealer, now) = (Artifacts::default(), Sealer::default(), Instant::now());
        let token = artifacts.give(file("ann", "/artifacts/a"), &sealer, (now, HOUR)).unwrap();
        assert!(token.len() >= 22, "{token}: 128 bits");
        assert_eq!(artifacts.find(&token, now), Some(file("ann", "/artifacts/a")));
        assert!(!format!("{artifacts:?}").contains(&token));
        let later = now + HOUR / 2;
        let again = artifacts.give(file("ann", "/artifacts/a"), &sealer, (later, HOUR));
        assert_eq!(again.as_ref(), Some(&token), "the same answer is the same text");
        assert!(artifacts.find(&token, now + HOUR).is_some(), "it was given again");
        let more = Caller { rights: "more".into(), ..Caller::anonymous("ann") };
        let richer = File { caller: Arc::new(more), ..file("ann", "/artifacts/a") };
        let again = artifacts.give(richer.clone(), &sealer, (later, HOUR));
        assert_eq!((again.as_ref(), artifacts.find(&token, now)), (Some(&token), Some(richer)));
        for other in [file("bob", "/artifacts/a"), file("ann", "/artifacts/b")] {
            assert_ne!(artifacts.give(other, &sealer, (now, HOUR)).as_ref(), Some(&token));
        }
        let over = later + HOUR;
        assert_eq!(artifacts.find(&token, over), None);
        let new = artifacts.give(file("ann", "/artifacts/a"), &sealer, (over, HOUR)).unwrap();
        assert_ne!(new, token, "what has ended stays so");
        assert_eq!(artifacts.find(&token, over), None);
        let end = artifacts.give(file("ann", "/artifacts/a"), &sealer, (over + HOUR, HOUR));
        assert_ne!(end, Some(new), "the same where nobody looked");
    }

    #[test]
    fn the_oldest_link_of_a_caller_makes_room_and_nobody_elses() {
        let (artifacts, sealer, now) = (Artifacts::default(), Sealer::default(), Instant::now());
        let give = |caller: &str, number: usize| {
            let at = now + Duration::from_millis(number as u64);
            let file = file(caller, &format!("/artifacts/{number}"));
            artifacts.give(file, &sealer, (at, HOUR)).unwrap()
        };
        let bobs = give("bob", 0);
        let anns: Vec<String> = (1..=OF_CALLER + 1).map(|number| give("ann", number)).collect();
        assert_eq!(artifacts.find(&anns[0], now), None);
        assert!(anns[1..].iter().all(|token| artifacts.find(token, now).is_some()));
        assert!(artifacts.find(&bobs, now).is_some());
        let crowd = ALL - OF_CALLER;
        let others: Vec<String> =
            (0..crowd).map(|number| give(&format!("c{}", number / 16), number)).collect();
        assert_eq!(artifacts.lock().links.len(), ALL);
        assert_eq!(artifacts.find(&anns[1], now), None, "who has most loses the oldest");
        assert!(others.iter().chain([&bobs]).all(|token| artifacts.find(token, now).is_some()));
        let table = artifacts.lock();
        assert_eq!(table.counts.values().sum::<usize>(), table.links.len());
        assert_eq!(table.places.len(), table.links.len());
    }

    #[test]
    fn so_many_files_are_fetched_at_once() {
        let artifacts = Arc::new(Artifacts::default());
        let begin = |caller: usize| artifacts.begin(&Caller::anonymous(caller.to_string()));
        let own: Vec<_> = (0..AT_ONCE_OF_CALLER).map(|_| begin(0).unwrap()).collect();
        assert!(begin(0).is_none());
        let callers = 1..AT_ONCE / AT_ONCE_OF_CALLER;
        let of = |caller| (0..AT_ONCE_OF_CALLER).map(move |_| caller);
        let all: Vec<_> = callers.flat_map(of).map(|caller| begin(caller).unwrap()).collect();
        assert!(begin(999).is_none());
        drop(own);
        assert!(begin(999).is_some() && begin(0).is_some());
        drop(all);
        assert!(artifacts.lock().fetched.is_empty());
    }

    #[test]
    fn who_may_be_many_has_more_and_leaves_room_for_who_is_somebody() {
        let (artifacts, sealer, now) =
            (Arc::new(Artifacts::default()), Sealer::default(), Instant::now());
        let anybody = Caller::anybody();
        let fetching: Vec<_> =
            (0..AT_ONCE_OF_ANYBODY).map(|_| artifacts.begin(&anybody).unwrap()).collect();
        assert!(artifacts.begin(&anybody).is_none());
        let somebody = Caller::anonymous("ann");
        let own: Vec<_> =
            (0..AT_ONCE_OF_CALLER).map(|_| artifacts.begin(&somebody).unwrap()).collect();
        assert!(fetching.len() > own.len() && AT_ONCE_OF_ANYBODY * 2 <= AT_ONCE);
        let give = |caller: &Caller, number: usize| {
            let path = format!("/artifacts/{number}");
            let file = File { caller: Arc::new(caller.clone()), ..file("x", &path) };
            let at = now + Duration::from_millis(number as u64);
            artifacts.give(file, &sealer, (at, HOUR)).unwrap()
        };
        let first = give(&anybody, 0);
        let others: Vec<String> = (1..OF_ANYBODY).map(|number| give(&anybody, number)).collect();
        assert!(artifacts.find(&first, now).is_some(), "one stranger does not use up another's");
        give(&anybody, OF_ANYBODY);
        assert!(artifacts.find(&first, now).is_none());
        assert!(others.iter().all(|token| artifacts.find(token, now).is_some()));
    }
}
