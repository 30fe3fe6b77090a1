//! The life of a process that serves one client over standard input and output: build, serve, end. Nothing listens.

use tokio_util::sync::CancellationToken;

use super::error::StartError;
use super::reload::{self, Reloader, Rereading, State};
use super::serve::trouble;
use super::world::World;
use crate::config::Settings;
use crate::outbound::OwnListeners;
use crate::transport::stdio::{self, Place};

/// Serves the first connector until the client closes its end or `stop` is cancelled. With `rereading` a changed
/// configuration is put in place meanwhile.
pub async fn stdio(
    settings: Settings,
    rereading: Option<Rereading>,
    stop: CancellationToken,
) -> Result<(), StartError> {
    let Some(connector) = settings.connectors.first().map(|connector| connector.name.clone())
    else {
        return Ok(());
    };
    let grace = settings.limits.shutdown_grace;
    let state = State::default();
    let (reloader, requests) = Reloader::new();
    let world = World::build(settings, OwnListeners::new(), trouble(&state)).await?;
    reload::watch(&world.ground, rereading.as_ref(), (reloader, &state));
    let place = Place { site: world.site.clone(), connector, grace };
    let ended = CancellationToken::new();
    let serving = async {
        tracing::info!("serving standard input and output");
        stdio::serve(place, tokio::io::stdin(), tokio::io::stdout(), stop).await;
        ended.cancel();
    };
    let keeping = reload::keep(world, (rereading, state), requests, &ended);
    let ((), world) = tokio::join!(serving, keeping);
    world.end().await;
    Ok(())
}
