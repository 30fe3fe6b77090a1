//! From what an operator wrote to what the program means.
//!
//! Reading order: [`mod@file`] is what may be written; [`mod@load`] reads it, and is the only reader of configuration files
//! and of the environment; [`check`] collects every problem that can be seen; [`settings`] is the result;
//! [`mod@diff`] says what a new one changes, [`watched`] when to look. In between: `tree` keeps the place of every value,
//! `read` fits the tree into the types and notes all misfits, `reference` reads the secrets that a file only names.
//! [`mod@desktop`] rewrites files of desktop clients, [`agora`] configurations of agora-workbench; [`source`] is any of
//! them; [`mod@schema`] makes the schema and the
//! reference of what may be written.

mod agora;
mod check;
mod desktop;
mod diff;
mod environment;
mod file;
mod key;
mod load;
mod misfit;
mod nearest;
mod problem;
mod read;
mod reference;
mod schema;
mod secret;
mod settings;
mod source;
mod tree;
mod watched;

pub use check::{LABELS, is_name, labels_fit};
pub use desktop::{Imported, SaveError, check_targets, desktop, import, save};
pub use diff::{Change, How, diff};
pub use environment::Environment;
pub use key::KeyPath;
pub use load::{Flags, assemble, load, parse, read_json};
pub use problem::{Place, Problem, Problems};
pub use reference::secret;
pub use schema::{markdown, schema};
pub use secret::Secret;
pub use settings::{
    Absence, Accepted, Address, Admin, AdminListen, Artifacts, Asks, AuditRotation, AuditSettings,
    Auth, Child, ConnectorSettings, Credential, Exposure, GrantSettings, HostRule, Hosts,
    HttpTransport, Icon, LONGEST_LEASE, LazySettings, Limits, Listen, ListenSource, Naming,
    OnError, Pin, PluginLimitSettings, PluginPlace, PluginSettings, PluginSource, Prefix,
    REGISTRY_SCOPE, RegisterSettings, RegistrySettings, SHORTEST_LEASE, ServerInfo, Settings,
    Sharing, StaticToken, Target, USUAL_LEASE, UpstreamSettings, UpstreamTimeouts, Watch,
};
pub use source::Source;
pub use watched::{Watched, irregular};

/// What may be written, for whoever builds a configuration in code.
pub mod written {
    pub use super::file::{
        Admin, ArgumentsWord, Artifacts, Attempts, Audit, AuditUse, AuthMode, AuthUse, CatalogWord,
        Connector, CredentialMode, CredentialUse, DiscoveryMode, DiscoveryUse, EveryWord, Exposure,
        ExposureWord, File, FormWord, Grants, Icon, IconTheme, InstructionsWord, LinksWord,
        OnErrorWord, PinWord, Plugin, PluginLimits, PluginUse, PrefixWord, Reconnect, Register,
        Registry, Rotate, SecretText, ServerInfo, ServerLimits, ServerRequestWord, SharingWord,
        Size, Span, Text, Timeouts, Tokens, TransportWord, UnavailableWord, Upstream,
    };
}
