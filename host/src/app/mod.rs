//! The composition root: the only place that builds things, and so the only one that names every room.
//!
//! Reading order: [`mod@serve`] is the life of the process, [`mod@stdio`] of one that serves a single client; `world` is
//! everything that serves, `ground` what outlives every configuration, `reload` brings changed ones; `auth`, `plugins`,
//! `upstreams`, `connectors`, `site` and `listening` make the parts out of the settings; `chores` runs beside the
//! requests, `admin` lets operators in, `audit` keeps what was done; `leases` puts
//! servers in place that register themselves, `parents` registers connectors elsewhere; `metrics` puts together what the
//! rooms counted. [`mod@check`] and [`mod@explain`] try settings without serving them.

mod admin;
mod audit;
mod auth;
mod check;
mod chores;
mod connectors;
mod error;
mod explain;
mod ground;
mod leases;
mod listening;
mod metrics;
mod parents;
mod plugins;
mod reload;
mod serve;
mod site;
mod stdio;
mod upstreams;
mod world;

pub use check::check;
pub use error::StartError;
pub use explain::explain;
pub use reload::Rereading;
pub use serve::serve;
pub use stdio::stdio;
