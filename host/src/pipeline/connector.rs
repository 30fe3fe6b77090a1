//! A connector: one MCP server as clients see it, with its upstreams, its router and its policies.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};

use super::announced::Announced;
use super::artifacts::{Artifacts, Rules};
use super::confirm::{self, Confirmations};
use super::handles::Handles;
use super::keeper::Basis;
use super::lazy::{Lazy, listing};
use super::learned::Learned;
use super::party::Party;
use super::port::{Audience, Auditor, Nobody, Offering, Phase, Policy, Router, Snapshot, Upstream};
use super::presence::Absence;
use super::rejudged::Former;
use super::seal::Sealer;
use super::tasks::Made;
use super::translate::Suspended;
use super::variants::{self, Kinds};
use super::views::Views;
use crate::catalogue::{Declared, View};

/// Default of [`Connector::review_max`]: larger answers are data for programs rather than for an agent.
pub const REVIEW_MAX: usize = 1024 * 1024;

/// Default of [`Connector::server_info`].
const SERVER_INFO: &str =
    concat!(r#"{"name":"plugway","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// What a connector is made of.
pub struct Connector {
    /// The operator's name.
    pub name: Arc<str>,
    /// What the operator says about it; stands in `instructions`.
    pub description: Arc<str>,
    /// Upstreams in the order of the configuration, each with its settings for the router as a JSON object.
    pub upstreams: Vec<Served>,
    /// Upstreams that are not there because nobody said yet where they are, in the order of the configuration.
    pub waiting: Vec<Waiting>,
    /// Shapes the catalogue.
    pub router: Arc<dyn Router>,
    /// Judge calls, in order.
    pub policies: Vec<Arc<dyn Policy>>,
    /// Bytes of an answer that policies and plugins may look into.
    pub review_max: usize,
    /// Whether clients are offered the status of the servers (`connector-view.attributes`, key `status`).
    pub status: bool,
    /// How clients find tools that are not listed; none = all are (`connector-view.attributes`, key `discovery`).
    pub lazy: Option<Arc<Lazy>>,
    /// JSON text of how it introduces itself to clients.
    pub server_info: Arc<str>,
    /// What clients were last told of the lists. A connector that takes the place of another one of the same name, as at a
    /// reload, is given the other one's.
    pub announced: Arc<Announced>,
    /// By which policies clients were shown lists before; shared in the same way.
    pub(super) former: Arc<Former>,
    /// Whom it can tell something by itself.
    pub audience: Arc<dyn Audience>,
    /// Where calls leave their lines; none = nowhere.
    pub auditor: Option<Arc<dyn Auditor>>,
    /// Seals what clients give back later; the same for all connectors of that name, one after the other.
    pub sealer: Arc<Sealer>,
    /// Calls that wait for the client's input; shared in the same way.
    pub(super) suspended: Arc<Suspended>,
    /// Calls that wait for a confirmation; shared in the same way.
    pub(super) confirming: Arc<Confirmations>,
    /// How long the person at a client may take to confirm a call.
    pub confirm_timeout: Duration,
    /// Tasks that callers made; shared in the same way.
    pub(super) tasks: Arc<Made>,
    /// URIs that servers gave to callers; the same for all connectors of that name, too.
    pub learned: Arc<Learned>,
    /// How links to files of servers are shown; none leaves them as they are.
    pub links: Option<Arc<Rules>>,
    /// Where those links lead; the same for all connectors of that name.
    pub artifacts: Arc<Artifacts>,
    /// Ids that servers invented for callers; the same for all connectors of that name, too.
    pub handles: Arc<Handles>,
    /// Which of all connectors of that name serves now.
    standing: Standing,
    /// The catalogue and what callers see of it.
    pub views: Views,
    /// What it is for clients to whom servers offer something else.
    pub(super) kinds: Kinds,
    /// Whether there may be such clients.
    pub(super) varies: bool,
    /// Whether servers may say what they offer to callers with credentials of their own only.
    lends: bool,
    /// How long the first one of a kind waits for what servers offer to its like.
    pub(super) patience: Duration,
    /// Whether there is a shape, be it the router's or the native one.
    pub(super) shaped: AtomicBool,
    /// Whether the router ever gave a shape.
    pub(super) router_shaped: AtomicBool,
    /// Why the catalogue is not what the router would make of it now, if it is not.
    pub(super) trouble: ArcSwapOption<String>,
    /// What the operator wrote that does not fit the servers, as the router said last, one sentence each.
    pub(super) problems: ArcSwap<Vec<String>>,
    /// Whether the router waits for servers before it can say that.
    pub(super) pending: AtomicBool,
    /// For each upstream, whether a shape was made that knew its lists.
    pub(super) considered: Box<[AtomicBool]>,
    /// The generation of the newest catalogue; counts on where the connector replaces another one.
    pub(super) generation: AtomicU32,
    /// What the newest catalogue was made of.
    pub(super) basis: ArcSwapOption<Basis>,
}

/// The connector that serves under a name, whichever that is at the moment: what outlives a configuration holds this, and
/// nothing of a connector that was replaced.
#[derive(Clone, Debug, Default)]
pub struct Standing(Arc<Mutex<Weak<Connector>>>);

impl Standing {
    /// That of this moment; none once its name is gone.
    pub fn now(&self) -> Option<Arc<Connector>> {
        self.lock().upgrade()
    }

    fn lock(&self) -> MutexGuard<'_, Weak<Connector>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An upstream in its place in a connector.
#[derive(Clone)]
pub struct Served {
    /// The upstream.
    pub upstream: Arc<dyn Upstream>,
    /// JSON object of what the operator wrote about names.
    pub settings: Arc<str>,
    /// Whether its instructions stand among those of the connector.
    pub instructions: bool,
    /// What clients see of it while it is away.
    pub absence: Absence,
}

/// An upstream that waits for a lease, as its router sees it: as one that was never reached.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Its place among all upstreams of the configuration.
    pub place: usize,
    /// The operator's name.
    pub name: Arc<str>,
    /// As in [`Served`].
    pub settings: Arc<str>,
}

impl Served {
    /// What is known of it now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.upstream.watch().borrow().clone()
    }
}

