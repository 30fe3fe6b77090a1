//! The text of `plugway.lock`: JSON, sorted, a line for each member, so that two versions of it can be compared. A definition
//! stands in it as it is, and a digest that is not its own makes the file broken.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::canonical::canonical;
use super::definition::digest;
use super::lock::{Key, Kind, Lock, THINGS, VERSIONS, Version, WAITING, Waiting, Why};
use super::pretty::pretty;

/// The form of the file.
const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Head {
    version: u32,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    version: u32,
    pins: Vec<Pinned>,
    waiting: Vec<Waits>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Named {
    connector: Arc<str>,
    upstream: Arc<str>,
    kind: String,
    name: Arc<str>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Pinned {
    of: Named,
    approved: Vec<Counts>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    digest: Arc<str>,
    first_seen: Arc<str>,
    approved_by: Arc<str>,
    approved_at: Arc<str>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unheard: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    definition: Option<Box<RawValue>>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Waits {
    of: Named,
    definitions: Vec<One>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct One {
    digest: Arc<str>,
    first_seen: Arc<str>,
    why: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unseen_characters: Vec<String>,
    everybodys: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    definition: Option<Box<RawValue>>,
}

impl Lock {
    /// Its text.
    pub(super) fn write(&self) -> Result<String, serde_json::Error> {
        let pins = self.pins.iter().map(|(key, all)| {
            let approved = all.iter().map(|one| {
                Ok(Counts {
                    digest: one.digest.clone(),
                    first_seen: one.first_seen.clone(),
                    approved_by: one.approved_by.clone(),
                    approved_at: one.approved_at.clone(),
                    unheard: one.unheard,
                    definition: raw(one.text.as_ref())?,
                })
            });
            Ok(Pinned { of: named(key), approved: approved.collect::<Result<_, _>>()? })
        });
        let waiting = self.waiting.iter().map(|(key, all)| {
            let definitions = all.iter().map(|one| {
                Ok(One {
                    digest: one.digest.clone(),
                    first_seen: one.first_seen.clone(),
                    why: one.why.as_str().to_owned(),
                    unseen_characters: one.unseen.clone(),
                    everybodys: one.everybodys,
                    definition: raw(one.text.as_ref())?,
                })
            });
            Ok(Waits { of: named(key), definitions: definitions.collect::<Result<_, _>>()? })
        });
        let (pins, waiting) = (
            pins.collect::<Result<_, serde_json::Error>>()?,
            waiting.collect::<Result<_, serde_json::Error>>()?,
        );
        let text = serde_json::to_string(&Whole { version: VERSION, pins, waiting })?;
        Ok(pretty(&text) + "\n")
    }

    /// Reads it; else one sentence what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let head: Head =
            serde_json::from_str(text).map_err(|error| format!("it is broken: {error}"))?;
        if head.version != VERSION {
            return Err(format!(
                "it has the form {}, of which this plugway knows nothing",
                head.version
            ));
        }
        let whole: Whole =
            serde_json::from_str(text).map_err(|error| format!("it is broken: {error}"))?;
        if whole.pins.len() + whole.waiting.len() > 2 * THINGS {
            return Err(format!("it knows more than {THINGS} things"));
        }
        let mut lock = Self::default();
        for Pinned { of, approved } in whole.pins {
            let key = key(of)?;
            let all = approved.into_iter().map(|one| {
                let text = checked(&key, &one.digest, one.definition.as_deref())?;
                let Counts { digest, first_seen, approved_by, approved_at, unheard, .. } = one;
                Ok(Version { digest, text, first_seen, approved_by, approved_at, unheard })
            });
            let all = all.collect::<Result<Vec<_>, String>>()?;
            enter(&mut lock.pins, key, all, VERSIONS)?;
        }
        for Waits { of, definitions } in whole.waiting {
            let key = key(of)?;
            let all = definitions.into_iter().map(|one| waits(&key, one));
            let all = all.collect::<Result<Vec<_>, String>>()?;
            enter(&mut lock.waiting, key, all, WAITING)?;
        }
        Ok(lock)
    }
}

fn waits(key: &Key, one: One) -> Result<Waiting, String> {
    let text = checked(key, &one.digest, one.definition.as_deref())?;
    let One { digest, first_seen, why, unseen_characters: unseen, everybodys, .. } = one;
    let why = match why.as_str() {
        "changed" => Why::Changed,
        "new" => Why::New,
        "unseen-characters" => Why::Unseen(unseen.clone()),
        other => return Err(format!("of {key} it says {other:?}, which means nothing")),
    };
    Ok(Waiting { digest, text, first_seen, why, unseen, everybodys })
}

fn enter<T>(
    into: &mut BTreeMap<Key, Vec<T>>,
    key: Key,
    all: Vec<T>,
    most: usize,
) -> Result<(), String> {
    if all.is_empty() || all.len() > most {
        return Err(format!("of {key} it has no definition, or more than {most}"));
    }
    let shown = key.to_string();
    if into.insert(key, all).is_some() {
        return Err(format!("{shown} stands in it twice"));
    }
    Ok(())
}

fn raw(text: Option<&Arc<str>>) -> Result<Option<Box<RawValue>>, serde_json::Error> {
    text.map(|text| RawValue::from_string(text.to_string())).transpose()
}

fn named(key: &Key) -> Named {
    Named {
        connector: key.connector.clone(),
        upstream: key.upstream.clone(),
        kind: key.kind.as_str().to_owned(),
        name: key.name.clone(),
    }
}

fn key(Named { connector, upstream, kind, name }: Named) -> Result<Key, String> {
    let kind = Kind::parse(&kind).ok_or_else(|| format!("it has the unknown kind {kind:?}"))?;
    Ok(Key { connector, upstream, kind, name })
}

/// The canonical text of a definition, which has to have this digest.
fn checked(
    key: &Key,
    given: &str,
    definition: Option<&RawValue>,
) -> Result<Option<Arc<str>>, String> {
    let digits = given.strip_prefix("sha256:").unwrap_or_default();
    let fits =
        digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !fits {
        return Err(format!("of {key} it has a digest that is none"));
    }
    let Some(definition) = definition else { return Ok(None) };
    let text = canonical(definition.get(), &mut |_| {})
        .map_err(|error| format!("the definition of {key} cannot be read: {error}"))?;
    if *digest(&text) != *given {
        return Err(format!("the definition of {key} is not the one of its digest"));
    }
    Ok(Some(text.into()))
}
