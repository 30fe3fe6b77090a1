//! `plugway pins`.

use super::arguments::{Pins, PinsApprove, PinsFile};
use super::exit::{Exit, Failure};
use super::print::say;
use crate::config::{Environment, Flags, Source};
use crate::pins::{self, Broken, Chosen, KeyText, Lock, LockFile};

/// Shows, compares or approves.
pub(super) fn run(command: &Pins, environment: &Environment) -> Result<(), Failure> {
    match command {
        Pins::List(list) => {
            let lock = read(&list.file, environment)?;
            let chosen = list.connector.clone().map_or(Chosen::All, Chosen::Connector);
            let text = pins::list(&lock, &chosen, list.held);
            let nothing = if list.held { "nothing waits" } else { "nothing is pinned" };
            tell(&text, nothing);
        }
        Pins::Diff(diff) => {
            let lock = read(&diff.file, environment)?;
            let chosen = match &diff.key {
                Some(key) => Chosen::Key(key_of(key)?, None),
                None => Chosen::All,
            };
            let file = words(&diff.file);
            tell(&pins::differences(&lock, &chosen, &file), "nothing waits");
        }
        Pins::Approve(wanted) => approve(wanted, environment)?,
    }
    Ok(())
}

fn tell(text: &str, nothing: &str) {
    say(if text.is_empty() { nothing } else { text.trim_end() });
}

fn approve(wanted: &PinsApprove, environment: &Environment) -> Result<(), Failure> {
    let chosen = match (&wanted.key, &wanted.upstream) {
        (Some(key), _) => Chosen::Key(key_of(key)?, wanted.digest.clone()),
        (None, Some(upstream)) => Chosen::Upstream(upstream.clone()),
        (None, None) => Chosen::All,
    };
    let file = file(&wanted.file, environment)?;
    let nothing = || {
        let hint = "`plugway pins diff` shows what waits now";
        Failure::new(Exit::Refused, "nothing waits that is meant", hint)
    };
    if wanted.key.is_none() && !wanted.yes {
        let lock = file.read().map_err(|error| refused(&error))?.unwrap_or_default();
        let all = pins::meant(&lock, &chosen).map_err(|why| unclear(&why))?;
        if all.is_empty() {
            return Err(nothing());
        }
        for one in all {
            say(&format!("would approve {} {}: {}", one.key, one.digest, one.why));
        }
        let hint = "`plugway pins diff` shows them; with `--yes` they are";
        return Err(Failure::new(Exit::Refused, "nothing was approved", hint));
    }
    let mut why_not = None;
    let changed = file.change(|lock, _| {
        Ok(pins::approve(lock, &chosen, &wanted.by).unwrap_or_else(|why| {
            why_not = Some(why);
            Vec::new()
        }))
    });
    let (_, approved) = changed.map_err(|error| refused(&error))?;
    if let Some(why) = why_not {
        return Err(unclear(&why));
    }
    if approved.is_empty() {
        return Err(nothing());
    }
    for one in approved {
        let before = one.before.as_deref().unwrap_or("none");
        say(&format!("approved {}: {before} -> {}", one.key, one.digest));
    }
    Ok(())
}

fn unclear(why: &str) -> Failure {
    Failure::new(Exit::Refused, why, "`plugway pins diff` shows their digests")
}

/// How a command line says which file is meant.
fn words(file: &PinsFile) -> String {
    let word = |name: &str, path: &std::path::Path| {
        format!(" {name} {}", pins::quoted(&path.display().to_string()))
    };
    let pins_file = file.pins_file.as_deref().map(|path| word("--pins-file", path));
    pins_file.or_else(|| Some(word("--config", file.config.as_deref()?))).unwrap_or_default()
}

fn key_of(text: &str) -> Result<KeyText, Failure> {
    KeyText::parse(text)
        .map_err(|why| Failure::new(Exit::Usage, format!("{text:?} is no key"), &why))
}

fn file(wanted: &PinsFile, environment: &Environment) -> Result<LockFile, Failure> {
    if let Some(path) = &wanted.pins_file {
        return Ok(LockFile::new(path.clone()));
    }
    let source = match &wanted.config {
        Some(path) => Source::Configuration(path.clone()),
        None => Source::unnamed(environment),
    };
    let settings = source.load(&Flags::default(), environment)?;
    Ok(LockFile::new(settings.pins_file))
}

fn read(wanted: &PinsFile, environment: &Environment) -> Result<Lock, Failure> {
    let file = file(wanted, environment)?;
    Ok(file.read().map_err(|error| refused(&error))?.unwrap_or_default())
}

fn refused(error: &Broken) -> Failure {
    let hint = "put the file back as it was; nothing is written over one that cannot be read";
    Failure::new(Exit::Refused, error, hint)
}
