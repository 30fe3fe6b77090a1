//! What is served.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, Uri};

use super::pin::Pin;
use super::registry::{RegisterSettings, RegistrySettings};
use super::server::{Asks, ServerInfo};
use crate::config::secret::Secret;

/// One MCP server as clients see it.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorSettings {
    /// Its name.
    pub name: Arc<str>,
    /// What it is for; empty where nobody said.
    pub description: Arc<str>,
    /// Base path: empty for `/`, else `/hub` without a slash at the end. The endpoint is `{path}/mcp`.
    pub path: Arc<str>,
    /// Whether callers without a credential may come although others are identified.
    pub anonymous: bool,
    /// Whether clients see the tool `{name}_status` and the resource beside it.
    pub status: bool,
    /// How long the person at a client may take to confirm a call.
    pub confirm_timeout: Duration,
    /// How clients find tools that are not listed; none = all are.
    pub discovery: Option<LazySettings>,
    /// How it introduces itself to clients.
    pub server_info: ServerInfo,
    /// How links to files of its servers are shown; none leaves them as they are.
    pub artifacts: Option<Artifacts>,
    /// What becomes of definitions that differ from those that were seen or approved.
    pub pin: Pin,
    /// Shapes the catalogue.
    pub router: PluginPlace,
    /// Judge calls, in this order.
    pub policies: Vec<PluginPlace>,
    /// The servers behind it, in the order of the file; at least one, unless servers may register themselves.
    pub upstreams: Vec<UpstreamSettings>,
    /// Names of servers that stand in the file, but are not started.
    pub disabled: Vec<Arc<str>>,
    /// Which servers may register themselves behind it; none = there is no registry.
    pub registry: Option<RegistrySettings>,
    /// Where it registers itself; none = nowhere.
    pub register: Option<RegisterSettings>,
}

impl ConnectorSettings {
    /// How long a person may take to confirm a call, unless the operator says otherwise.
    pub const CONFIRM_TIMEOUT: Duration = Duration::from_mins(2);

    /// The base path for people: `/` rather than nothing.
    pub fn shown_path(&self) -> &str {
        if self.path.is_empty() { "/" } else { &self.path }
    }
}

/// How links to files are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifacts {
    /// Whether whoever has a link may follow it, rather than the caller who got it alone.
    pub open: bool,
    /// How long a link is good.
    pub lifetime: Duration,
    /// The URL of plugway for clients, without a slash at the end; none = what the client itself calls it.
    pub public: Option<Arc<str>>,
}

/// How clients find tools that are not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LazySettings {
    /// Globs over names that clients see: tools that match one are always listed.
    pub residents: Vec<String>,
    /// Tools that one session may have loaded at once.
    pub cap: usize,
    /// A loaded tool that is not used for so long is unloaded.
    pub idle: Duration,
}

impl Default for LazySettings {
    fn default() -> Self {
        Self { residents: Vec::new(), cap: 64, idle: Duration::from_hours(1) }
    }
}

/// A plugin in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginPlace {
    /// Name of the plugin; it is in `Settings::plugins`.
    pub plugin: Arc<str>,
    /// JSON text of an object: the configuration in this place.
    pub config: Arc<str>,
}

/// A server behind a connector. Two that are equal are the same server under the same rules: a reload keeps it running.
#[derive(Clone, Debug, PartialEq)]
pub struct UpstreamSettings {
    /// Its name.
    pub name: Arc<str>,
    /// How to reach it.
    pub target: Target,
    /// How plugway identifies itself there.
    pub credential: Credential,
    /// Headers that every request to it carries; means nothing for a child process.
    pub headers: Vec<(HeaderName, Secret)>,
    /// Whether `GET /catalog` may be read; means nothing for a child process.
    pub catalog: bool,
    /// How its names are shown.
    pub naming: Naming,
    /// What it may ask of clients.
    pub server_requests: Asks,
    /// Whether its instructions stand among those of the connector.
    pub instructions: bool,
    /// What becomes of its definitions that differ; none = what the connector says.
    pub pin: Option<Pin>,
    /// Time limits.
    pub timeouts: UpstreamTimeouts,
    /// How it is watched, and tried again.
    pub watch: Watch,
    /// What clients see while it is away.
    pub absence: Absence,
    /// Whose leases say where it is (callers as logs show them); empty where the file does.
    pub accept_leases: Vec<Arc<str>>,
}

impl UpstreamSettings {
    /// A server that registered itself: everything but its name and address is as where nobody says anything.
    pub fn leased(name: Arc<str>, url: Uri) -> Self {
        Self {
            name,
            target: Target::Http(Address::new(url, HttpTransport::Streamable)),
            credential: Credential::None,
            headers: Vec::new(),
            catalog: true,
            naming: Naming {
                prefix: Prefix::Always,
                aliases: BTreeMap::new(),
                expose: Vec::new(),
                hide: Vec::new(),
                hide_tags: Vec::new(),
                split_actions: false,
                of_functions: false,
            },
            server_requests: Asks::default(),
            instructions: true,
            pin: None,
            timeouts: UpstreamTimeouts::default(),
            watch: Watch::default(),
            absence: Absence::default(),
            accept_leases: Vec::new(),
        }
    }
}

/// How plugway identifies itself at an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Credential {
    /// Not at all.
    #[default]
    None,
    /// With the credential that the client sent to plugway; what plugway asks for itself carries the other one, if any.
    Forward {
        /// For what plugway asks for itself (catalogue, health), the whole value of `Authorization`.
        own: Option<Secret>,
    },
    /// With one header of the operator's: `Authorization: Bearer ..`, or another.
    Header(HeaderName, Secret),
}

