//! What is kept of definitions: which were seen first or approved, and which wait for approval.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::pretty::visible;
use crate::catalogue::EntryKind;

/// Bytes of the text of a definition that is kept to be shown; of a longer one the digest alone is.
pub(super) const TEXT: usize = 64 * 1024;
/// Things that one file knows, approved or not.
pub(super) const THINGS: usize = 20_000;
/// Things of one upstream that it knows: no server takes the room of the others.
pub(super) const OF_ONE: usize = 4_000;
/// Approved definitions of one thing: a server may show some clients another one. The oldest makes room.
pub(super) const VERSIONS: usize = 8;
/// Definitions of one thing that wait for approval. The oldest makes room.
pub(super) const WAITING: usize = 4;

/// What is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An entry of a list.
    Entry(EntryKind),
    /// The server's instructions.
    Instructions,
}

impl Kind {
    /// Every kind.
    const ALL: [Self; 5] = [
        Self::Entry(EntryKind::Tool),
        Self::Entry(EntryKind::Prompt),
        Self::Entry(EntryKind::Resource),
        Self::Entry(EntryKind::Template),
        Self::Instructions,
    ];

    /// The word in the file and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Entry(kind) => kind.as_str(),
            Self::Instructions => "instructions",
        }
    }

    /// The kind that a word names.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Which definition: `CONNECTOR/UPSTREAM/KIND/NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The connector.
    pub connector: Arc<str>,
    /// The upstream.
    pub upstream: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// The server's own name or URI; empty for instructions.
    pub name: Arc<str>,
}

impl fmt::Display for Key {
    /// With escapes for what cannot be seen, so that no two look the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (connector, upstream) = (visible(&self.connector), visible(&self.upstream));
        write!(f, "{connector}/{upstream}/{}", self.kind.as_str())?;
        if self.kind == Kind::Instructions {
            return Ok(());
        }
        write!(f, "/{}", visible(&self.name))
    }
}

/// A key as somebody writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyText(String);

impl KeyText {
    /// A key has three or four parts; the last one may have slashes in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.splitn(4, '/').collect();
        let kind = parts.get(2).and_then(|word| Kind::parse(word));
        match (kind, parts.len()) {
            (Some(Kind::Instructions), 3) | (Some(Kind::Entry(_)), 4) => Ok(Self(text.to_owned())),
            _ => Err("a key is CONNECTOR/UPSTREAM/KIND/NAME, KIND one of tool, prompt, resource, template, or \
                      CONNECTOR/UPSTREAM/instructions"
                .to_owned()),
        }
    }

    /// Whether it means this key: as it is shown, or, where that has no escapes, as it is. So it means one key at most.
    pub(super) fn means(&self, key: &Key) -> bool {
        let plain =
            || format!("{}/{}/{}/{}", key.connector, key.upstream, key.kind.as_str(), key.name);
        self.0 == key.to_string() || (!self.0.contains('\\') && self.0 == plain())
    }
}

/// A definition that may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    /// `sha256:` and 64 digits.
    pub(super) digest: Arc<str>,
    /// Its canonical text; none where that is too long.
    pub(super) text: Option<Arc<str>>,
    /// When it was seen first (RFC 3339).
    pub(super) first_seen: Arc<str>,
    /// Who approved it; [`FIRST_SIGHT`] where nobody had to.
    pub(super) approved_by: Arc<str>,
    /// When.
    pub(super) approved_at: Arc<str>,
    /// Whether it is not in the audit of any plugway yet.
    pub(super) unheard: bool,
}

/// Stands in the place of a person where the first definition of a thing was taken as it was.
pub(super) const FIRST_SIGHT: &str = "first sight";

/// Why a definition is not approved by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Another one of the same name was.
    Changed,
    /// Nothing was, and nothing is without a person.
    New,
    /// It has characters that nobody sees, as `U+202E`.
    Unseen(Vec<String>),
}

impl Why {
    /// The word in the file.
    pub(super) fn as_str(&self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::New => "new",
            Self::Unseen(_) => "unseen-characters",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("changed"),
            Self::New => f.write_str("new"),
            Self::Unseen(characters) => {
                write!(f, "characters that cannot be seen: {}", visible(&characters.join(" ")))
            }
        }
    }
}

/// A definition that waits for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// `sha256:` and 64 digits.
    pub(super) digest: Arc<str>,
    /// Its canonical text; none where that is too long.
    pub(super) text: Option<Arc<str>>,
    /// When it was seen first (RFC 3339).
    pub(super) first_seen: Arc<str>,
    pub(super) why: Why,
    /// Characters in it that nobody sees, whatever else it waits for.
    pub(super) unseen: Vec<String>,
    /// Whether the server shows it to everybody; else to some clients or callers.
    pub(super) everybodys: bool,
}

/// The whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// Approved definitions of each thing, the newest last; never none.
    pub(super) pins: BTreeMap<Key, Vec<Version>>,
    /// Definitions that wait, the newest last; never none.
    pub(super) waiting: BTreeMap<Key, Vec<Waiting>>,
}

/// A change of the file.
#[derive(Clone, Debug)]
pub(super) enum Record {
    /// This counts from now on.
    Pin(Key, Version),
    /// This waits.
    Wait(Key, Waiting),
    /// These wait no more.
    Settle(BTreeSet<Item>),
    /// That these were approved is in the audit.
    Heard(BTreeSet<Item>),
}

