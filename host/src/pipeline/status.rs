//! The state of a connector's servers as JSON: for its status tool, for `/health` and for `/ready`. And which of their tools
//! the router judges.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::connector::{Connector, Served};
use super::handshake::knows;
use super::presence::Presence;
use super::{moment, port::Phase};
use crate::catalogue::{EntryKind, Sight, Target, View};

/// So many tools are named in all, the same number of each server; the others are counted. The answer stays below what a
/// plugin may write.
const TOOLS: usize = 10_000;

/// The attributes `connector-status` and `guarded-tools` of a call: computed when a plugin asks for them.
#[derive(Default)]
pub struct LiveStatus {
    connector: Option<Arc<Connector>>,
    text: OnceLock<String>,
    guarded: OnceLock<String>,
}

impl LiveStatus {
    /// The status of a connector.
    pub(super) fn of(connector: &Arc<Connector>) -> Self {
        Self { connector: Some(connector.clone()), ..Self::default() }
    }

    /// JSON text of what a caller with this view may know; none where there is no connector.
    pub(super) fn text(&self, view: &View) -> Option<&str> {
        let connector = self.connector.as_ref()?;
        Some(self.text.get_or_init(|| report(connector, view).to_string()))
    }

    /// Whether the server of that name runs code.
    pub(super) fn runs_code(&self, view: &View, upstream: &str) -> bool {
        let connector = self.connector.as_ref();
        connector.is_some_and(|connector| connector.runs_code(view.catalogue(), upstream))
    }

    /// JSON text of the tools whose calls the router judges: upstream, and its own name for the tool.
    pub(super) fn guarded(&self, view: &View) -> &str {
        self.guarded.get_or_init(|| Value::from(guarded(view)).to_string())
    }
}

/// Every server that the caller may know of, with the tools that it sees.
fn report(connector: &Connector, view: &View) -> Value {
    let now = Instant::now();
    let named = TOOLS / connector.upstreams.len().max(1);
    let known = connector.upstreams.iter().filter(|served| knows(view, served.upstream.name()));
    let servers = known.map(|served| {
        let name = served.upstream.name();
        let mut server = Map::new();
        server.insert("name".to_owned(), Value::from(&**name));
        server.extend(details(served, now));
        let tools = tools(view, name);
        server.insert("tool_count".to_owned(), tools.len().into());
        server.insert("tools".to_owned(), tools.into_iter().take(named).collect());
        Value::Object(server)
    });
    json!({ "connector": &*connector.name, "servers": servers.collect::<Vec<_>>() })
}

/// Whoever may see them: these names tell the router which server is which.
fn guarded(view: &View) -> Vec<Value> {
    let catalogue = view.catalogue();
    let guarded = catalogue.entries().iter().filter_map(|entry| match &entry.target {
        Target::Fixed { name, guarded: true, .. } if entry.kind == EntryKind::Tool => {
            Some(json!([&**catalogue.upstream_of(entry)?, &**name]))
        }
        _ => None,
    });
    guarded.collect()
}

fn tools<'a>(view: &'a View, upstream: &str) -> Vec<&'a str> {
    let catalogue = view.catalogue();
    let own = catalogue.entries().iter().zip(0..).filter(|(entry, place)| {
        entry.kind == EntryKind::Tool
            && catalogue.upstream_of(entry).is_some_and(|name| **name == *upstream)
            && view.sight(*place) == Sight::Shown
    });
    own.map(|(entry, _)| &*entry.key).collect()
}

/// What may be said of an upstream to everybody who may know of it. Times are whole seconds; `since` is RFC 3339; `reason`
/// is `starting`, `disabled`, or the code of the fault that ended the last attempt.
pub fn details(served: &Served, now: Instant) -> Map<String, Value> {
    let snapshot = served.snapshot();
    let (presence, _) = Presence::of(&snapshot, served.absence, now);
    let past = now.saturating_duration_since(snapshot.since).as_secs();
    let mut said = Map::new();
    let mut say = |key: &str, value: Value| said.insert(key.to_owned(), value);
    say("state", snapshot.phase.as_str().into());
    say("since", moment::of(snapshot.since, now).into());
    say("since_seconds", past.into());
    say("attempt", snapshot.attempt.into());
    if let Some(next) = snapshot.next_attempt.filter(|_| !snapshot.disabled) {
        let wait = next.saturating_duration_since(now);
        say("next_attempt_seconds", moment::seconds_until(wait).into());
    }
    let reason = match (snapshot.disabled, snapshot.phase, snapshot.why) {
        (true, ..) => Some("disabled"),
        (false, Phase::Connected, _) => None,
        (false, _, Some(why)) => Some(why.as_str()),
        (false, _, None) => (snapshot.attempt == 0).then_some("starting"),
    };
    if let Some(reason) = reason {
        say("reason", reason.into());
    }
    say("listed", (presence == Presence::Listed).into());
    said
}

impl std::fmt::Debug for LiveStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveStatus").finish_non_exhaustive()
    }
}
