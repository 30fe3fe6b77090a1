//! Tells clients what changed in the lists: settled, rarely, and only what they can see.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use indexmap::IndexMap;
use tokio::sync::watch;

use super::announced::{Bulletin, LISTS};
use super::caller::Caller;
use super::connector::Connector;
use super::filters::Filters;
use super::notice::{Notices, Told};
use super::party::{Outbox, PartyId};
use super::port::{Audience, Listener};
use super::rejudged::Policies;
use super::viewer::Viewer;
use super::views::Judgement;
use crate::catalogue::Sight;

/// A change is told after so long: what changes together is told together.
const SETTLE: Duration = Duration::from_millis(100);
/// Time between two tellings.
const PERIOD: Duration = Duration::from_secs(1);
/// Callers whose policies are asked at once what of a change they may see.
const AT_ONCE: usize = 8;
/// Time for all policies to say what each caller may see of a change; whoever is left over is not told.
const JUDGING: Duration = Duration::from_secs(30);

/// Tells of changes as they come; `changes` carries the audience's mark at each.
pub(super) async fn keep(
    connector: &Connector,
    audience: &dyn Audience,
    mut changes: watch::Receiver<PartyId>,
) {
    while changes.changed().await.is_ok() {
        tokio::time::sleep_until(due(connector.announced.at(), Instant::now()).into()).await;
        let mark = *changes.borrow_and_update();
        let whole = connector.views.whole();
        let kinds = connector.kinds.standings(whole.catalogue().generation);
        let bulletin = connector.announced.renew(whole.catalogue(), kinds);
        let news = (bulletin, connector.former.take());
        let groups = groups(connector, &news, (audience.listeners(&connector.name), mark));
        if !groups.is_empty() {
            connector.announced.told(Instant::now());
            tell(connector, &news, groups).await;
        }
    }
}

/// When a change of this moment is told.
fn due(told: Option<Instant>, now: Instant) -> Instant {
    let settled = now + SETTLE;
    told.map_or(settled, |told| settled.max(told + PERIOD))
}

/// For each list, the place of the news in the bulletin; none where there is nothing new.
type Baselines = [Option<usize>; LISTS.len()];

/// What may be new: in the catalogue, and because these policies do not judge any more.
type News = (Bulletin, Vec<Policies>);

/// Sessions that are told the same.
struct Group {
    caller: Arc<Caller>,
    /// Capabilities of their clients, where the lists may be others by other policies.
    capabilities: Option<Arc<str>>,
    /// Which lists may be.
    rejudged: [bool; LISTS.len()],
    /// What they want to see.
    filters: Option<Arc<Filters>>,
    /// What each of them has loaded.
    loaded: Vec<Arc<str>>,
    baselines: Baselines,
    outboxes: Vec<Arc<dyn Outbox>>,
}

/// What the sessions of a group have in common: rights, what stands for what they want to see, baselines, and what they have
/// loaded; with their capabilities where the lists may be others by other policies.
type Common =
    (Arc<str>, Option<Arc<str>>, Baselines, Vec<Arc<str>>, ([bool; LISTS.len()], Option<Arc<str>>));

/// The sessions that there is something to tell, by what their callers may see and what they listed last.
fn groups(
    connector: &Connector,
    (bulletin, former): &News,
    (listeners, mark): (Vec<Listener>, PartyId),
) -> Vec<Group> {
    let mut groups: IndexMap<Common, Group> = IndexMap::new();
    for listener in listeners {
        // What it listed itself since the last telling counts before what it was told then, if it was there.
        let told = (listener.party.0 < mark.0).then_some(0);
        let own = connector.keys_of(&listener).find_map(|kind| bulletin.own(&kind));
        let seen = listener.outbox.take_seen();
        // Who came since, or listed since, knows what the policies of now show.
        let may_differ = !former.is_empty() && told.is_some();
        let rejudged = seen.map(|(_, last)| may_differ && last < bulletin.current());
        let baselines = seen.map(|(first, last)| {
            let places = match own {
                // Whoever listed what there is now knows it.
                Some(own) if last == own.current => [None; 3],
                // Of the others, one that came only just now hears of a change that it did not see.
                Some(own) => [own.place, None, None],
                None => [bulletin.baseline(last), bulletin.baseline(first), told],
            };
            let mut places = places.into_iter().flatten();
            places.find(|place| bulletin.news(*place).is_some_and(|news| !news.is_empty()))
        });
        if baselines.iter().any(Option::is_some) || rejudged.contains(&true) {
            let mut loaded = listener.loads.map(|loads| loads.names()).unwrap_or_default();
            loaded.sort_unstable();
            let (caller, filters) = (listener.caller, listener.filters);
            let wants = filters.as_ref().map(|filters| filters.digest().clone());
            let capabilities = listener.capabilities.filter(|_| rejudged.contains(&true));
            let judged = (rejudged, capabilities.clone());
            let key = (caller.rights.clone(), wants, baselines, loaded.clone(), judged);
            let outboxes = Vec::new();
            let group =
                || Group { caller, capabilities, rejudged, filters, loaded, baselines, outboxes };
            groups.entry(key).or_insert_with(group).outboxes.push(listener.outbox);
        }
    }
    groups.into_values().collect()
}

