//! Servers that register themselves behind a connector, and a connector that registers itself elsewhere.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;

use crate::config::secret::Secret;

/// The scope that may register servers.
pub const REGISTRY_SCOPE: &str = "plugway:registry";
/// Shortest time of a lease.
pub const SHORTEST_LEASE: Duration = Duration::from_mins(1);
/// Longest time of a lease.
pub const LONGEST_LEASE: Duration = Duration::from_hours(1);
/// Time of a lease where nobody says it.
pub const USUAL_LEASE: Duration = Duration::from_mins(5);

/// Which servers may register themselves behind a connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistrySettings {
    /// Globs (`*` and `?`) over names; none where only entries of the file take leases.
    pub names: Vec<Arc<str>>,
    /// Where these servers may be; at least one.
    pub hosts: Vec<HostRule>,
    /// Leases at once.
    pub max: usize,
    /// Leases at once of one identity.
    pub max_of_identity: usize,
}

/// A host, or every host below a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    /// In lower case; an address as it is usually written, without brackets.
    pub host: Arc<str>,
    /// Whether hosts below this name are meant, and not the name itself.
    pub below: bool,
    /// The port; none = any.
    pub port: Option<u16>,
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, below, port } = self;
        let below = if *below { "*." } else { "" };
        match port {
            Some(port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Some(port) => write!(f, "{below}{host}:{port}"),
            None => write!(f, "{below}{host}"),
        }
    }
}

/// Where a connector registers itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterSettings {
    /// The list of servers of that registry: `{url}/v1/servers`.
    pub servers: Uri,
    /// The name to register.
    pub name: Arc<str>,
    /// Where the connector is reached from there.
    pub public_url: Arc<str>,
    /// How long one lease lasts, in whole seconds.
    pub ttl: Duration,
    /// What is shown there as `Authorization: Bearer ..`.
    pub token: Secret,
    /// Words about the server.
    pub labels: BTreeMap<String, String>,
}
