//! Where settings are read from, and read again from.

use std::path::{Path, PathBuf};

use super::desktop::desktop;
use super::environment::Environment;
use super::load::{Flags, load};
use super::problem::Problems;
use super::settings::Settings;

/// A file of one of the two kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A configuration of plugway.
    Configuration(PathBuf),
    /// A file of a desktop client.
    Desktop(PathBuf),
}

impl Source {
    /// Reads and checks it.
    pub fn load(&self, flags: &Flags, environment: &Environment) -> Result<Settings, Problems> {
        match self {
            Self::Configuration(path) => load(path, flags, environment),
            Self::Desktop(path) => desktop(path, flags, environment),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        match self {
            Self::Configuration(path) | Self::Desktop(path) => path,
        }
    }
}