/// A definition: of what, and its digest.
pub(super) type Item = (Key, Arc<str>);

impl Lock {
    /// Whether it has room for one more thing of the upstream of this key, which it does not know.
    pub(super) fn has_room(&self, key: &Key) -> bool {
        self.room(key) > 0
    }

    /// Whether it knows the thing, approved or not.
    pub(super) fn knows(&self, key: &Key) -> bool {
        self.pins.contains_key(key) || self.waiting.contains_key(key)
    }

    /// For how many more things of the upstream of this key there is room.
    fn room(&self, key: &Key) -> usize {
        let all = THINGS.saturating_sub(self.pins.len() + self.waiting.len());
        if all == 0 {
            return 0;
        }
        let own = |one: &&Key| one.connector == key.connector && one.upstream == key.upstream;
        let first = Key { kind: FIRST_KIND, name: "".into(), ..key.clone() };
        let pins = self.pins.range(&first..).map(|(key, _)| key).take_while(own).count();
        let waiting = self.waiting.range(&first..).map(|(key, _)| key).take_while(own).count();
        all.min(OF_ONE.saturating_sub(pins + waiting))
    }

    /// Whether this definition counts.
    pub(super) fn is_approved(&self, key: &Key, digest: &str) -> bool {
        self.pins.get(key).is_some_and(|all| all.iter().any(|one| *one.digest == *digest))
    }

    /// The newest one that counts.
    pub(super) fn newest(&self, key: &Key) -> Option<&Version> {
        self.pins.get(key)?.last()
    }

    /// Whether this definition waits already.
    pub(super) fn waits(&self, key: &Key, digest: &str) -> Option<&Waiting> {
        self.waiting.get(key)?.iter().find(|one| *one.digest == *digest)
    }

    /// Makes a change; what has no room is left out.
    #[cfg(test)]
    pub(super) fn apply(&mut self, record: Record) {
        self.apply_all(vec![record]);
    }

    /// Makes changes; what has no room is left out.
    pub(super) fn apply_all(&mut self, records: Vec<Record>) {
        // Counting is for each upstream once, and again where something makes room.
        let mut rooms: BTreeMap<(Arc<str>, Arc<str>), usize> = BTreeMap::new();
        for record in records {
            if let Record::Pin(key, _) | Record::Wait(key, _) = &record
                && !self.knows(key)
            {
                let upstream = (key.connector.clone(), key.upstream.clone());
                let room = rooms.entry(upstream).or_insert_with(|| self.room(key));
                if *room == 0 {
                    continue;
                }
                *room -= 1;
            }
            match record {
                // What another process saw first counts, and no second thing beside it.
                Record::Pin(key, version)
                    if *version.approved_by == *FIRST_SIGHT && self.pins.contains_key(&key) => {}
                Record::Pin(key, version) => self.pin(key, version),
                Record::Wait(key, waiting) => self.wait(key, waiting),
                Record::Settle(gone) => {
                    rooms.clear();
                    self.settle(&gone);
                }
                Record::Heard(heard) => {
                    for (key, digest) in heard {
                        let all = self.pins.get_mut(&key).into_iter().flatten();
                        all.filter(|one| one.digest == digest).for_each(|one| one.unheard = false);
                    }
                }
            }
            if self.pins.len() + self.waiting.len() >= THINGS {
                rooms.clear();
            }
        }
    }

    /// Lets a definition count, and wait no more.
    pub(super) fn pin(&mut self, key: Key, version: Version) {
        self.leave(&key, &version.digest);
        if self.is_approved(&key, &version.digest) {
            return;
        }
        let all = self.pins.entry(key).or_default();
        if all.len() >= VERSIONS {
            all.remove(0);
        }
        all.push(version);
    }

    fn settle(&mut self, gone: &BTreeSet<Item>) {
        for (key, digest) in gone {
            self.leave(key, digest);
        }
    }

    /// A definition waits no more.
    fn leave(&mut self, key: &Key, digest: &str) {
        if let Some(all) = self.waiting.get_mut(key) {
            all.retain(|one| *one.digest != *digest);
            if all.is_empty() {
                self.waiting.remove(key);
            }
        }
    }

    fn wait(&mut self, key: Key, waiting: Waiting) {
        // Somebody approved it meanwhile.
        if self.is_approved(&key, &waiting.digest) {
            return;
        }
        let all = self.waiting.entry(key).or_default();
        if let Some(known) = all.iter_mut().find(|one| one.digest == waiting.digest) {
            known.everybodys |= waiting.everybodys;
            return;
        }
        if all.len() >= WAITING {
            all.remove(0);
        }
        all.push(waiting);
    }

    /// What people approved and no audit has yet.
    pub(super) fn unheard(&self) -> BTreeSet<Item> {
        let all = self.pins.iter().flat_map(|(key, all)| all.iter().map(move |one| (key, one)));
        let unheard = all.filter(|(_, one)| one.unheard);
        unheard.map(|(key, one)| (key.clone(), one.digest.clone())).collect()
    }
}

/// The kind that stands before all others in the order of keys.
const FIRST_KIND: Kind = Kind::Entry(EntryKind::Tool);
