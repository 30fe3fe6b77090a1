//! Why plugway cannot start.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::admin::token::TokenError;
use crate::audit::AuditFileError;
use crate::auth;
use crate::fault::Fault;
use crate::plugin::LoadError;
use crate::upstream::Unusable;

/// Why plugway cannot start. Nothing is served then.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address as configured.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// A configured plugin does not load. Without it a connector would serve what it should not.
    #[error("the plugin {name:?} does not load: {source}")]
    Plugin {
        /// The operator's name for it.
        name: Arc<str>,
        /// Why.
        source: LoadError,
    },
    /// A place names a plugin that does not exist.
    #[error("there is no plugin {name:?}")]
    NoPlugin {
        /// The name in the configuration.
        name: Arc<str>,
    },
    /// The settings of an upstream cannot work.
    #[error("the upstream {name:?} cannot be used: {source}")]
    Upstream {
        /// Its connector.
        connector: Arc<str>,
        /// The operator's name for it.
        name: Arc<str>,
        /// Why.
        source: Unusable,
    },
    /// What the operator wrote about a connector does not fit its servers.
    #[error("{}", problems.join("; "))]
    Misfit {
        /// One sentence each, by the connector's router.
        problems: Vec<String>,
    },
    /// The address or socket of administration cannot be had.
    #[error("administration cannot listen on {at}: {source}")]
    AdminListen {
        /// The address or path as configured.
        at: String,
        /// What the system says.
        source: io::Error,
    },
    /// The token file of administration cannot be used.
    #[error("administration has no credential: {0}")]
    AdminToken(#[from] TokenError),
    /// The audit cannot be written from the start on.
    #[error(transparent)]
    Audit(#[from] AuditFileError),
    /// The tokens of clients cannot work.
    #[error("callers cannot be identified: {0}")]
    Auth(#[from] auth::Unusable),
    /// The system gave no randomness.
    #[error("{0}")]
    System(#[from] Fault),
}
