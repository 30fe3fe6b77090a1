//! What outlives every configuration: tasks, sessions, counts.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::audit;
use super::error::StartError;
use crate::config::Settings;
use crate::outbound::OwnListeners;
use crate::pins;
use crate::registry::Book;
use crate::registry::parent::Troubles;
use crate::session::{SessionLimits, Sessions};
use crate::telemetry::Metrics;
use crate::transport::sse::Channels;

/// What outlives every configuration.
#[derive(Clone)]
pub(super) struct Ground {
    /// Ends upstreams and chores. They outlive the listener, so that calls in flight can end.
    pub(super) stop: CancellationToken,
    /// Everything that runs beside the requests.
    pub(super) tasks: TaskTracker,
    pub(super) sessions: Arc<Sessions>,
    pub(super) channels: Arc<Channels>,
    pub(super) counts: Arc<Metrics>,
    /// Where plugway itself listens, which it never dials.
    pub(super) own: OwnListeners,
    /// Servers that registered themselves.
    pub(super) leases: Arc<Book>,
    /// What was done and called; none where nobody wants to know.
    pub(super) audit: Option<Arc<crate::audit::Ledger>>,
    /// What was seen or approved of servers' definitions.
    pub(super) pins: Arc<pins::Ledger>,
    /// Connectors that are not registered where they should be.
    pub(super) troubles: Troubles,
}

impl Ground {
    /// Runs something beside the requests until plugway stops.
    pub(super) fn beside(&self, chore: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move { stop.run_until_cancelled(chore).await });
    }

    pub(super) fn new(settings: &Settings, own: OwnListeners) -> Result<Self, StartError> {
        let limits =
            SessionLimits { max: settings.limits.max_sessions, idle: settings.limits.session_idle };
        let start = Instant::now();
        let clock = move || u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let sessions = Sessions::new(limits, Box::new(clock))?;
        Ok(Self {
            sessions: Arc::new(sessions.running(tasks.clone(), stop.clone())),
            stop,
            tasks,
            channels: Arc::default(),
            counts: Arc::default(),
            own,
            leases: Arc::default(),
            pins: Arc::new(pins::Ledger::new(settings.pins_file.clone())),
            troubles: Troubles::default(),
            audit: audit::open(settings)?,
        })
    }
}
