//! `plugway check`: everything that the settings want, tried as far as that goes without serving.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use super::connectors::{self, Draft, Misfits, Running};
use super::error::StartError;
use super::ground::Ground;
use super::plugins::Plugins;
use super::upstreams::{self, Running as RunningUpstream};
use crate::catalogue::{Entry, EntryKind};
use crate::config::{ConnectorSettings, Settings};
use crate::outbound::OwnListeners;
use crate::pipeline::port::{Page, Phase, Policy};

/// How long servers may take to answer, whatever their own time-outs are.
const ANSWERED: Duration = Duration::from_mins(1);
/// How long it may take them to end.
const ENDED: Duration = Duration::from_secs(5);
/// Items that a policy explains at a time.
const PAGE: usize = 10_000;
/// Names that are said of what an entry is about.
const NAMED: usize = 5;

/// Loads what the settings name, as serving would, and says what it found: a line for each plugin, one for each upstream whose
/// address is never dialled, and how policies understood what was written. With `connect` every server is started and read, and
/// what policies say is about what is there.
pub async fn check(settings: &Settings, connect: bool) -> Result<Vec<String>, StartError> {
    let plugins = Plugins::load(settings, &OwnListeners::new()).await?;
    let mut lines = plugins.found(settings);
    lines.extend(upstreams::never_dialled(settings));
    if connect {
        connected(settings, &plugins, &mut lines).await?;
        return Ok(lines);
    }
    for connector in &settings.connectors {
        plugins.router(&connector.name, &connector.router).await?;
        for policy in plugins.policies(connector).await? {
            let page = Page::empty(connector.name.clone());
            understood(&*policy, (&page, false), &mut lines).await;
        }
    }
    Ok(lines)
}

/// The same with servers, which end before this does.
async fn connected(
    settings: &Settings,
    plugins: &Plugins,
    lines: &mut Vec<String>,
) -> Result<(), StartError> {
    let ground = Ground::new(settings, OwnListeners::new())?;
    let mut started = Vec::new();
    let mut result = Ok(());
    for connector in &settings.connectors {
        result = Box::pin(read(connector, settings, plugins, (&ground, &mut started), lines)).await;
        if result.is_err() {
            break;
        }
    }
    join_all(started.into_iter().map(|upstream| upstream.end(Duration::ZERO))).await;
    ground.stop.cancel();
    ground.tasks.close();
    // Who does not end in time ends with the process.
    drop(timeout(ENDED, ground.tasks.wait()).await);
    result
}

async fn read(
    wanted: &ConnectorSettings,
    settings: &Settings,
    plugins: &Plugins,
    (ground, started): (&Ground, &mut Vec<RunningUpstream>),
    lines: &mut Vec<String>,
) -> Result<(), StartError> {
    let upstreams = connectors::upstreams(wanted, &[], ground)?;
    started.extend(upstreams.iter().cloned());
    let draft = Draft::new(wanted, upstreams, plugins).await?;
    draft.settle(ANSWERED).await;
    let running = draft.finish(None, (settings, Misfits::Refused), ground).await?;
    lines.extend(running.upstreams.iter().map(|upstream| reached(&running, upstream)));
    let offered = running.connector.offered_page();
    for policy in &running.connector.policies {
        understood(&**policy, (&offered, true), lines).await;
    }
    Ok(())
}

/// A line for an upstream.
fn reached(running: &Running, upstream: &RunningUpstream) -> String {
    let (connector, name) = (&running.settings.name, &upstream.settings.name);
    let now = upstream.served.upstream.watch().borrow().clone();
    if let (Some(offering), Phase::Connected) = (&now.offering, now.phase) {
        return format!(
            "upstream {connector}/{name} answers: {} tools, {} prompts, {} resources, {} templates",
            offering.tools.len(),
            offering.prompts.len(),
            offering.resources.len(),
            offering.templates.len(),
        );
    }
    let why = now.reason.as_deref().unwrap_or("it does not answer in time");
    format!("warning: upstream {connector}/{name} was not read: {why}")
}

/// What a policy says of an entry, and what of the items it is about.
struct Told {
    entry: String,
    meaning: String,
    count: usize,
    /// The first few.
    names: Vec<Arc<str>>,
}

/// How a policy understood what was written. The page is all that there is, if that is known.
async fn understood(policy: &dyn Policy, (offered, known): (&Page, bool), lines: &mut Vec<String>) {
    let place = format!("policy {} of connector {}", policy.name(), offered.connector);
    match told(policy, offered).await {
        Ok(told) => {
            for Told { entry, meaning, count, names } in told {
                let mut line = format!("{place}: {entry:?} {meaning}");
                if known && count > 0 {
                    let more = if count > names.len() { ", .." } else { "" };
                    line = format!("{line}; {count} here: {}{more}", names.join(", "));
                }
                lines.push(line);
                if known && count == 0 {
                    let nothing = "is about nothing that the servers offer now";
                    lines.push(format!("warning: {place}: {entry:?} {nothing}"));
                }
            }
        }
        Err(why) => lines.push(format!("warning: {place} does not explain itself: {why}")),
    }
}

async fn told(policy: &dyn Policy, offered: &Page) -> Result<Vec<Told>, String> {
    let mut all: Vec<Told> = Vec::new();
    let items = &*offered.entries;
    let pages = items.chunks(PAGE).chain(items.is_empty().then_some(items));
    for (at, entries) in pages.enumerate() {
        let page = Page { entries: entries.to_vec(), ..offered.part() };
        let said = policy.understood(page).await.map_err(|fault| match fault.cause() {
            Some(cause) => cause.to_string(),
            None => fault.public().to_owned(),
        })?;
        let said = said.unwrap_or_default();
        if at == 0 {
            let new = |one: &_| Told::of(one);
            all = said.iter().map(new).collect();
        }
        if said.len() != all.len() {
            return Err("its entries differ from page to page".to_owned());
        }
        for (told, one) in all.iter_mut().zip(said) {
            told.count += one.matches.len();
            let left = NAMED.saturating_sub(told.names.len());
            let matched = one.matches.iter().filter_map(|place| entries.get(*place));
            told.names.extend(matched.map(|(entry, _)| shown(entry)).take(left));
        }
    }
    Ok(all)
}

impl Told {
    fn of(one: &crate::pipeline::port::Understood) -> Self {
        let (entry, meaning) = (one.entry.clone(), one.meaning.clone());
        Self { entry, meaning, count: 0, names: Vec::new() }
    }
}

/// The name of an item; where it is no tool with the word for it.
fn shown(entry: &Entry) -> Arc<str> {
    match entry.kind {
        EntryKind::Tool => entry.key.clone(),
        kind => format!("{} {}", kind.as_str(), entry.key).into(),
    }
}
