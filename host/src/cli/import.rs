//! `plugway import`.

use super::arguments::Import;
use super::exit::{Exit, Failure};
use super::print::say;
use crate::config::{self, Environment, SaveError};

/// Makes a configuration and a file of secrets of a desktop file.
pub(super) fn run(command: &Import, environment: &Environment) -> Result<(), Failure> {
    let (output, secrets) = (command.output.as_path(), command.secrets.as_path());
    let imported = config::import(&command.file, (output, secrets), environment)?;
    let mut targets = vec![output];
    targets.extend(imported.secrets.as_ref().map(|_| secrets));
    config::check_targets(&targets, command.force).map_err(|error| refused(&error))?;
    if !imported.warnings.list.is_empty() {
        say(&imported.warnings.as_warnings().to_string());
    }
    if let Some(text) = &imported.secrets {
        config::save(secrets, text.reveal(), command.force).map_err(|error| refused(&error))?;
        let (shown, count) = (secrets.display(), imported.kept_apart);
        say(&format!("wrote {shown}: {count} secrets, for you alone to read"));
    }
    config::save(output, &imported.configuration, command.force)
        .map_err(|error| refused(&error))?;
    let shown = output.display();
    say(&format!("wrote {shown}: {} servers", imported.servers));
    say(&format!("next: `plugway check {shown}`, then `plugway serve {shown}`"));
    Ok(())
}

fn refused(error: &SaveError) -> Failure {
    let hint = match error {
        SaveError::Exists(_) => "name another file, or overwrite it with --force",
        SaveError::NoFile(_) => "name a regular file",
        SaveError::Open(_) => "take the right away (`chmod 600 FILE`), or name another file",
        SaveError::Io { .. } => "name a file in a folder that you may write to",
    };
    Failure::new(Exit::Refused, error, hint)
}
