//! What a connector says about itself: the results of `initialize` and `server/discover`.

use std::sync::Arc;
use std::time::Instant;

use super::absence;
use super::answer::json_string;
use super::caller::Caller;
use super::connector::Connector;
use super::port::Snapshot;
use super::presence::Presence;
use crate::catalogue::list::MODERN_MEMBERS;
use crate::catalogue::{EntryKind, Sight, View};
use crate::protocol::{Era, Revision};

/// So many servers that are down are named; the others are counted.
const NAMED: usize = 8;

/// JSON text of the result of `initialize`.
pub async fn initialize(connector: &Connector, caller: &Arc<Caller>, revision: Revision) -> String {
    format!(
        r#"{{"protocolVersion":"{}","capabilities":{},"serverInfo":{}{}}}"#,
        revision.as_str(),
        capabilities(connector, Era::Legacy),
        connector.server_info,
        instructions(connector, caller).await,
    )
}

/// JSON text of the result of `server/discover` (2026-07-28).
pub async fn discover(connector: &Connector, caller: &Arc<Caller>) -> String {
    format!(
        r#"{{{MODERN_MEMBERS}"supportedVersions":["{}"],"capabilities":{}{},"_meta":{{"io.modelcontextprotocol/serverInfo":{}}}}}"#,
        Revision::NEWEST.as_str(),
        capabilities(connector, Era::Modern),
        instructions(connector, caller).await,
        connector.server_info,
    )
}

/// What this version of plugway forwards, and an upstream offers or may still bring: a client that does not list a kind at
/// the start would never see those of a server that comes up later.
fn capabilities(connector: &Connector, era: Era) -> String {
    let view = connector.views.whole();
    let entries = view.catalogue().entries();
    let unknown = connector.upstreams.iter().any(|served| served.snapshot().offering.is_none());
    let has =
        |kinds: &[EntryKind]| unknown || entries.iter().any(|entry| kinds.contains(&entry.kind));
    let (mut text, list) = match era {
        Era::Legacy => (String::from(r#"{"logging":{},"#), r#"{"listChanged":true}"#),
        Era::Modern => (String::from("{"), "{}"),
    };
    text.push_str(r#""tools":"#);
    text.push_str(list);
    if has(&[EntryKind::Prompt]) {
        text.push_str(r#","prompts":"#);
        text.push_str(list);
    }
    if has(&[EntryKind::Resource, EntryKind::Template]) {
        text.push_str(r#","resources":"#);
        text.push_str(match era {
            Era::Legacy if unknown || connector.subscribes() => {
                r#"{"subscribe":true,"listChanged":true}"#
            }
            _ => list,
        });
    }
    if connector.completes() {
        text.push_str(r#","completions":{}"#);
    }
    text.push('}');
    text
}

/// The operator's description, and what is down.
async fn instructions(connector: &Connector, caller: &Arc<Caller>) -> String {
    let down = down(connector, caller).await;
    let text = match (&*connector.description, down.as_str()) {
        ("", "") => return String::new(),
        (text, "") | ("", text) => text.to_owned(),
        (description, down) => format!("{description}\n\n{down}"),
    };
    format!(r#","instructions":{}"#, json_string(&text))
}

/// A sentence for each server that is down, as far as the caller may know of the server.
async fn down(connector: &Connector, caller: &Arc<Caller>) -> String {
    let now = Instant::now();
    let snapshots = connector.upstreams.iter().map(|served| (served, served.snapshot()));
    let down: Vec<_> = snapshots
        .filter(|(served, snapshot)| {
            is_down(Presence::of(snapshot, served.absence, now).0, snapshot)
        })
        .collect();
    if down.is_empty() {
        return String::new();
    }
    // Who cannot be judged is told of no server.
    let Ok(view) = connector.view(caller).await else { return String::new() };
    let known = down.iter().filter(|(served, _)| knows(&view, served.upstream.name()));
    let mut sentences: Vec<String> = known
        .map(|(served, snapshot)| absence::sentence(served.upstream.name(), snapshot, now))
        .collect();
    let others = sentences.len().saturating_sub(NAMED);
    sentences.truncate(NAMED);
    if others > 0 {
        sentences.push(format!("{others} more servers are away."));
    }
    sentences.join(" ")
}

fn is_down(presence: Presence, snapshot: &Snapshot) -> bool {
    match presence {
        Presence::Away => true,
        // A server that has not had its first attempt yet is starting, not down.
        Presence::Unknown => snapshot.was_tried(),
        Presence::Listed => false,
    }
}

/// Whether a caller may know that there is such a server: nothing is hidden from it, or it sees something of the server.
pub(super) fn knows(view: &View, upstream: &str) -> bool {
    let catalogue = view.catalogue();
    !view.is_filtered()
        || catalogue.entries().iter().zip(0..).any(|(entry, place)| {
            catalogue.upstream_of(entry).is_some_and(|name| **name == *upstream)
                && view.sight(place) == Sight::Shown
        })
}
