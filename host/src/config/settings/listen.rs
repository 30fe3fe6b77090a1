//! The listener, and who may reach it.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// The listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Where to listen; port 0 takes any free port.
    pub address: SocketAddr,
    /// Who said so.
    pub source: ListenSource,
    /// Which values of the `Host` header are accepted.
    pub hosts: Hosts,
    /// Whether others than this machine can reach it, and what was accepted about that.
    pub exposure: Exposure,
}

/// Who said where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenSource {
    /// `--listen`.
    Flag,
    /// These variables of the environment.
    Environment(Vec<&'static str>),
    /// The configuration file.
    File,
    /// Nobody.
    Default,
}

impl fmt::Display for ListenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("--listen"),
            Self::Environment(names) => write!(f, "environment {}", names.join(", ")),
            Self::File => f.write_str("configuration file"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// Whether others than this machine can reach the listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Only this machine can.
    Loopback,
    /// Others can, and the operator accepted what is missing.
    Accepted(Accepted),
}

/// What was accepted, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The words of the parts that are missing: `no-auth`, `no-tls`, `any-host`.
    pub parts: Vec<&'static str>,
    /// The operator's reason.
    pub reason: Arc<str>,
    /// Whether the command line said so, rather than the file.
    pub by_flag: bool,
}

impl Exposure {
    /// Whether others than this machine can reach the listener.
    pub fn is_exposed(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }
}

/// Which values of the `Host` header are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hosts {
    /// Any: the operator accepted that.
    Any,
    /// The loopback names with any port, and these values exactly (lower case). A page of another site that had its
    /// name pointed at this machine sends its own name, and is refused.
    Listed(Vec<Arc<str>>),
}
