//! Everything that serves, and how a changed configuration replaces it: what is new is made beside what runs, and only
//! when all of it works is it put in place. Whatever did not change goes on as it is.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures_util::future::join_all;

use super::admin::{self, Reached};
use super::audit;
use super::auth;
use super::chores;
use super::connectors::{self, Draft, Misfits, Running};
use super::error::StartError;
use super::ground::Ground;
use super::listening::{Bound, Listening};
use super::parents::Parents;
use super::plugins::Plugins;
use super::reload::Reloader;
use super::site::{Parts, Trouble, site};
use super::upstreams::Running as RunningUpstream;
use crate::config::{Auth, Change, ConnectorSettings, Settings, diff};
use crate::listener;
use crate::outbound::OwnListeners;
use crate::pipeline::port::End;
use crate::registry::{self, Joined};
use crate::transport::Site;
use crate::upstream::Unusable;

/// How long a changed configuration waits for the servers that are new in it.
const SETTLE: Duration = Duration::from_secs(2);

/// Everything that serves.
pub(super) struct World {
    /// What the file says.
    pub(super) file: Settings,
    /// The same with the servers that registered themselves: what is served.
    settings: Settings,
    pub(super) ground: Ground,
    pub(super) plugins: Plugins,
    pub(super) site: Arc<ArcSwap<Site>>,
    connectors: Vec<Running>,
    listening: Option<Listening>,
    /// Connectors that register themselves elsewhere, as long as somebody could come.
    parents: Parents,
    trouble: Trouble,
}

impl World {
    /// Builds everything that the settings want. Upstreams connect while plugins are being loaded; nothing listens yet.
    pub(super) async fn build(
        settings: Settings,
        own: OwnListeners,
        trouble: Trouble,
    ) -> Result<Self, StartError> {
        let ground = Ground::new(&settings, own)?;
        let audit = ground.audit.clone();
        match Self::build_on(ground, settings, trouble).await {
            Ok(world) => Ok(world),
            Err(error) => {
                audit::close(audit).await;
                Err(error)
            }
        }
    }

    async fn build_on(
        ground: Ground,
        settings: Settings,
        trouble: Trouble,
    ) -> Result<Self, StartError> {
        let auth = auth::build(&settings.auth)?;
        let started = settings.connectors.iter();
        let started = started.map(|wanted| connectors::upstreams(wanted, &[], &ground));
        let started: Vec<_> = started.collect::<Result<_, _>>()?;
        let plugins = Plugins::load(&settings, &ground.own).await?;
        let mut connectors = Vec::new();
        for (wanted, upstreams) in settings.connectors.iter().zip(started) {
            let draft = Draft::new(wanted, upstreams, &plugins).await?;
            connectors.push(draft.finish(None, (&settings, Misfits::Refused), &ground).await?);
        }
        let runtime = &plugins.runtime;
        let file = &settings;
        let parts = Parts { ground: &ground, runtime, trouble: &trouble, auth, file };
        let site = site(&settings, &connectors, None, parts);
        let site = Arc::new(ArcSwap::from_pointee(site));
        for running in &connectors {
            running.keep(&ground);
        }
        chores::start(&site, &plugins, &ground);
        ground.beside(ground.pins.clone().watch());
        let (file, listening, parents) = (settings.clone(), None, Parents::default());
        Ok(Self { file, settings, ground, plugins, site, connectors, listening, parents, trouble })
    }

    /// Begins to take connections.
    pub(super) fn listen(&mut self, bound: Bound) {
        self.listening = Some(bound.serve(&self.settings, self.site.clone()));
        self.parents.change(&self.file, &self.ground);
    }

    /// Lets administrators in, where the settings say how.
    pub(super) async fn administer(&self, reloader: Reloader) -> Result<(), StartError> {
        let Some(settings) = &self.settings.admin else { return Ok(()) };
        let (site, runtime) = (self.site.clone(), self.plugins.runtime.clone());
        let leases = self.ground.leases.clone();
        let reached = Reached { site, runtime, leases, reloader };
        let (socket, desk) = admin::open(settings, reached).await?;
        let listed = match &socket {
            listener::AdminSocket::Tcp(listener) => listener.local_addr().ok(),
            listener::AdminSocket::Unix(..) => None,
        };
        let listed = listed.map(|address| self.ground.own.add(address));
        let serving = listener::admin::serve(socket, desk, self.ground.stop.clone());
        self.ground.tasks.spawn(async move {
            serving.await;
            drop(listed);
        });
        Ok(())
    }

