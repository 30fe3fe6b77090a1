//! A connector, its plugins and its upstreams.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{
    Artifacts, CredentialUse, DiscoveryUse, Reconnect, Register, Registry, SecretText, ServerInfo,
    Span, Text, UnavailableWord,
};

/// One MCP server as clients see it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "connector", deny_unknown_fields, default)]
#[serde(expecting = "a connector: a set of keys such as `name` and `upstreams`")]
pub struct Connector {
    /// Name of the connector: letters, digits, `_` and `-`, at most 32.
    pub name: Option<String>,
    /// What it is for, in words for the client.
    pub description: Option<String>,
    /// Base path; the endpoint is `PATH/mcp`. Default `/NAME`; a lone connector owns `/`.
    pub path: Option<String>,
    /// Whether callers without a credential may come although `auth` identifies others. Default `false`.
    pub anonymous: Option<bool>,
    /// Whether clients see the tool `NAME_status`, which tells how the servers are. Default `true`.
    pub status: Option<bool>,
    /// How long the person at a client may take to confirm a call, where a policy wants that: `1s` to `10m`. Default `2m`.
    pub confirm_timeout: Option<Span>,
    /// Whether clients list every tool (`eager`), or a few and find the others (`lazy`, or `{mode: lazy, residents: [GLOB]}`).
    /// Default `eager`.
    pub discovery: Option<DiscoveryUse>,
    /// How it introduces itself to clients: `serverInfo`. Default: its name, and the version of plugway.
    pub server_info: Option<ServerInfo>,
    /// Links to files of servers that run code.
    pub artifacts: Option<Artifacts>,
    /// Whether what its servers say of their tools, prompts and resources, and their instructions, has to stay as it was first
    /// seen, or as it was approved (`plugway pins`): `off`, `warn` (the log and `/ready` tell of changes), `hold` (what changed is
    /// held back until it is approved), `locked` (so is what is new). Default `off`.
    pub pin: Option<PinWord>,
    /// The plugin that shapes the catalogue: a name, or `{use: NAME, config: {..}}`. Default `router`.
    pub router: Option<PluginUse>,
    /// The plugins that decide what a caller sees and may do, in their order.
    pub policies: Option<Vec<PluginUse>>,
    /// The servers behind it.
    pub upstreams: Option<Vec<Upstream>>,
    /// Which servers may register themselves behind it. Default: none.
    pub registry: Option<Registry>,
    /// Where it registers itself, so that another plugway serves it. Default: nowhere.
    pub register: Option<Register>,
}

/// A plugin in its place: a name, or `{use: NAME, config: {..}}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginUse {
    /// Name of the plugin.
    pub plugin: Option<String>,
    /// Configuration for this place; it replaces the plugin's own.
    pub config: Option<serde_json::Value>,
}

