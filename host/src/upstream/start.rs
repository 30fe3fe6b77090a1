//! Makes an upstream of its settings.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::http::{DEFAULT_PATH, Endpoint, HttpPeer, HttpUpstream, SSE_PATH};
use super::keeper::Keeper;
use super::limits::{Limits, UNUSED};
use super::settings::{Settings, Sharing, Transport, Unusable};
use super::status::Status;
use super::stdio::{Children, Means, StdioPeer, StdioUpstream};
use super::subscriptions::{Around, Subscriber};
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
        Transport::Http { url } => {
            let url = (url.as_str(), DEFAULT_PATH);
            let endpoint = Arc::new(Endpoint::new(url, settings, &status, tracker)?);
            let era = Arc::clone(&endpoint.era);
            let peer = HttpPeer::new(Arc::clone(&endpoint), Arc::clone(&era));
            let keeper = Keeper {
                peer,
                status: Arc::clone(&status),
                limits: settings.limits.clone(),
                patience: settings.limits.open,
                stop: stop.clone(),
            };
            drop(tracker.spawn(keeper.run()));
            let patience = settings.limits.open;
            let (kept, found) = (Arc::clone(&wishes), Arc::clone(&era));
            let upstream = HttpUpstream::new(endpoint, found, kept, tracker.clone());
            let (tracker, shared) = (tracker.clone(), false);
            let around = Around { wishes, era, status, patience, shared, tracker };
            Ok(Arc::new(Subscriber::new(Arc::new(upstream), around)))
        }
        Transport::Stdio(command) if command.program.is_empty() => Err(Unusable::Program),
        Transport::Stdio(command) => {
            let means = Means::Process(command.clone());
            Ok(Arc::new(children(means, settings, (status, wishes), (stop, tracker))))
        }
        Transport::Sse { url } => {
            let endpoint = Endpoint::new((url.as_str(), SSE_PATH), settings, &status, tracker)?;
            // A channel is a session: there may be as many, it is as long in coming, and it ends with the client's.
            let Limits { sessions, open, .. } = settings.limits;
            let limits = Limits {
                children: sessions,
                start: open,
                child_idle: UNUSED,
                ..settings.limits.clone()
            };
            let settings = Settings { limits, sharing: Sharing::Session, ..settings.clone() };
            let means = Means::Channel(Arc::new(endpoint));
            Ok(Arc::new(children(means, &settings, (status, wishes), (stop, tracker))))
        }
    }
}

/// An upstream of children, each of which serves one party.
fn children(
    means: Means,
    settings: &Settings,
    (status, wishes): (Arc<Status>, Arc<Wishes>),
    (stop, tracker): (&CancellationToken, &TaskTracker),
) -> Subscriber {
    let kept = (Arc::clone(&status), Arc::clone(&wishes));
    let children = Arc::new(Children::new(kept, means, settings, tracker));
    let keeper = Keeper {
        peer: StdioPeer::new(Arc::clone(&children)),
        status: Arc::clone(&status),
        limits: settings.limits.clone(),
        patience: settings.limits.start,
        stop: stop.clone(),
    };
    drop(tracker.spawn(keeper.run()));
    drop(tracker.spawn(Arc::clone(&children).sweep(stop.clone())));
    let (era, patience) = (children.era(), settings.limits.start);
    let upstream = StdioUpstream::new(children, Arc::clone(&status));
    let (tracker, shared) = (tracker.clone(), settings.sharing == Sharing::Connector);
    let around = Around { wishes, era, status, patience, shared, tracker };
    Subscriber::new(Arc::new(upstream), around)
}