    /// Puts a changed configuration in place, with the servers that registered themselves. On an error everything is as it
    /// was.
    pub(super) async fn apply(
        &mut self,
        file: Settings,
        misfits: Misfits,
    ) -> Result<(), StartError> {
        loop {
            let Joined { settings, placed } = registry::join(&file, &self.ground.leases);
            match self.put(settings, &file, misfits).await {
                Ok(()) => {
                    self.ground.leases.settle(&placed);
                    if self.listening.is_some() {
                        self.parents.change(&file, &self.ground);
                    }
                    self.file = file;
                    return Ok(());
                }
                // One lease that cannot be used keeps nothing else from being put in place.
                Err(StartError::Upstream { connector, name, source })
                    if self.ground.leases.refuse(&connector, &name, broken(&source)) =>
                {
                    tracing::error!(
                        %connector, upstream = %name,
                        "a lease is held back, of which no upstream can be made: {source}"
                    );
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts in place what the leases changed.
    pub(super) async fn apply_leases(&mut self) -> Result<Vec<Change>, StartError> {
        let Joined { settings, placed } = registry::join(&self.file, &self.ground.leases);
        let changes = diff(&self.settings, &settings);
        if changes.is_empty() {
            self.ground.leases.settle(&placed);
        } else {
            // What does not fit any more because a server left, or came, keeps nobody from leaving or coming.
            self.apply(self.file.clone(), Misfits::Told).await?;
        }
        Ok(changes)
    }

    async fn put(
        &mut self,
        settings: Settings,
        file: &Settings,
        misfits: Misfits,
    ) -> Result<(), StartError> {
        let bound = match &self.listening {
            Some(now) if now.address != settings.listen.address => {
                Some(Bound::take(settings.listen.address, &self.ground.own).await?)
            }
            _ => None,
        };
        let auth = auth::build(&settings.auth)?;
        let plugins = self.plugins.changed(&settings).await?;
        let connectors = match self.connectors(&settings, &plugins, misfits).await {
            Ok(connectors) => connectors,
            Err(error) => {
                plugins.unload_but(&self.plugins);
                return Err(error);
            }
        };
        let before = self.site.load_full();
        let (ground, runtime, trouble) = (&self.ground, &plugins.runtime, &self.trouble);
        let parts = Parts { ground, runtime, trouble, auth, file };
        let site = site(&settings, &connectors, Some(&before), parts);
        self.site.store(Arc::new(site));
        if admits(&self.settings) != admits(&settings) {
            self.ground.sessions.interrupt_streams();
            self.ground.channels.close();
        }
        let old = std::mem::replace(&mut self.connectors, connectors);
        self.take_over(&old);
        self.retire(old, &before);
        std::mem::replace(&mut self.plugins, plugins).unload_but(&self.plugins);
        if let Some(bound) = bound {
            let listening = bound.serve(&settings, self.site.clone());
            if let Some(old) = self.listening.replace(listening) {
                self.ground.tasks.spawn(old.end());
            }
        }
        self.settings = settings;
        Ok(())
    }

    /// The connectors of changed settings: those that nothing changed in are the very same.
    async fn connectors(
        &self,
        settings: &Settings,
        plugins: &Plugins,
        misfits: Misfits,
    ) -> Result<Vec<Running>, StartError> {
        let mut drafts = Vec::new();
        for wanted in &settings.connectors {
            let running = self.connectors.iter().find(|own| own.settings.name == wanted.name);
            if let Some(running) = running.filter(|own| self.is_same(own, wanted, settings)) {
                drafts.push((None, Some(running)));
                continue;
            }
            let known = running.map(|running| &*running.upstreams).unwrap_or_default();
            let upstreams = connectors::upstreams(wanted, known, &self.ground)?;
            drafts.push((Some(Draft::new(wanted, upstreams, plugins).await?), running));
        }
        let new = drafts.iter().filter_map(|(draft, _)| draft.as_ref());
        join_all(new.map(|draft| draft.settle(SETTLE))).await;
        let mut connectors = Vec::new();
        for (draft, running) in drafts {
            match (draft, running) {
                (Some(draft), before) => {
                    connectors.push(draft.finish(before, (settings, misfits), &self.ground).await?);
                }
                (None, Some(running)) => connectors.push(running.clone()),
                (None, None) => {}
            }
        }
        Ok(connectors)
    }

    /// Whether nothing changed for a connector, its plugins included.
    fn is_same(&self, running: &Running, wanted: &ConnectorSettings, settings: &Settings) -> bool {
        let places = wanted.policies.iter().chain([&wanted.router]);
        running.settings == *wanted
            && self.settings.limits.review_max == settings.limits.review_max
            && places
                .map(|place| &place.plugin)
                .all(|name| self.settings.plugin(name) == settings.plugin(name))
    }

    /// Connectors that are new keep their catalogues from now on.
    fn take_over(&self, old: &[Running]) {
        for running in &self.connectors {
            if !old.iter().any(|old| old.is(running)) {
                running.keep(&self.ground);
            }
        }
    }

    /// Ends what is served no more: connectors with their sessions, and upstreams once their calls ended.
    fn retire(&self, old: Vec<Running>, before: &Arc<Site>) {
        let kept: HashMap<_, _> =
            self.connectors.iter().map(|own| (own.settings.name.clone(), own)).collect();
        let sessions = &self.ground.sessions;
        let gone = sessions.take(|session| !kept.contains_key(&session.connector));
        let parted = sessions.take_parties(|party| !kept.contains_key(&party.connector));
        sessions.end_subscriptions(End::Graceful, |name| !kept.contains_key(name));
        let grace = self.settings.limits.shutdown_grace;
        let mut upstreams = Vec::new();
        for old in old {
            let now = kept.get(&old.settings.name);
            if now.is_some_and(|now| now.is(&old)) {
                continue;
            }
            old.retire();
            let still = now.map(|now| &*now.upstreams).unwrap_or_default();
            let before = upstreams.len();
            upstreams.extend(
                old.upstreams.into_iter().filter(|one| !still.iter().any(|own| own.is(one))),
            );
            let ended = upstreams.get(before..).unwrap_or_default();
            let replaced = |one: &RunningUpstream| {
                still.iter().any(|own| own.settings.name == one.settings.name)
            };
            // Streams that listen at a server that is gone end with it.
            if ended.iter().any(replaced) {
                // What was wanted of a server that is replaced is wanted of its successor. Changes of lists are the
                // connector's own, and told on the same stream.
                let name = &old.settings.name;
                sessions.end_subscriptions(End::Replaced, |connector| *connector == **name);
            }
        }
        let before = before.clone();
        self.ground.tasks.spawn(async move {
            chores::end(&before, gone).await;
            chores::part(&before, parted).await;
            drop(before);
            join_all(upstreams.into_iter().map(|upstream| upstream.end(grace))).await;
        });
    }

    /// Lets calls in flight end, then ends everything.
    pub(super) async fn end(mut self) {
        // First, so that nobody is sent here any more.
        self.parents.end().await;
        self.site.load().connectors().for_each(|connector| connector.stop_confirming());
        self.site.load().sessions.close_streams();
        self.site.load().channels.close();
        if let Some(listening) = self.listening.take() {
            listening.end().await;
        }
        tracing::info!("stopping");
        if let Some(ledger) = &self.ground.audit {
            ledger.ends();
        }
        self.ground.stop.cancel();
        chores::farewell(&self.site.load_full(), &self.ground.tasks).await;
        audit::close(self.ground.audit).await;
    }
}

/// Why no upstream can be made of a lease, for its holder: what of this machine it lacks is the operator's.
fn broken(source: &Unusable) -> &'static str {
    match source {
        Unusable::Certificates(_) => {
            "It cannot be used: plugway finds no certificates here by which it could trust an https address."
        }
        Unusable::Url { .. } | Unusable::Header { .. } | Unusable::Program => {
            "It cannot be used: the log of plugway says why."
        }
    }
}

/// Who is let in where: how callers are identified, and the connectors that let others in as well.
fn admits(settings: &Settings) -> (&Auth, Vec<(&Arc<str>, bool)>) {
    let connectors = settings.connectors.iter().map(|one| (&one.name, one.anonymous));
    (&settings.auth, connectors.collect())
}
