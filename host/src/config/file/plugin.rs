//! A plugin, its limits and what it may do.

use schemars::JsonSchema;
use serde::Deserialize;

use super::unit::Text;

/// A plugin by the name that connectors use for it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "plugin", deny_unknown_fields, default)]
#[serde(expecting = "a plugin: a set of keys such as `file` and `config`")]
pub struct Plugin {
    /// The component, relative to the configuration file. Without it: the bundled plugin of this name, else
    /// `NAME.wasm` in `plugin_dir`.
    pub file: Option<String>,
    /// The only content that is accepted: `sha256:` and 64 hexadecimal digits.
    pub digest: Option<String>,
    /// Configuration for the plugin; a connector may give another in its place.
    pub config: Option<serde_json::Value>,
    /// Limits of the plugin.
    pub limits: PluginLimits,
    /// What it may do besides deciding. Default: nothing.
    pub grants: Grants,
    /// What happens to a call when the plugin fails: `deny` or `pass`. Default `deny`.
    pub on_error: Option<OnErrorWord>,
}

/// Limits of a plugin.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "limits", deny_unknown_fields, default, expecting = "a set of limits")]
#[schemars(rename = "plugin-limits")]
pub struct PluginLimits {
    /// Milliseconds for one decision about a call. Default 10.
    pub time_ms: Option<u32>,
    /// MiB of memory for each instance, at most 256. Default 64; interpreted guests want 128.
    pub memory_mib: Option<u32>,
    /// Calls at once in one connector, and so instances. Default 4; 16 with the grant `upstreams`.
    pub instances: Option<u32>,
}

/// What a plugin may do besides deciding.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "grants", deny_unknown_fields, default, expecting = "a set of grants")]
pub struct Grants {
    /// Request headers that it may read. Credentials are never among them.
    pub headers: Vec<Text>,
    /// Query parameters of the request's URL that it may read where it judges what is visible.
    pub query: Vec<Text>,
    /// Headers of the upstream request that it may set or remove.
    pub set_headers: Vec<Text>,
    /// Whether it may send requests to the connector's upstreams as the caller.
    pub upstreams: bool,
    /// Whether it may change which tools sessions have loaded (`discovery: lazy`).
    pub reveal: bool,
    /// Origins that it may fetch from: `https://api.example.com`, `http://127.0.0.1:8080`.
    pub fetch: Vec<String>,
    /// Whether names in `fetch` may stand for addresses of private networks. Default `false`.
    pub fetch_private: bool,
}

/// What happens to a call when a plugin fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "on-error", rename_all = "kebab-case")]
pub enum OnErrorWord {
    /// The call is refused.
    Deny,
    /// The call goes on as if the plugin had nothing to say.
    Pass,
}
