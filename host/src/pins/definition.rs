//! One thing that a server lists, as far as pinning is concerned.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::canonical::{canonical, json_string};
use super::lock::{Kind, TEXT};
use super::unseen::Unseen;
use crate::catalogue::EntryKind;
use crate::hex::hex;
use crate::protocol::{message, scan};

/// A definition.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) kind: Kind,
    /// The server's own name or URI; empty for instructions.
    pub(super) name: Arc<str>,
    /// Why it cannot be compared, or its digest, its text where that is short enough to be kept, and what nobody sees of it.
    pub(super) read: Result<Read, String>,
}

#[derive(Clone, Debug)]
pub(super) struct Read {
    /// `sha256:` and 64 digits.
    pub(super) digest: Arc<str>,
    pub(super) text: Option<Arc<str>>,
    pub(super) unseen: Unseen,
}

/// The digest of a canonical text.
pub(super) fn digest(canonical: &str) -> Arc<str> {
    format!("sha256:{}", hex(&Sha256::digest(canonical.as_bytes()))).into()
}

impl Definition {
    /// Of an entry of a list; none where it has no name, by which nobody can call it either.
    pub(super) fn of_entry(kind: EntryKind, json: &str) -> Option<Self> {
        let name = json.get(scan::member(json, kind.key())?.range()).and_then(message::string)?;
        let mut unseen = Unseen::default();
        unseen.look_at_name(&name);
        let read = read(json, unseen);
        Some(Self { kind: Kind::Entry(kind), name: name.as_ref().into(), read })
    }

    /// Of a server's instructions.
    pub(super) fn of_instructions(text: &str) -> Self {
        let read = read(&json_string(text), Unseen::default());
        Self { kind: Kind::Instructions, name: "".into(), read }
    }
}

fn read(json: &str, mut unseen: Unseen) -> Result<Read, String> {
    let text = canonical(json, &mut |text| unseen.look(text)).map_err(|error| error.to_string())?;
    let digest = digest(&text);
    Ok(Read { digest, text: (text.len() <= TEXT).then(|| text.into()), unseen })
}
