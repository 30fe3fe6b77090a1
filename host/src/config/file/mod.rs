//! What an operator may write. The comments become the reference, so they speak to the operator.
//!
//! Reading order: [`top`] is the whole file, [`connector`] and [`plugin`] its two large parts, [`access`] who callers are, [`artifacts`] links to files, [`audit`] what is written down of calls,
//! [`credential`] and [`watch`] parts of an upstream, [`registry`] servers that register themselves, [`server_info`] how a connector introduces itself, [`mod@unit`] the forms
//! of durations, sizes and secrets. Nothing here is checked beyond its form; `super::check` makes settings of it.

mod access;
mod artifacts;
mod audit;
mod connector;
mod credential;
mod discovery;
mod plugin;
mod registry;
mod server_info;
mod top;
mod unit;
mod watch;

pub use access::{Admin, AuthMode, AuthUse, Tokens};
pub use artifacts::{Artifacts, LinksWord};
pub use audit::{ArgumentsWord, Audit, AuditUse, EveryWord, Rotate};
pub use connector::{
    CatalogWord, Connector, InstructionsWord, PinWord, PluginUse, PrefixWord, ServerRequestWord,
    SharingWord, Timeouts, TransportWord, Upstream,
};
pub use credential::{CredentialMode, CredentialUse};
pub use discovery::{DiscoveryMode, DiscoveryUse};
pub use plugin::{Grants, OnErrorWord, Plugin, PluginLimits};
pub use registry::{Register, Registry};
pub use server_info::{Icon, IconTheme, ServerInfo};
pub use top::{Exposure, ExposureWord, File, FormWord, ServerLimits};
pub use unit::{SecretText, Size, Span, Text};
pub use watch::{Attempts, Reconnect, UnavailableWord};

use super::read::{Elsewhere, NotYet};

/// Keys that somebody may look for here.
pub(super) const ELSEWHERE: Elsewhere =
    &[("file", "bridges", BRIDGES), ("connector", "bridges", BRIDGES)];

const BRIDGES: &str = "`router: {use: router, config: {unified_tools: true, bridges: [..]}}`; \
                       in a file of agora-workbench write `form: agora` beside it";

/// Keys that the design names and that do nothing yet; they are refused, because a key that is silently ignored is
/// worse than one that is missing.
pub(super) const NOT_YET: NotYet = &[
    ("file", "tls", "plugway listens without TLS"),
    ("file", "state", "state is kept in this process"),
    ("file", "transfer", "objects are not transferred"),
    ("file", "transfers", "objects are not transferred"),
    ("file", "dispatcher", "an upstream has one worker, so there is nothing to dispatch"),
    ("connector", "auth", "callers are identified for all connectors, by `auth` at the top"),
    ("connector", "dispatcher", "an upstream has one worker, so there is nothing to dispatch"),
    ("connector", "transfer", "objects are not transferred"),
    ("upstream", "workers", "an upstream has one worker, written as `url` or `command`"),
    ("upstream", "dispatcher", "an upstream has one worker, so there is nothing to dispatch"),
    ("upstream", "trust_annotations", "hints of tools are not trusted"),
    ("upstream", "read_only", "calls are never repeated"),
    ("upstream", "uri", "resource URIs are passed on as they are"),
    ("grants", "transfers", "objects are not transferred"),
    ("grants", "announce", "plugins cannot announce changes"),
];
