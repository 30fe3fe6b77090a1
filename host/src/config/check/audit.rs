//! The audit.

use super::findings::Findings;
use super::limits::Bounds;
use super::secret::{self, Literal};
use super::whole::Origin;
use crate::config::file::{ArgumentsWord, AuditUse, EveryWord, File};
use crate::config::key::KeyPath;
use crate::config::secret::Secret;
use crate::config::settings::{AuditRotation, AuditSettings};

/// Largest size of a file that is not put aside yet, where nobody says.
const SIZE: usize = 100 << 20;
/// Files that are kept, where nobody says.
const KEEP: u32 = 10;
/// Most files that are kept.
const MOST: u32 = 1_000;
/// Bytes of the shortest key.
const KEY: usize = 16;

/// The audit, where there is to be one.
pub(super) fn check(
    file: &File,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<AuditSettings> {
    let Some(AuditUse::On(written)) = &file.audit else { return None };
    let key = KeyPath::top().key("audit");
    let path = match written.file.as_deref() {
        Some("") => {
            findings.problem(&key.key("file"), "is empty", "name the file");
            None
        }
        path => path.map(|path| origin.base.join(path)),
    };
    let stdout = written.stdout.unwrap_or(false);
    if written.file.is_none() && !stdout {
        let hint = "write `file: audit.jsonl`, or `stdout: true`, or `audit: off`";
        findings.problem(&key, "has neither `file` nor `stdout`", hint);
    }
    let rotate = written.rotate.unwrap_or_default();
    if written.rotate.is_some() && written.file.is_none() {
        let sentence = "means nothing without `file`";
        findings.warning(&key.key("rotate"), sentence, "take it out");
    }
    let mut bounds = Bounds { key: &key.key("rotate"), findings };
    let size = bounds.size("size", rotate.size, SIZE);
    let keep = rotate.keep.unwrap_or(KEEP);
    bounds.within("keep", (1..=MOST).contains(&keep), "from 1 to 1000");
    let rotation =
        AuditRotation { size: size as u64, keep, daily: rotate.every == Some(EveryWord::Day) };
    let digest_key = written.digest_key.as_ref().and_then(|text| {
        let key = key.key("digest_key");
        let secret = secret::check(text, Literal::Warned, &key, origin, findings)?;
        long_enough(secret, &key, findings)
    });
    Some(AuditSettings {
        file: path,
        stdout,
        rotation,
        required: written.required.unwrap_or(false),
        arguments: written.arguments == Some(ArgumentsWord::Redacted),
        chain: written.chain.unwrap_or(false),
        digest_key,
    })
}

fn long_enough(secret: Secret, key: &KeyPath, findings: &mut Findings) -> Option<Secret> {
    if secret.reveal().len() < KEY {
        let sentence = format!("is shorter than {KEY} bytes");
        findings.problem(key, sentence, "make one: `openssl rand -hex 32`");
        return None;
    }
    Some(secret)
}