impl Connector {
    /// A connector that has not read anything yet.
    pub fn new(
        name: Arc<str>,
        description: Arc<str>,
        upstreams: Vec<Served>,
        router: Arc<dyn Router>,
        policies: Vec<Arc<dyn Policy>>,
    ) -> Self {
        let views = Views::default();
        let varies = upstreams.iter().any(|served| served.upstream.varies());
        let lends = upstreams.iter().any(|served| served.upstream.lends());
        let considered = upstreams.iter().map(|_| AtomicBool::new(false)).collect();
        Self {
            name,
            description,
            upstreams,
            waiting: Vec::new(),
            router,
            policies,
            review_max: REVIEW_MAX,
            status: true,
            lazy: None,
            server_info: SERVER_INFO.into(),
            announced: Arc::default(),
            former: Arc::default(),
            audience: Arc::new(Nobody),
            auditor: None,
            sealer: Arc::default(),
            suspended: Arc::default(),
            confirming: Arc::default(),
            confirm_timeout: confirm::PATIENCE,
            tasks: Arc::default(),
            learned: Arc::default(),
            links: None,
            artifacts: Arc::default(),
            handles: Arc::default(),
            standing: Standing::default(),
            views,
            kinds: Kinds::default(),
            varies,
            lends,
            patience: variants::WAIT,
            shaped: AtomicBool::new(false),
            router_shaped: AtomicBool::new(false),
            trouble: ArcSwapOption::const_empty(),
            problems: ArcSwap::default(),
            pending: AtomicBool::new(false),
            considered,
            generation: AtomicU32::new(0),
            basis: ArcSwapOption::const_empty(),
        }
    }

    /// Follows the connector that this one replaces: what clients were told of that one's lists was told of this one's.
    pub fn succeed(&mut self, before: &Self) {
        self.announced = before.announced.clone();
        self.former = before.former.clone();
        self.former.replaced(&before.policies, &self.policies);
        self.sealer = before.sealer.clone();
        self.suspended = before.suspended.clone();
        self.confirming = before.confirming.clone();
        self.tasks = before.tasks.clone();
        self.learned = before.learned.clone();
        self.artifacts = before.artifacts.clone();
        self.handles = before.handles.clone();
        self.standing = before.standing.clone();
        self.kinds.succeed(&before.kinds);
        self.generation.store(before.generation.load(Ordering::Acquire), Ordering::Release);
    }

