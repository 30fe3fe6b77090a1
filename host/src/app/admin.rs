//! Administration, out of the settings.

use std::sync::Arc;
use std::time::SystemTime;

use arc_swap::ArcSwap;
use tokio::net::TcpListener;

use super::error::StartError;
use super::reload::{Cause, Reloader};
use crate::admin::{Desk, Gate, Operations, PluginPlaceState, PluginState, SCOPE, token};
use crate::auth::Static;
use crate::config::{Admin, AdminListen, StaticToken};
use crate::hex::hex;
use crate::listener::AdminSocket;
use crate::pipeline::port::Promise;
use crate::plugin::{PluginStats, Runtime};
use crate::registry::Book;
use crate::transport::Site;

/// Keeps the holder of the token file apart from every client.
const REALM: &str = "admin token file";

/// What administrators reach of this process.
pub(super) struct Reached {
    pub(super) site: Arc<ArcSwap<Site>>,
    pub(super) runtime: Arc<Runtime>,
    pub(super) leases: Arc<Book>,
    pub(super) reloader: Reloader,
}

/// The listener of administration, bound, and who serves there.
pub(super) async fn open(
    settings: &Admin,
    reached: Reached,
) -> Result<(AdminSocket, Arc<Desk>), StartError> {
    let local = match &settings.token_file {
        Some(path) => Some(local(token::obtain(path)?)?),
        None => None,
    };
    let socket = match &settings.listen {
        AdminListen::Address(address) => {
            let bound = TcpListener::bind(address).await;
            let listener = bound
                .map_err(|source| StartError::AdminListen { at: address.to_string(), source })?;
            let bound = listener.local_addr().unwrap_or(*address);
            tracing::info!(address = %bound, "administration");
            AdminSocket::Tcp(listener)
        }
        AdminListen::Socket(path) => {
            let at = path.display().to_string();
            let socket = AdminSocket::unix(path)
                .map_err(|source| StartError::AdminListen { at: at.clone(), source })?;
            tracing::info!(socket = at, "administration");
            socket
        }
    };
    let site = reached.site.clone();
    let desk = Desk { site, gate: Gate { local }, operations: Arc::new(reached) };
    Ok((socket, Arc::new(desk)))
}

fn local(token: crate::config::Secret) -> Result<Static, StartError> {
    let entry = StaticToken {
        token,
        client_id: "holder of the token file".into(),
        scopes: vec![SCOPE.into()],
        tenant_id: None,
        expires_at: None,
    };
    Ok(Static::new(REALM, &[entry], Box::new(SystemTime::now))?)
}

impl Operations for Reached {
    fn plugins(&self) -> Vec<PluginState> {
        let slots = self.runtime.loaded();
        slots
            .iter()
            .map(|slot| {
                let info = slot.info();
                PluginState {
                    name: slot.key().clone(),
                    kind: slot.kind().as_str(),
                    component: info.name.clone(),
                    version: info.version.clone(),
                    digest: hex(&slot.digest()),
                    disabled: slot.disabled(),
                    degraded: slot.degraded(),
                    places: slot.stats().iter().map(place).collect(),
                }
            })
            .collect()
    }

    fn holder(&self, connector: &str, upstream: &str) -> Option<Arc<str>> {
        self.leases.holder(connector, upstream)
    }

    fn disable_plugin(&self, name: &str, out: bool) -> bool {
        self.runtime.disable(name, out)
    }

    fn reload(&self) -> Promise<'_, Result<Vec<String>, String>> {
        Box::pin(self.reloader.reload(Cause::Admin))
    }
}

fn place(stats: &PluginStats) -> PluginPlaceState {
    let errors = |hook: &crate::plugin::HookStats| -> u64 {
        hook.errors.iter().map(|(_, count)| count).sum()
    };
    PluginPlaceState {
        connector: stats.connector.clone(),
        generation: stats.generation,
        instances: stats.live,
        calls: stats.hooks.iter().map(|hook| hook.calls).sum(),
        errors: stats.hooks.iter().map(errors).sum(),
        aside: stats.aside,
    }
}