/// How an upstream is watched, and tried again when it is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Time between two health checks.
    pub interval: Duration,
    /// Time that one check may take.
    pub timeout: Duration,
    /// So many failed checks in a row make it away.
    pub down_after: u32,
    /// So many good checks in a row bring it back.
    pub up_after: u32,
    /// Wait before the second attempt; doubles from then on. The first one follows at once.
    pub retry_initial: Duration,
    /// Longest wait between two attempts.
    pub retry_max: Duration,
    /// After so many failed attempts it is left alone until somebody asks for it; none = never.
    pub attempts: Option<u32>,
    /// Time after which the catalogue is read again, unless the server names a shorter one (`ttlMs`).
    pub refresh: Duration,
}

impl Default for Watch {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(30),
            timeout: Duration::from_secs(5),
            down_after: 2,
            up_after: 1,
            retry_initial: Duration::from_secs(2),
            retry_max: Duration::from_secs(30),
            attempts: None,
            refresh: Duration::from_mins(5),
        }
    }
}

/// What clients see of an upstream while it is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absence {
    /// An outage that is shorter changes nothing.
    pub stale_for: Duration,
    /// Whether lists show its entries even then.
    pub keep: bool,
}

impl Default for Absence {
    fn default() -> Self {
        Self { stale_for: Duration::from_secs(5), keep: false }
    }
}

/// How an upstream is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Over HTTP.
    Http(Address),
    /// Child processes.
    Stdio(Child),
    /// Over HTTP, where a lease says; until then it is not started.
    Leased(HttpTransport),
}

/// Where a server is reached over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// As it stands in the file: an empty path or `/` means that nobody said `/mcp`.
    pub url: Uri,
    /// What is spoken there.
    pub transport: HttpTransport,
    /// What the server calls itself in links to its files besides the origin of `url`; none where nobody said that it gives
    /// such links.
    pub artifact_origins: Option<Vec<Arc<str>>>,
}

impl Address {
    /// A server that is called by nothing but its address.
    pub fn new(url: Uri, transport: HttpTransport) -> Self {
        Self { url, transport, artifact_origins: None }
    }
}

/// What is spoken at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpTransport {
    /// Streamable HTTP.
    Streamable,
    /// HTTP+SSE, the transport of 2024-11-05.
    Sse,
}

/// How to start a child process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The program, as written.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, Secret)>,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Who shares it.
    pub sharing: Sharing,
    /// Child processes at once.
    pub max_children: usize,
    /// A child that is not used for so long is stopped.
    pub idle_stop: Duration,
}

/// Who shares a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody: one for each client session.
    Session,
    /// Every client of the connector.
    Connector,
}

impl Sharing {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Connector => "connector",
        }
    }
}

/// Whether names get the upstream's name before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Yes.
    Always,
    /// No.
    Never,
}

impl Prefix {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Never => "never",
        }
    }
}

/// How the names of an upstream are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    /// Whether names get the upstream's name before them.
    pub prefix: Prefix,
    /// Own name -> name that clients see.
    pub aliases: BTreeMap<String, String>,
    /// Globs over own names; empty = everything.
    pub expose: Vec<String>,
    /// Globs over own names that are not shown.
    pub hide: Vec<String>,
    /// Tags of tools that are not shown, in lower case.
    pub hide_tags: Vec<String>,
    /// Whether a tool is shown as a tool for each value of its argument `action`.
    pub split_actions: bool,
    /// Whether `aliases` and `expose` mean the functions of a server that runs code rather than its tools.
    pub of_functions: bool,
}

impl Naming {
    /// What the router plugin reads:
    /// `{"prefix":"always","aliases":{..},"expose":[..],"hide":[..],"hide_tags":[..],"split_actions":true,"of_functions":true}`;
    /// without the lists everything is shown, without `of_functions` they mean tools.
    pub fn to_json(&self) -> String {
        let aliases = self.aliases.iter().map(|(own, shown)| (own.clone(), shown.clone().into()));
        let mut settings = serde_json::Map::new();
        settings.insert("prefix".to_owned(), self.prefix.as_str().into());
        settings.insert("aliases".to_owned(), serde_json::Value::Object(aliases.collect()));
        if !self.expose.is_empty() {
            settings.insert("expose".to_owned(), self.expose.clone().into());
        }
        if !self.hide.is_empty() {
            settings.insert("hide".to_owned(), self.hide.clone().into());
        }
        if !self.hide_tags.is_empty() {
            settings.insert("hide_tags".to_owned(), self.hide_tags.clone().into());
        }
        if self.split_actions {
            settings.insert("split_actions".to_owned(), true.into());
        }
        if self.of_functions {
            settings.insert("of_functions".to_owned(), true.into());
        }
        serde_json::Value::Object(settings).to_string()
    }
}

/// Time limits of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpstreamTimeouts {
    /// Until a connection stands.
    pub connect: Duration,
    /// Until the handshake is answered, the start of a child included.
    pub initialize: Duration,
    /// Until the whole catalogue is read.
    pub catalogue: Duration,
    /// Until something comes for a call: its answer begins, or another piece of it arrives.
    pub answer: Duration,
}

impl Default for UpstreamTimeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            initialize: Duration::from_secs(10),
            catalogue: Duration::from_secs(30),
            answer: Duration::from_mins(5),
        }
    }
}
