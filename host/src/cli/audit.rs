//! `plugway audit verify`.

use super::arguments::{Audit, AuditCommand};
use super::exit::{Exit, Failure};
use super::print::say;
use crate::audit::{Verified, verify};
use crate::config::{Environment, Problems, Secret, secret};
use crate::hex::hex;

/// Looks at files of the audit.
pub(super) fn run(command: &Audit, environment: &Environment) -> Result<(), Failure> {
    let AuditCommand::Verify(command) = &command.command;
    let key = command.key.as_deref().map(|text| secret(text, environment));
    let key = key.transpose().map_err(|problem| Failure::from(Problems::one(problem)))?;
    let key = key.as_ref().map(Secret::reveal).map(str::as_bytes);
    let verified = verify(&command.files, key, command.last).map_err(|broken| {
        let hint =
            "compare the file with a copy of it; what stands before that line is as it was written";
        Failure::new(Exit::Refused, broken, hint)
    })?;
    say(&shown(verified));
    if command.closed && !verified.closed {
        let sentence = "the last line does not say that plugway ended";
        let hint = "leave --closed out where plugway still runs";
        return Err(Failure::new(Exit::Refused, sentence, hint));
    }
    Ok(())
}

fn shown(verified: Verified) -> String {
    let Verified { lines, first, last, hash, closed, broken_off } = verified;
    if lines == 0 {
        return "no lines".to_owned();
    }
    let mut text = format!("ok: {lines} lines, number {first} to {last}, as they were written");
    if first > 1 {
        text += "; those before them are not here";
    }
    if broken_off > 0 {
        text += "; plugway began ";
        text += &broken_off.to_string();
        text += " times without having ended in order";
    }
    text += if closed {
        "; closed"
    } else {
        "; not closed: plugway still runs, broke off, or lines were taken away at the end"
    };
    [&*text, "; last ", &*last.to_string(), ":", &*hex(&hash)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_one_sentence() {
        let all =
            Verified { lines: 3, first: 1, last: 3, hash: [1; 32], closed: true, broken_off: 0 };
        let hash = "01".repeat(32);
        let part = Verified { first: 8, last: 10, closed: false, broken_off: 1, ..all };
        for (verified, expected) in [
            (Verified::default(), "no lines"),
            (
                all,
                &*format!(
                    "ok: 3 lines, number 1 to 3, as they were written; closed; last 3:{hash}"
                ),
            ),
            (
                part,
                &*format!(
                    "ok: 3 lines, number 8 to 10, as they were written; those before them are not here; \
                 plugway began 1 times without having ended in order; not closed: plugway still runs, \
                 broke off, or lines were taken away at the end; last 10:{hash}"
                ),
            ),
        ] {
            assert_eq!(shown(verified), expected);
        }
    }
}