    /// From now on this is the one that serves under its name.
    pub fn serve(self: &Arc<Self>) {
        *self.standing.lock() = Arc::downgrade(self);
    }

    /// After how long what a session loaded is unloaded if it is not used; none where nothing is loaded.
    pub fn loads_idle(&self) -> Option<Duration> {
        self.lazy.as_ref().map(|lazy| lazy.idle)
    }

    /// Unloads what a session did not use for too long, and tells its client.
    pub fn settle(&self, party: &Party) {
        if let (Some(lazy), Some(loads)) = (&self.lazy, &party.loads) {
            listing::settle(lazy, loads, party, &self.announced);
        }
    }

    /// Whichever serves under its name.
    pub fn standing(&self) -> Standing {
        self.standing.clone()
    }

    /// Nobody is asked to confirm a call any more: who was asked is not waited for.
    pub fn stop_confirming(&self) {
        self.confirming.stop();
    }

    /// Nobody will be served any more: calls that wait for input are given up, and their servers told.
    pub fn give_up(&self) {
        self.suspended.give_up();
    }

    /// Whether calls can be served: an upstream is there, and the catalogue holds what all offer that are there.
    pub fn serves(&self) -> bool {
        let mut there = self.there().peekable();
        self.shaped.load(Ordering::Acquire)
            && (self.upstreams.is_empty() || there.peek().is_some())
            && there.all(|considered| considered)
    }

    /// Why calls cannot be served, if they cannot: one sentence.
    pub fn unserved(&self) -> Option<&'static str> {
        if self.serves() {
            return None;
        }
        Some(match self.there().next() {
            None => "no upstream can be reached yet",
            Some(_) => "what the upstreams offer is not in the catalogue yet",
        })
    }

    /// For each upstream that is there, whether the catalogue holds what it offers.
    fn there(&self) -> impl Iterator<Item = bool> + '_ {
        let phases = self.phases().zip(&self.considered);
        let there = phases.filter(|((_, phase), _)| *phase == Phase::Connected);
        there.map(|(_, considered)| considered.load(Ordering::Acquire))
    }

    /// Why the catalogue is not what the router would make of it now, if it is not.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.load().as_deref().cloned()
    }

    /// What the operator wrote that does not fit the servers, one sentence each.
    pub fn problems(&self) -> Arc<Vec<String>> {
        self.problems.load_full()
    }

    /// Whether servers that were not reached yet may show that there are problems.
    pub fn pending(&self) -> bool {
        self.pending.load(Ordering::Acquire)
    }

    /// Each upstream's name and whether it can be used now.
    pub fn phases(&self) -> impl Iterator<Item = (Arc<str>, Phase)> + '_ {
        self.upstreams
            .iter()
            .map(|served| (served.upstream.name().clone(), served.snapshot().phase))
    }

    /// Whether each plugin is ready, by its name, and what it says about it.
    pub async fn plugins_ready(&self) -> Vec<(String, Result<String, String>)> {
        let mut states = vec![(self.router.name().to_owned(), self.router.ready().await)];
        for policy in &self.policies {
            states.push((policy.name().to_owned(), policy.ready().await));
        }
        states
    }

    /// Whether servers may say what they offer to callers with credentials of their own only.
    pub fn lends(&self) -> bool {
        self.lends
    }

    /// What the upstream at a place offers to who has this view, as far as it declares it.
    pub(super) fn offering(&self, view: &View, place: usize) -> Option<Arc<Offering>> {
        let known = self.upstreams.get(place)?.snapshot().offering.clone()?;
        if known.veiled.is_none() {
            return Some(known);
        }
        let Declared { revision, capabilities } = view.catalogue().declared(place)?.clone();
        Some(Arc::new(Offering { revision: Some(revision), capabilities, ..Offering::default() }))
    }

    /// The upstream at a place.
    pub fn upstream(&self, place: usize) -> Option<&Arc<dyn Upstream>> {
        self.upstreams.get(place).map(|served| &served.upstream)
    }

    /// The place of the upstream of that name.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.upstreams.iter().position(|served| **served.upstream.name() == *name)
    }
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").field("name", &self.name).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Served {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Served").field("name", self.upstream.name()).finish_non_exhaustive()
    }
}
