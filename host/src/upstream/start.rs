//! Makes an upstream of its settings.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::era::EraCell;
use super::http::{Endpoint, HttpPeer, HttpUpstream};
use super::keeper::Keeper;
use super::settings::{Settings, Transport, Unusable};
use super::status::Status;
use super::stdio::{Children, StdioPeer, StdioUpstream};
use super::subscriptions::Subscriber;
use super::wishes::Wishes;
use crate::pipeline::port::Upstream;

/// Starts an upstream and its keeper. Returns at once: whether the server answers shows in [`Upstream::watch`], and no
/// server waits for another. `stop` ends the keeper; [`Upstream::shut_down`] ends sessions and children, and should be
/// called once no call is in flight any more.
pub fn start(
    settings: &Settings,
    stop: &CancellationToken,
    tracker: &TaskTracker,
) -> Result<Arc<dyn Upstream>, Unusable> {
    let status = Arc::new(Status::new(settings.name.clone(), settings.connector.clone()));
    let wishes = Arc::new(Wishes::new(settings.name.clone(), settings.limits.sessions));
    match &settings.transport {
        Transport::Http { url } | Transport::Sse { url } => {
            let era = Arc::new(EraCell::new());
            let endpoint = Arc::new(Endpoint::new(url, settings, &status, tracker)?);
            let peer = HttpPeer::new(Arc::clone(&endpoint), Arc::clone(&era));
            let keeper = Keeper {
                peer,
                status,
                limits: settings.limits.clone(),
                patience: settings.limits.open,
                stop: stop.clone(),
            };
            drop(tracker.spawn(keeper.run()));
            let upstream = HttpUpstream::new(endpoint, era, Arc::clone(&wishes), tracker.clone());
            Ok(Arc::new(Subscriber::new(Arc::new(upstream), wishes)))
        }
        Transport::Stdio(command) if command.program.is_empty() => Err(Unusable::Program),
        Transport::Stdio(command) => {
            let (status, limits) = (Arc::clone(&status), &settings.limits);
            let kept = Arc::clone(&status);
            let kept = (kept, Arc::clone(&wishes));
            let children = Children::new(kept, command.clone(), settings, tracker);
            let children = Arc::new(children);
            let keeper = Keeper {
                peer: StdioPeer::new(Arc::clone(&children)),
                status: Arc::clone(&status),
                limits: limits.clone(),
                patience: limits.start,
                stop: stop.clone(),
            };
            drop(tracker.spawn(keeper.run()));
            drop(tracker.spawn(Arc::clone(&children).sweep(stop.clone())));
            let upstream = StdioUpstream::new(children, status);
            Ok(Arc::new(Subscriber::new(Arc::new(upstream), wishes)))
        }
    }
}
