//! Servers that register themselves behind a connector, and a connector that registers itself elsewhere.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{SecretText, Span};

/// Which servers may register themselves behind a connector, each for a time (`PATH/registry/v1/servers`). Callers need a
/// token of `auth` with the scope `plugway:registry`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "registry", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys: `names`, `hosts`, `max`, `max_of_identity`")]
pub struct Registry {
    /// Globs (`*` and `?`) over the names that servers may register. A name of an upstream in the file is never among
    /// them: `accept_leases` of that entry says who may.
    pub names: Vec<String>,
    /// Where these servers may be: `HOST` at any port, or `HOST:PORT`. `*.example.com` is every host below `example.com`.
    pub hosts: Vec<String>,
    /// Leases at once. Default 64.
    pub max: Option<u32>,
    /// Leases at once of one identity. Default 16.
    pub max_of_identity: Option<u32>,
}

/// Where a connector registers itself, so that it is served behind another plugway.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "register", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys such as `url`, `public_url` and `token`")]
pub struct Register {
    /// The registry of a connector there: `https://HOST/PATH/registry`. `http` is for this machine only.
    pub url: Option<String>,
    /// Name to register. Default: that of the connector.
    pub name: Option<String>,
    /// Where the other plugway reaches this connector: `https://HOST/PATH/mcp`.
    pub public_url: Option<String>,
    /// How long one lease lasts; it is renewed after a third of that. Default `5m`.
    pub ttl: Option<Span>,
    /// The token that plugway shows there: `env://NAME` or `file://PATH`.
    pub token: Option<SecretText>,
    /// Words about the server for whoever looks there.
    pub labels: BTreeMap<String, String>,
}
