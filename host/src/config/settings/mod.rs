//! What the program means: checked values, complete with their defaults. Nothing here can be read from a file.
//!
//! Reading order: [`top`] is everything, [`listen`] the listener and who may reach it, [`connector`] what is served,
//! [`plugin`] who decides, [`access`] who may ask.

mod access;
mod connector;
mod listen;
mod plugin;
mod top;

pub use access::{Admin, AdminListen, Auth, StaticToken};
pub use connector::{
    Absence, Child, ConnectorSettings, Credential, Naming, PluginPlace, Prefix, Sharing, Target,
    UpstreamSettings, UpstreamTimeouts, Watch,
};
pub use listen::{Accepted, Exposure, Hosts, Listen, ListenSource};
pub use plugin::{GrantSettings, OnError, PluginLimitSettings, PluginSettings, PluginSource};
pub use top::{Limits, Settings};
