//! `plugway check`.

use super::arguments::Serve;
use super::exit::Failure;
use super::print::say;
use super::{application, explain, serve};
use crate::config::Environment;

/// Says what a configuration would run; loads its plugins, but starts no server and listens nowhere.
pub(super) fn run(command: &Serve, environment: &Environment) -> Result<(), Failure> {
    let settings = command.source(environment).load(&(&command.listen).into(), environment)?;
    say(&explain::explain(&settings));
    if !settings.warnings.list.is_empty() {
        say(&settings.warnings.as_warnings().to_string());
    }
    let loaded = serve::runtime()?.block_on(application::check(&settings))?;
    for line in loaded {
        say(&line);
    }
    say("ok");
    Ok(())
}