impl<'de> Deserialize<'de> for PluginUse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(rename = "use", deny_unknown_fields, default)]
        struct Full {
            r#use: Option<String>,
            config: Option<serde_json::Value>,
        }
        struct UseVisitor;
        impl<'de> Visitor<'de> for UseVisitor {
            type Value = PluginUse;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a plugin, or `{use: NAME, config: {..}}`")
            }

            fn visit_str<E>(self, name: &str) -> Result<PluginUse, E> {
                Ok(PluginUse { plugin: Some(name.to_owned()), config: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<PluginUse, A::Error> {
                let full = Full::deserialize(de::value::MapAccessDeserializer::new(access))?;
                Ok(PluginUse { plugin: full.r#use, config: full.config })
            }
        }
        deserializer.deserialize_struct("use", &["use", "config"], UseVisitor)
    }
}

/// A server behind a connector: `url` or `command`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "upstream", deny_unknown_fields, default)]
#[serde(expecting = "an upstream: a set of keys such as `name` and `url`")]
pub struct Upstream {
    /// Name of the upstream: letters, digits, `_` and `-`, at most 32. It stands before its tools: `NAME_tool`.
    pub name: Option<String>,
    /// Address of a server that speaks Streamable HTTP, with or without `/mcp`, or HTTP+SSE (see `transport`).
    pub url: Option<String>,
    /// With `url`: what is spoken there. Default `http`.
    pub transport: Option<TransportWord>,
    /// Program of a server that speaks over stdin and stdout.
    pub command: Option<String>,
    /// Arguments of the program.
    pub args: Option<Vec<Text>>,
    /// Environment of the program, besides `inherit_env`; it has no other. A value may be a reference: `env://NAME`,
    /// `file://PATH`.
    pub env: Option<BTreeMap<String, SecretText>>,
    /// Variables of plugway's own environment that the program gets. Default `[PATH, HOME]`.
    pub inherit_env: Option<Vec<String>>,
    /// Working directory of the program, relative to the configuration file. Default: that file's directory.
    pub cwd: Option<String>,
    /// `session`: a child process for each client session. `connector`: one for all; only for a server that keeps
    /// nothing about its clients. Default `session`.
    pub sharing: Option<SharingWord>,
    /// Child processes at once. Default 16.
    pub max_children: Option<u32>,
    /// A child that is not used for so long is stopped, unless it has a task that can still be asked for. Default `5m`.
    pub idle_stop: Option<Span>,
    /// Whether names get the upstream's name before them. Default `always`.
    pub prefix: Option<PrefixWord>,
    /// Names given by the operator: the server's own name of a tool or prompt, and the one that clients see.
    pub aliases: BTreeMap<String, String>,
    /// Globs over the server's own names (`*` and `?`): what matches none is not offered. Default: everything.
    pub expose: Option<Vec<String>>,
    /// Globs over the same names: what matches one is not offered, whatever `expose` says. Default: nothing.
    pub hide: Option<Vec<String>>,
    /// Tags of tools that are not offered, in any case. So does `TAGTOOL=false` in plugway's environment, for all servers.
    pub hide_tags: Option<Vec<String>>,
    /// Whether a tool whose argument `action` takes one of listed texts is shown as a tool for each of them:
    /// `NAME_ACTION`. Default `false`.
    pub split_actions: bool,
    /// With `url`: how plugway identifies itself there: `none`, `forward`, `{mode: bearer, token: REFERENCE}`, or
    /// `{mode: header, name: NAME, value: REFERENCE}`. Default `none`.
    pub auth: Option<CredentialUse>,
    /// With `url`: headers that every request carries. A value may be a reference: `env://NAME`, `file://PATH`.
    pub headers: Option<BTreeMap<String, SecretText>>,
    /// With `url`: what the server calls itself in links to its files (`ORIGIN/artifacts/..`) besides the origin of `url`, such
    /// as `https://chem.example.com`. Files are fetched there with the same credential and headers; `localhost` means `url`. Links
    /// of a server become plugway's own where it has a tool `execute_*_code`, or this key, be it empty.
    pub artifact_origins: Option<Vec<String>>,
    /// With `url`: whether `GET /catalog` is read of a server that has a tool `execute_*_code`: its functions, skills and
    /// states, for search and plans. Default `auto`.
    pub catalog: Option<CatalogWord>,
    /// What the server may ask of clients: `elicitation` asks the person, `sampling` the model, `roots` for folders; with
    /// `include_context` a request for `sampling` may also ask for what the client knows from its servers. Default
    /// `[elicitation]`.
    pub server_requests: Option<Vec<ServerRequestWord>>,
    /// Whether the server's instructions stand among those of the connector. Default `include`.
    pub instructions: Option<InstructionsWord>,
    /// Whether what it says of its tools, prompts and resources has to stay as it is: `off`, `warn`, `hold` or `locked`. Default:
    /// as the connector's.
    pub pin: Option<PinWord>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Time between two health checks. Default `30s`.
    pub health_check_interval: Option<Span>,
    /// Time that one health check may take. Default `5s`.
    pub health_check_timeout: Option<Span>,
    /// So many failed health checks in a row make the upstream away. Default 2.
    pub unhealthy_after: Option<u32>,
    /// So many good health checks in a row bring it back. Default 1.
    pub healthy_after: Option<u32>,
    /// How it is tried again while it is away.
    pub reconnect: Reconnect,
    /// Time after which its catalogue is read again, unless the server names a shorter one. Default `5m`.
    pub refresh: Option<Span>,
    /// An outage that is shorter changes nothing for clients. Default `5s`.
    pub stale_for: Option<Span>,
    /// What clients see after that: `remove` takes its entries out of the lists until it is back, `keep` leaves them.
    /// Default `remove`.
    pub unavailable: Option<UnavailableWord>,
    /// In place of `url` and `command`: the clients whose leases say where the server is, as `client_id`, or
    /// `client_id of tenant_id`. Until there is a lease of this name the upstream is not started.
    pub accept_leases: Option<Vec<String>>,
    /// Whether it stays in the file without being started. Default `false`.
    pub disabled: bool,
    /// Whether `aliases` and `expose` mean the functions of a server that runs code rather than its tools. Nobody writes
    /// this: it is what the words of agora-workbench mean.
    #[serde(skip)]
    pub of_functions: bool,
}

/// Who shares a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "sharing", rename_all = "kebab-case")]
pub enum SharingWord {
    /// Nobody: one for each client session.
    Session,
    /// Every client of the connector.
    Connector,
}

/// Whether names get the upstream's name before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "prefix", rename_all = "kebab-case")]
pub enum PrefixWord {
    /// Yes.
    Always,
    /// No: the server's own names are shown.
    Never,
}

/// Whether the catalogue of a server that runs code is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "catalog", rename_all = "kebab-case")]
pub enum CatalogWord {
    /// Where the server lists a tool that runs code.
    Auto,
    /// No.
    Never,
}

/// What is spoken at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "transport", rename_all = "kebab-case")]
pub enum TransportWord {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

/// Something that a server may ask of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "server-request", rename_all = "snake_case")]
pub enum ServerRequestWord {
    /// An answer of the person at the client.
    Elicitation,
    /// A completion by the client's model.
    Sampling,
    /// The folders that the client works in.
    Roots,
    /// With `sampling`: that the client adds what it knows from its servers (`includeContext`).
    IncludeContext,
}

/// Whether the instructions of a server reach clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "instructions", rename_all = "kebab-case")]
pub enum InstructionsWord {
    /// Yes, under a heading that names the server.
    Include,
    /// No.
    Omit,
}

/// What becomes of definitions that are not the ones that were seen or approved before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename = "pin", rename_all = "kebab-case")]
pub enum PinWord {
    /// They are not looked at.
    Off,
    /// The log and `/ready` tell of them.
    Warn,
    /// What changed is held back until it is approved; what is seen for the first time is taken as it is.
    Hold,
    /// What changed and what is new is held back until it is approved.
    Locked,
}

/// Time limits of an upstream.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename = "timeouts", deny_unknown_fields, default, expecting = "a set of time limits")]
pub struct Timeouts {
    /// Until a connection stands. Default `5s`.
    pub connect: Option<Span>,
    /// Until `initialize` or `server/discover` is answered, the start of a child process included. Default `10s`,
    /// and `60s` for a child process, which may have to download itself first.
    pub initialize: Option<Span>,
    /// Until the whole catalogue is read. Default `30s`.
    pub catalogue: Option<Span>,
    /// Until a call has its whole answer, however steadily it comes. Does not apply to `subscriptions/listen`. Default `5m`.
    pub answer: Option<Span>,
}