async fn tell(connector: &Connector, news: &News, groups: Vec<Group>) {
    tracing::debug!(
        connector = %connector.name,
        sessions = groups.iter().map(|group| group.outboxes.len()).sum::<usize>(),
        "telling clients what changed"
    );
    let telling = stream::iter(groups)
        .for_each_concurrent(AT_ONCE, |group| tell_group(connector, news, group));
    if tokio::time::timeout(JUDGING, telling).await.is_err() {
        tracing::warn!(
            connector = %connector.name,
            "policies took too long: some clients were not told of a change"
        );
    }
}

async fn tell_group(connector: &Connector, (bulletin, former): &News, group: Group) {
    let mut judged: Vec<(usize, Vec<Sight>)> = Vec::new();
    let whole = connector.views.whole();
    for place in group.baselines.into_iter().flatten() {
        let Some(news) = bulletin.news(place) else { continue };
        if judged.iter().any(|(known, _)| *known == place) {
            continue;
        }
        // Who cannot be judged is told nothing: a change that is hidden from a caller is no news for it.
        let judgement = connector
            .judge(&group.caller, group.filters.as_ref(), (&news.entries, whole.catalogue()))
            .await;
        let Ok(Judgement { mut sights, .. }) = judgement else { return };
        news.narrow(&mut sights, &group.loaded);
        judged.push((place, sights));
    }
    let told = group.baselines.map(|place| {
        let (place, sights) = judged.iter().find(|(known, _)| Some(*known) == place)?;
        Some(Told { news: bulletin.news(*place)?, sights })
    });
    let mut rejudged = group.rejudged;
    if rejudged.contains(&true) {
        let viewer = Viewer::unasked(&group.caller, group.capabilities.as_ref());
        let viewer = viewer.filtered(group.filters.as_ref());
        let Ok(differ) = connector.rejudged(viewer, &group.loaded, former).await else { return };
        rejudged.iter_mut().zip(differ).for_each(|(may, differs)| *may &= differs);
    }
    let notices = Notices::of(connector, told, rejudged);
    for outbox in group.outboxes {
        notices.offer(&*outbox, &connector.announced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Shaped, ShapedEntry, ShapedTarget};
    use crate::pipeline::announced::{Announced, News};

    fn with_function(generation: u32, name: &str) -> Arc<Catalogue> {
        let entry = |kind: &str, name: &str| ShapedEntry {
            kind: kind.to_owned(),
            definition: format!(r#"{{"name":"{name}"}}"#),
            target: ShapedTarget::Fixed("a".to_owned(), name.to_owned()),
        };
        let entries = vec![entry("tool", "run"), entry("function", name)];
        let shaped = Shaped { entries, ..Shaped::default() };
        let (made, refused) = Catalogue::compile(generation, vec!["a".into()], shaped);
        assert!(refused.is_empty());
        Arc::new(made)
    }

    #[test]
    fn another_function_is_no_news_of_any_list() {
        let announced = Announced::default();
        announced.renew(&with_function(1, "f"), Vec::new());
        let bulletin = announced.renew(&with_function(2, "g"), Vec::new());
        assert!(bulletin.news(0).is_some_and(News::is_empty));
    }

    #[test]
    fn a_first_change_settles_and_later_ones_wait_for_the_period() {
        let now = Instant::now();
        assert_eq!(due(None, now), now + SETTLE);
        assert_eq!(due(Some(now), now), now + PERIOD);
        assert_eq!(due(Some(now), now + PERIOD), now + PERIOD + SETTLE);
    }
}
