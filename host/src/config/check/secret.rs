//! Secrets: read where a reference names them, or taken as they are written.

use super::findings::Findings;
use super::whole::Origin;
use crate::config::file::SecretText;
use crate::config::key::KeyPath;
use crate::config::reference::Reference;
use crate::config::secret::Secret;

/// What is thought of a secret that stands in the configuration itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    /// It may well be no secret at all.
    Fine,
    /// It deserves a warning.
    Warned,
}

/// The secret behind a text, if it can be read.
pub(super) fn check(
    text: &SecretText,
    literal: Literal,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<Secret> {
    let written = text.written();
    let reference = Reference::of(written.reveal()).filter(|_| !text.is_literal());
    let Some(reference) = reference else {
        if written.reveal().is_empty() && literal == Literal::Warned {
            findings.problem(key, "is empty", "write `env://NAME` or `file://PATH`");
            return None;
        }
        if literal == Literal::Warned {
            let hint = "write `env://NAME` or `file://PATH`: a configuration is read by many";
            findings.warning(key, "holds a secret itself", hint);
        }
        return Some(written.clone());
    };
    findings.source(reference.file(origin.base));
    match reference.resolve(origin.base, origin.environment) {
        Ok(resolved) => {
            if let Some(sentence) = resolved.warning {
                findings.warning(key, sentence, "take the right away: `chmod o-r FILE`");
            }
            Some(resolved.secret)
        }
        Err(unresolved) => {
            findings.problem(key, unresolved.sentence, unresolved.hint);
            None
        }
    }
}
