//! `plugway stdio`.

use std::sync::Arc;

use super::application::Rereading;
use super::arguments::Stdio;
use super::exit::Failure;
use super::serve;
use super::signals::{Way, until_signal};
use crate::config::{Environment, Flags, Problem, Problems, Settings, Source};

/// Serves one connector of a configuration to whoever started this process, until they close its standard input.
pub(super) fn run(command: &Stdio, environment: &Environment) -> Result<(), Failure> {
    let source = command.source(environment);
    let settings = load(command, &source, environment)?;
    serve::announce(&settings);
    let (command, environment) = (command.clone(), environment.clone());
    let again = Arc::new(move || load(&command, &source, &environment));
    let rereading = Rereading { load: again, hangup: Arc::default() };
    let runtime = serve::runtime()?;
    let ended = runtime.block_on(until_signal(settings, Some(rereading), Way::Pipes));
    // A read of standard input may never end.
    runtime.shutdown_background();
    ended
}

/// Reads the configuration, and leaves one connector in it.
fn load(command: &Stdio, source: &Source, environment: &Environment) -> Result<Settings, Problems> {
    // Nothing listens: whatever the file says of a listener means nothing here.
    let flags = Flags { listen: Some("127.0.0.1:0".to_owned()), ..Flags::default() };
    let mut settings = source.load(&flags, environment)?;
    settings.admin = None;
    if settings.audit.as_ref().is_some_and(|audit| audit.stdout) {
        let sentence = "`audit.stdout` cannot be used here: standard output belongs to the client";
        return Err(Problems::one(
            Problem::general(sentence).hint("write `audit: {file: audit.jsonl}`"),
        ));
    }
    choose(&mut settings, command.connector.as_deref())?;
    Ok(settings)
}

/// Keeps the connector of that name, or the only one.
fn choose(settings: &mut Settings, name: Option<&str>) -> Result<(), Problems> {
    let names: Vec<&str> = settings.connectors.iter().map(|one| &*one.name).collect();
    let known = names.join(", ");
    let refuse =
        |sentence: String, hint: String| Err(Problems::one(Problem::general(sentence).hint(hint)));
    match name {
        Some(name) if !names.contains(&name) => {
            refuse(format!("there is no connector `{name}`"), format!("there are: {known}"))
        }
        None if names.len() > 1 => {
            let sentence = "a process serves one connector over standard input and output";
            refuse(sentence.to_owned(), format!("name one with --connector: {known}"))
        }
        Some(name) => {
            settings.connectors.retain(|connector| *connector.name == *name);
            Ok(())
        }
        None => Ok(()),
    }
}
