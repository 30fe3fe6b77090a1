//! What the program means: checked values, complete with their defaults. Nothing here can be read from a file.
//!
//! Reading order: [`top`] is everything, [`listen`] the listener and who may reach it, [`connector`] what is served,
//! [`server`] how a
//! connector introduces itself and what servers may ask, [`registry`] servers that register themselves, [`plugin`] who decides, [`access`] who may ask.

mod access;
mod audit;
mod connector;
mod listen;
mod pin;
mod plugin;
mod registry;
mod server;
mod top;

pub use access::{Admin, AdminListen, Auth, StaticToken};
pub use audit::{AuditRotation, AuditSettings};
pub use connector::{
    Absence, Address, Artifacts, Child, ConnectorSettings, Credential, HttpTransport, LazySettings,
    Naming, PluginPlace, Prefix, Sharing, Target, UpstreamSettings, UpstreamTimeouts, Watch,
};
pub use listen::{Accepted, Exposure, Hosts, Listen, ListenSource};
pub use pin::Pin;
pub use plugin::{GrantSettings, OnError, PluginLimitSettings, PluginSettings, PluginSource};
pub use registry::{
    HostRule, LONGEST_LEASE, REGISTRY_SCOPE, RegisterSettings, RegistrySettings, SHORTEST_LEASE,
    USUAL_LEASE,
};
pub use server::{Asks, Icon, ServerInfo};
pub use top::{Limits, Settings};
