//! Who may ask, and who may administer.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::config::secret::Secret;

/// How callers are identified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Auth {
    /// They are not: everybody is anonymous.
    #[default]
    None,
    /// By tokens that the operator listed.
    Static(Vec<StaticToken>),
}

/// A token, and whom it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticToken {
    /// What a client sends as `Authorization: Bearer ..`.
    pub token: Secret,
    /// The client that it stands for. Two tokens of one client and tenant are one caller, so that a token can be replaced.
    pub client_id: Arc<str>,
    /// What the client may do.
    pub scopes: Vec<Arc<str>>,
    /// Its tenant.
    pub tenant_id: Option<Arc<str>>,
    /// When the token ends; none = never.
    pub expires_at: Option<SystemTime>,
}

impl StaticToken {
    /// The client as logs show it: `CLIENT_ID`, or `CLIENT_ID of TENANT_ID`.
    pub fn shown(&self) -> String {
        match &self.tenant_id {
            Some(tenant) => format!("{} of {tenant}", self.client_id),
            None => self.client_id.to_string(),
        }
    }
}

/// Where plugway is administered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    /// Where it listens.
    pub listen: AdminListen,
    /// File with the token of local use: made with a fresh one, readable for its owner alone, where it does not exist.
    pub token_file: Option<PathBuf>,
}

/// Where administration listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdminListen {
    /// A loopback address.
    Address(SocketAddr),
    /// A Unix socket, reachable for its owner alone.
    Socket(PathBuf),
}
