//! What an operator may write. The comments become the reference, so they speak to the operator.
//!
//! Reading order: [`top`] is the whole file, [`connector`] and [`plugin`] its two large parts, [`mod@unit`] the forms of
//! durations and sizes. Nothing here is checked beyond its form; `super::check` makes settings of it.

mod connector;
mod plugin;
mod top;
mod unit;

pub use connector::{Connector, PluginUse, PrefixWord, SharingWord, Timeouts, Upstream};
pub use plugin::{Grants, OnErrorWord, Plugin, PluginLimits};
pub use top::{Exposure, ExposureWord, File, ServerLimits};
pub use unit::{Size, Span, Text};

use super::read::NotYet;

/// Keys that the design names and that do nothing yet; they are refused, because a key that is silently ignored is
/// worse than one that is missing.
pub(super) const NOT_YET: NotYet = &[
    ("file", "auth", "callers are not identified, every client is anonymous"),
    ("file", "tls", "plugway listens without TLS"),
    ("file", "admin", "there is no administration interface"),
    ("file", "state", "state is kept in this process"),
    ("file", "audit", "there is no audit trail"),
    ("file", "transfer", "objects are not transferred"),
    ("file", "transfers", "objects are not transferred"),
    ("file", "bridges", "connectors are reached over HTTP only"),
    ("file", "dispatcher", "an upstream has one worker, so there is nothing to dispatch"),
    ("connector", "auth", "callers are not identified, every client is anonymous"),
    ("connector", "bridges", "connectors are reached over HTTP only"),
    ("connector", "dispatcher", "an upstream has one worker, so there is nothing to dispatch"),
    ("connector", "transfer", "objects are not transferred"),
    ("upstream", "workers", "an upstream has one worker, written as `url` or `command`"),
    ("upstream", "dispatcher", "an upstream has one worker, so there is nothing to dispatch"),
    ("upstream", "auth", "plugway sends no credentials to upstreams"),
    ("upstream", "headers", "plugway sends no fixed headers to upstreams"),
    ("upstream", "trust_annotations", "hints of tools are not trusted"),
    ("upstream", "read_only", "calls are never repeated"),
    ("upstream", "health_check_interval", "upstreams are not probed"),
    ("upstream", "reconnect", "the back-off is fixed at 2 s to 30 s"),
    ("upstream", "stale_for", "an upstream that is away keeps its names"),
    ("upstream", "unavailable", "an upstream that is away keeps its names"),
    ("upstream", "uri", "resource URIs are passed on as they are"),
    ("grants", "fetch", "plugins cannot fetch"),
    ("grants", "transfers", "objects are not transferred"),
    ("grants", "reveal", "plugins cannot ask for secrets"),
    ("grants", "announce", "plugins cannot announce changes"),
];
