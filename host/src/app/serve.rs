//! The life of the process: bind, build, serve, end.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::audit;
use super::error::StartError;
use super::leases;
use super::listening::Bound;
use super::reload::{self, Reloader, Rereading, State};
use super::site::Trouble;
use super::world::World;
use crate::config::Settings;
use crate::outbound::OwnListeners;

/// Serves until `stop` is cancelled. With `rereading` a changed configuration is put in place meanwhile.
pub async fn serve(
    settings: Settings,
    rereading: Option<Rereading>,
    stop: CancellationToken,
) -> Result<(), StartError> {
    let own = OwnListeners::new();
    let bound = Bound::take(settings.listen.address, &own).await?;
    let state = State::default();
    let (reloader, requests) = Reloader::new();
    let mut world = World::build(settings, own, trouble(&state)).await?;
    if let Err(error) = world.administer(reloader.clone()).await {
        audit::close(world.ground.audit.take()).await;
        return Err(error);
    }
    world.listen(bound);
    let leases = leases::keep(world.ground.clone(), world.site.clone(), reloader.clone());
    world.ground.beside(leases);
    reload::watch(&world.ground, rereading.as_ref(), (reloader, &state));
    let world = Box::pin(reload::keep(world, (rereading, state), requests, &stop)).await;
    world.end().await;
    Ok(())
}

/// What `/ready` says while the configuration file is not what is served.
pub(super) fn trouble(state: &State) -> Trouble {
    let refused = state.refused.clone();
    Arc::new(move || {
        let why = refused.load_full();
        let lines = why.as_deref().map(|why| why.lines()).into_iter().flatten();
        let errors = lines.filter(|line| !line.starts_with("hint:"));
        errors.map(|why| format!("configuration not applied: {why}")).collect()
    })
}
