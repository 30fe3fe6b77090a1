//! Puts something else in place of what is found in a text.

use plugway_sdk::glob;

use crate::config::Settings;
use crate::find::{Hit, find};
use crate::json::decode;
use crate::kind::{Counts, Kind};

/// What one pass leaves may be something again: `a@b.c` behind a key is an address only after the key is gone. After so many
/// passes the whole text is replaced.
const PASSES: usize = 8;
/// Longest find that `allow` is compared with; longer ones are not allowed.
const ALLOWED_MAX: usize = 512;

/// The text without what is masked; none where there is nothing in it. `key` is the name under which the whole text stands.
pub fn mask(
    text: &[u8],
    key: Option<&[u8]>,
    settings: &Settings,
    counts: &mut Counts,
) -> Option<Vec<u8>> {
    let mut hits = found(text, key, settings);
    if hits.is_empty() {
        return within(text, key, settings, counts);
    }
    let mut masked = replaced(text, &hits, settings, counts);
    for _ in 1..PASSES {
        hits = found(&masked, key, settings);
        if hits.is_empty() {
            return Some(masked);
        }
        masked = replaced(&masked, &hits, settings, counts);
    }
    if let Some(hit) = found(&masked, key, settings).first() {
        masked = settings.replacement(hit.kind).into_bytes();
    }
    Some(masked)
}

/// What stands in the place of a text that holds JSON, or the text of a program, in whose escapes something is hidden: all of it
/// is replaced, since nothing says how it is to be escaped anew.
fn within(
    text: &[u8],
    key: Option<&[u8]>,
    settings: &Settings,
    counts: &mut Counts,
) -> Option<Vec<u8>> {
    let escapes = [b"\\u00".as_slice(), b"\\/"];
    if !escapes.iter().any(|escape| memchr::memmem::find(text, escape).is_some()) {
        return None;
    }
    let read = decode(text);
    let hit = *found(&read, key, settings).first()?;
    counts.add(hit.kind);
    Some(settings.replacement(hit.kind).into_bytes())
}

/// What stands in the place of a number of a card that is no string.
pub(crate) fn number(digits: &[u8], settings: &Settings, counts: &mut Counts) -> Option<String> {
    let is_found = settings.kinds.has(Kind::Card)
        && crate::find::is_card(digits)
        && !is_allowed(digits, Kind::Card, settings);
    is_found.then(|| {
        counts.add(Kind::Card);
        settings.replacement(Kind::Card)
    })
}

fn found(text: &[u8], key: Option<&[u8]>, settings: &Settings) -> Vec<Hit> {
    let mut hits = find(text, key, settings.kinds);
    if !settings.allow.is_empty() {
        hits.retain(|hit| {
            !is_allowed(text.get(hit.start..hit.end).unwrap_or_default(), hit.kind, settings)
        });
    }
    hits
}

fn replaced(text: &[u8], hits: &[Hit], settings: &Settings, counts: &mut Counts) -> Vec<u8> {
    let mut masked = Vec::with_capacity(text.len());
    let mut at = 0;
    for hit in hits {
        counts.add(hit.kind);
        masked.extend_from_slice(text.get(at..hit.start).unwrap_or_default());
        masked.extend_from_slice(settings.replacement(hit.kind).as_bytes());
        at = hit.end;
    }
    masked.extend_from_slice(text.get(at..).unwrap_or_default());
    masked
}

/// Whether the operator lets it pass. Numbers are compared without what stands between their groups, too, and addresses
/// without regard to case.
fn is_allowed(found: &[u8], kind: Kind, settings: &Settings) -> bool {
    if found.len() > ALLOWED_MAX || settings.allow.is_empty() {
        return false;
    }
    let text = String::from_utf8_lossy(found);
    let other = match kind {
        Kind::Email => text.to_ascii_lowercase(),
        Kind::Card | Kind::Iban | Kind::Phone => {
            text.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '+').collect()
        }
        _ => String::new(),
    };
    settings.allow.iter().any(|glob| {
        glob::matches(glob, &text) || (!other.is_empty() && glob::matches(glob, &other))
    })
}
