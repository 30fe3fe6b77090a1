//! `plugway check`.

use super::arguments::Check;
use super::exit::Failure;
use super::print::say;
use super::{application, explain, serve};
use crate::config::Environment;

/// Says what a configuration would run; loads its plugins, but listens nowhere and starts no server unless asked to.
pub(super) fn run(command: &Check, environment: &Environment) -> Result<(), Failure> {
    let Check { serve: command, connect } = command;
    let settings = command.source(environment).load(&(&command.listen).into(), environment)?;
    say(&explain::explain(&settings));
    if !settings.warnings.list.is_empty() {
        say(&settings.warnings.as_warnings().to_string());
    }
    let loaded = serve::runtime()?.block_on(application::check(&settings, *connect))?;
    for line in loaded {
        say(&line);
    }
    say("ok");
    Ok(())
}
