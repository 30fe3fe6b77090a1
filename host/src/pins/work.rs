//! What operators do with pins: see them, compare them, approve them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::difference::unified;
use super::lock::{FIRST_SIGHT, Key, KeyText, Lock, Version, Waiting};
use super::pretty::{pretty, visible};
use crate::glyph::is_unseen;
use crate::pipeline::moment;

/// Which definitions are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// All that wait.
    All,
    /// Those of an upstream, `CONNECTOR/UPSTREAM` or its name alone.
    Upstream(String),
    /// Those of a connector.
    Connector(String),
    /// Those of one thing; with a digest only that one, of which the beginning is enough.
    Key(KeyText, Option<String>),
}

impl Chosen {
    fn means(&self, key: &Key) -> bool {
        match self {
            Self::All => true,
            Self::Connector(name) => *key.connector == **name,
            Self::Upstream(name) => {
                *key.upstream == **name || format!("{}/{}", key.connector, key.upstream) == **name
            }
            Self::Key(text, _) => text.means(key),
        }
    }

    fn means_version(&self, digest: &str) -> bool {
        let Self::Key(_, Some(wanted)) = self else { return true };
        let wanted = wanted.strip_prefix("sha256:").unwrap_or(wanted);
        !wanted.is_empty()
            && digest.strip_prefix("sha256:").is_some_and(|digits| digits.starts_with(wanted))
    }
}

/// A definition that was approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approved {
    /// Which.
    pub key: Key,
    /// The digest that counted before; none where nothing did.
    pub before: Option<Arc<str>>,
    /// The digest that counts from now on.
    pub digest: Arc<str>,
}

/// A definition that waits and is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// Which.
    pub key: Key,
    /// Its digest.
    pub digest: Arc<str>,
    /// Why it waits.
    pub why: String,
}

/// What waits and is meant; refused, with a sentence, where the beginning of a digest means several.
pub fn meant(lock: &Lock, chosen: &Chosen) -> Result<Vec<Meant>, String> {
    let all: Vec<Meant> = waiting(lock, chosen)
        .map(|(key, one)| Meant {
            key: key.clone(),
            digest: one.digest.clone(),
            why: format!("{}{}", one.why, beside(one)),
        })
        .collect();
    if matches!(chosen, Chosen::Key(_, Some(_))) && all.len() > 1 {
        return Err(format!(
            "{} definitions wait whose digests begin so: give the whole digest",
            all.len()
        ));
    }
    Ok(all)
}

fn waiting<'a>(lock: &'a Lock, chosen: &'a Chosen) -> impl Iterator<Item = (&'a Key, &'a Waiting)> {
    let things = lock.waiting.iter().filter(|(key, _)| chosen.means(key));
    let all = things.flat_map(|(key, all)| all.iter().map(move |one| (key, one)));
    all.filter(|(_, one)| chosen.means_version(&one.digest))
}

/// Approves what waits, in the name of somebody; says what that was. Refused as [`meant`] is.
pub fn approve(lock: &mut Lock, chosen: &Chosen, who: &str) -> Result<Vec<Approved>, String> {
    meant(lock, chosen)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now: Arc<str> = moment::rfc3339(since).into();
    let meant: Vec<(Key, Waiting)> =
        waiting(lock, chosen).map(|(key, one)| (key.clone(), one.clone())).collect();
    let approved = meant.into_iter().map(|(key, one)| {
        let before = lock.newest(&key).map(|version| version.digest.clone());
        let Waiting { digest, text, first_seen, .. } = one;
        let version = Version {
            digest: digest.clone(),
            text,
            first_seen,
            approved_by: who.into(),
            approved_at: now.clone(),
            unheard: true,
        };
        lock.pin(key.clone(), version);
        Approved { key, before, digest }
    });
    Ok(approved.collect())
}

/// Whether this can stand for who approves something; else one sentence why not.
pub fn is_somebody(who: &str) -> Result<(), String> {
    if who.trim().is_empty() {
        return Err("nobody is named".to_owned());
    }
    if who.chars().any(is_unseen) || who.chars().any(char::is_control) {
        return Err("it has characters that nobody can see".to_owned());
    }
    let words: Vec<String> = who.split_whitespace().map(str::to_lowercase).collect();
    if words.join(" ") == FIRST_SIGHT {
        return Err(format!("\"{FIRST_SIGHT}\" stands for what nobody approved"));
    }
    Ok(())
}

/// A line for each definition: first what waits, then, unless only that is wanted, what counts.
pub fn list(lock: &Lock, chosen: &Chosen, only_waiting: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    for (key, all) in lock.waiting.iter().filter(|(key, _)| chosen.means(key)) {
        for one in all {
            let (digest, seen) = (short(&one.digest), visible(&one.first_seen));
            let to = if one.everybodys { "" } else { ", shown to some only" };
            writeln!(out, "waits     {key} {digest} since {seen}: {}{to}{}", one.why, beside(one))
                .unwrap_or_default();
        }
    }
    if only_waiting {
        return out;
    }
    for (key, all) in lock.pins.iter().filter(|(key, _)| chosen.means(key)) {
        for one in all {
            let Version { digest, approved_by, approved_at, .. } = one;
            let (digest, approved_by) = (short(digest), visible(approved_by));
            let approved_at = visible(approved_at);
            writeln!(out, "approved  {key} {digest} by {approved_by} at {approved_at}")
                .unwrap_or_default();
        }
    }
    out
}

/// Characters that nobody sees, where they are not why it waits.
fn beside(one: &Waiting) -> String {
    match &one.why {
        super::lock::Why::Unseen(_) => String::new(),
        _ if one.unseen.is_empty() => String::new(),
        _ => format!("; characters that cannot be seen: {}", visible(&one.unseen.join(" "))),
    }
}

/// For each definition that waits, how it differs from the one that was approved last, and the command line that approves that
/// one. `file` is what that says of the file, in words of a shell.
pub fn differences(lock: &Lock, chosen: &Chosen, file: &str) -> String {
    let mut out = String::new();
    for (key, all) in lock.waiting.iter().filter(|(key, _)| chosen.means(key)) {
        for one in all.iter().filter(|one| chosen.means_version(&one.digest)) {
            let newest = lock.newest(key);
            let was = newest.map_or_else(
                || "(nothing is approved)".to_owned(),
                |version| {
                    let Version { digest, approved_by, approved_at, .. } = version;
                    let (approved_by, approved_at) = (visible(approved_by), visible(approved_at));
                    format!("{digest} approved by {approved_by} at {approved_at}")
                },
            );
            let Waiting { digest, first_seen, why, .. } = one;
            let first_seen = visible(first_seen);
            writeln!(
                out,
                "{key}: {why}{}\n--- {was}\n+++ {digest} seen at {first_seen}",
                beside(one)
            )
            .unwrap_or_default();
            let before = newest.map_or(Some(""), |version| version.text.as_deref());
            match (before, one.text.as_deref()) {
                (Some(before), Some(after)) => {
                    out.push_str(&unified(&pretty(before), &pretty(after)));
                }
                _ => out.push_str("(too long to be kept: there are the digests alone)\n"),
            }
            let key = quoted(&key.to_string());
            writeln!(out, "$ plugway pins approve {key} --digest {digest}{file} --by WHO\n")
                .unwrap_or_default();
        }
    }
    out
}

/// A word of a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:@,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// As much of a digest as tells it from others.
fn short(digest: &str) -> &str {
    digest.get(.."sha256:".len() + 12).unwrap_or(digest)
}
