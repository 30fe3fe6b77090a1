//! Everything that is configured.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::access::{Admin, Auth};
use super::audit::AuditSettings;
use super::connector::ConnectorSettings;
use super::listen::Listen;
use super::plugin::PluginSettings;
use crate::config::problem::Problems;

/// Everything that is configured.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The file that was read; none for a configuration from the command line.
    pub file: Option<PathBuf>,
    /// The listener.
    pub listen: Listen,
    /// Who callers are.
    pub auth: Auth,
    /// Administration; none = there is none.
    pub admin: Option<Admin>,
    /// The audit; none = acts of administration and the like stand in the log, and calls nowhere.
    pub audit: Option<AuditSettings>,
    /// Limits of the server.
    pub limits: Limits,
    /// Every plugin that is written down or used, by name.
    pub plugins: Vec<PluginSettings>,
    /// Directory of plugin files.
    pub plugin_dir: Option<PathBuf>,
    /// Directory for compiled plugins; none where nobody said and the user has no home.
    pub cache_dir: Option<PathBuf>,
    /// The file of what was seen or approved of servers' definitions.
    pub pins_file: PathBuf,
    /// The connectors, in the order of the file; at least one.
    pub connectors: Vec<ConnectorSettings>,
    /// The files that it was read from: the configuration itself, and secrets that it names.
    pub sources: Vec<PathBuf>,
    /// What deserves a word, but does not keep plugway from serving.
    pub warnings: Problems,
}

impl Settings {
    /// The plugin of a name.
    pub fn plugin(&self, name: &str) -> Option<&PluginSettings> {
        self.plugins.iter().find(|plugin| &*plugin.name == name)
    }

    /// The connectors' names and base paths, `/` for the one that owns everything.
    pub fn paths(&self) -> impl Iterator<Item = (&Arc<str>, &str)> {
        self.connectors.iter().map(|connector| (&connector.name, connector.shown_path()))
    }
}

/// Limits of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest request body.
    pub max_body: usize,
    /// Largest result that is held back for a review.
    pub review_max: usize,
    /// Open connections.
    pub max_connections: usize,
    /// Sessions of clients.
    pub max_sessions: usize,
    /// A session that is not used for so long ends.
    pub session_idle: Duration,
    /// Time for the head of a request to arrive, the silence of an open connection before it included.
    pub header_timeout: Duration,
    /// Time for the body of a request to arrive.
    pub body_timeout: Duration,
    /// Time that calls in progress get when plugway stops.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: 4 << 20,
            review_max: 1 << 20,
            max_connections: 4096,
            max_sessions: 10_000,
            session_idle: Duration::from_mins(30),
            header_timeout: Duration::from_mins(2),
            body_timeout: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(10),
        }
    }
}
