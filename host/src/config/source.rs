//! Where settings are read from, and read again from.

use std::path::PathBuf;

use super::agora::{environment as of_environment, speaks};
use super::desktop::desktop;
use super::environment::Environment;
use super::load::{Flags, load};
use super::problem::{Problem, Problems};
use super::settings::Settings;

/// The configuration that is read where nobody names one.
const USUAL: &str = "plugway.yaml";

/// A file of one of the two kinds, or the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A configuration of plugway, or of a form that it takes for one.
    Configuration(PathBuf),
    /// `plugway.yaml` in the working directory, since nobody named a file.
    Usual,
    /// A file of a desktop client.
    Desktop(PathBuf),
    /// The environment alone, as agora-workbench reads it.
    Environment,
}

impl Source {
    /// Reads and checks it.
    pub fn load(&self, flags: &Flags, environment: &Environment) -> Result<Settings, Problems> {
        match self {
            Self::Configuration(path) => load(path, flags, environment),
            Self::Usual => {
                let mut settings = load(USUAL.as_ref(), flags, environment)?;
                settings.warnings.list.extend(speaks(environment).then(unheard));
                Ok(settings)
            }
            Self::Desktop(path) => desktop(path, flags, environment),
            Self::Environment => of_environment(flags, environment),
        }
    }

    /// What is read where nobody named a file: `plugway.yaml` if it is there, else the environment if that describes a
    /// connector, else `plugway.yaml`, whose absence is the problem then.
    pub fn unnamed(environment: &Environment) -> Self {
        let is_there = PathBuf::from(USUAL).exists();
        if !is_there && speaks(environment) { Self::Environment } else { Self::Usual }
    }
}

/// Two descriptions of a connector, of which one counts.
fn unheard() -> Problem {
    Problem::general("is served, although the environment describes a connector, too")
        .hint("unset UPSTREAM_<NAME>_URL and the like, or start plugway in another directory")
}
