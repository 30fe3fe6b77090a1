//! The whole file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Admin, Artifacts, AuditUse, AuthUse, Connector, DiscoveryUse, PinWord, Plugin, PluginUse,
    Register, Registry, ServerInfo, Size, Span, Upstream,
};

/// A configuration file of plugway. A lone connector may stand at the top: `name: hub` and `upstreams:` are a whole
/// configuration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "file", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys such as `name` and `upstreams`")]
pub struct File {
    /// Whose words the file is written in. Default: those of `agora` where a key stands in it that only they have, else
    /// those of `plugway`.
    pub form: Option<FormWord>,
    /// Address and port to listen on, such as `127.0.0.1:9000`. Port 0 takes any free port. Default
    /// `127.0.0.1:9000`.
    pub listen: Option<String>,
    /// Values of the `Host` header that clients may use besides the loopback names, exactly as they send them:
    /// `mcp.example.com`, `mcp.example.com:9000`.
    pub allowed_hosts: Option<Vec<String>>,
    /// The URL of plugway for its clients, such as `https://mcp.example.com`, with a path where a proxy adds one. It stands in
    /// links to files (`artifacts`). Default: `http` and what the client itself sends as `Host`.
    pub public_url: Option<String>,
    /// What the operator accepts for a listener outside loopback.
    pub exposure: Option<Exposure>,
    /// How callers are identified: `none`, or `{mode: static, tokens: REFERENCE}`. Default `none`.
    pub auth: Option<AuthUse>,
    /// Where plugway is administered. Default: nowhere.
    pub admin: Option<Admin>,
    /// Where is written down who called what, and what became of it: `off`, or `{file: audit.jsonl}`. Default `off`.
    pub audit: Option<AuditUse>,
    /// Limits of the server.
    pub limits: ServerLimits,
    /// Plugins by the name that connectors use for them.
    pub plugins: BTreeMap<String, Plugin>,
    /// Directory of plugin files: a plugin `x` without `file` is `x.wasm` in it.
    pub plugin_dir: Option<String>,
    /// Directory for compiled plugins. Default: `plugway` in the user's cache directory.
    pub cache_dir: Option<String>,
    /// The file of what was seen or approved of servers' definitions (`pin`). Default: `plugway.lock` beside the configuration
    /// file, or in the working directory where there is none.
    pub pins_file: Option<String>,
    /// The connectors, where there are several.
    pub connectors: Option<Vec<Connector>>,
    /// A lone connector: its name.
    pub name: Option<String>,
    /// A lone connector: what it is for, in words for the client.
    pub description: Option<String>,
    /// A lone connector: its base path. Default `/`.
    pub path: Option<String>,
    /// A lone connector: whether callers without a credential may come although `auth` identifies others. Default
    /// `false`.
    pub anonymous: Option<bool>,
    /// A lone connector: whether clients see the tool `NAME_status`, which tells how its servers are. Default `true`.
    pub status: Option<bool>,
    /// A lone connector: how long the person at a client may take to confirm a call, where a policy wants that: `1s` to `10m`.
    /// Default `2m`.
    pub confirm_timeout: Option<Span>,
    /// A lone connector: whether clients list every tool (`eager`), or a few and find the others (`lazy`, or `{mode: lazy, residents: [GLOB]}`).
    /// Default `eager`.
    pub discovery: Option<DiscoveryUse>,
    /// A lone connector: how it introduces itself to clients (`serverInfo`). Default: its name, and the version of plugway.
    pub server_info: Option<ServerInfo>,
    /// A lone connector: links to files of its servers.
    pub artifacts: Option<Artifacts>,
    /// A lone connector: whether what its servers say of themselves has to stay as it was seen or approved: `off`, `warn`, `hold`
    /// or `locked`. Default `off`.
    pub pin: Option<PinWord>,
    /// A lone connector: its router. Default `router`.
    pub router: Option<PluginUse>,
    /// A lone connector: its policies.
    pub policies: Option<Vec<PluginUse>>,
    /// A lone connector: the servers behind it.
    pub upstreams: Option<Vec<Upstream>>,
    /// A lone connector: which servers may register themselves behind it. Default: none.
    pub registry: Option<Registry>,
    /// A lone connector: where it registers itself. Default: nowhere.
    pub register: Option<Register>,
}

/// Whose words a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "form", rename_all = "kebab-case")]
pub enum FormWord {
    /// plugway's.
    Plugway,
    /// Those of a `RouterConfig` of agora-workbench, with plugway's besides; an upstream without `auth` has `forward`.
    Agora,
}

/// What the operator accepts for a listener outside loopback, and why.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "exposure", deny_unknown_fields, default)]
#[serde(expecting = "a set of keys: `accept` and `reason`")]
pub struct Exposure {
    /// Each part that is missing: `no-auth`, `no-tls`, `any-host`.
    pub accept: Vec<ExposureWord>,
    /// Why that is all right here. It is logged at every start.
    pub reason: Option<String>,
}

/// A part of a safe listener that may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename = "exposure-part", rename_all = "kebab-case")]
pub enum ExposureWord {
    /// Callers are not authenticated.
    NoAuth,
    /// Nothing encrypts the connection.
    NoTls,
    /// Any `Host` header is accepted.
    AnyHost,
}

/// Limits of the server. Everything is bounded; these bounds can be moved.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "limits", deny_unknown_fields, default, expecting = "a set of limits")]
#[schemars(rename = "server-limits")]
pub struct ServerLimits {
    /// Largest request body. Default `4MiB`.
    pub max_body: Option<Size>,
    /// Largest result that is held back for a policy that reviews results. Default `1MiB`.
    pub review_max: Option<Size>,
    /// Open connections. Default 4096.
    pub max_connections: Option<u32>,
    /// Sessions of clients. Default 10000.
    pub max_sessions: Option<u32>,
    /// A session that is not used for so long ends. Default `30m`.
    pub session_idle: Option<Span>,
    /// Time for the head of a request to arrive, the silence of an open connection before it included. Default `2m`.
    pub header_timeout: Option<Span>,
    /// Time for the body of a request to arrive. Default `30s`.
    pub body_timeout: Option<Span>,
    /// Time that calls in progress get when plugway stops. Default `10s`.
    pub shutdown_grace: Option<Span>,
}
