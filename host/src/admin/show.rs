//! What an operator sees.

use std::time::Instant;

use serde_json::{Value, json};

use super::operations::Operations;
use crate::fault::{Code, Fault};
use crate::pipeline::Connector;
use crate::pipeline::port::{Offering, Snapshot, Upstream};
use crate::protocol::Era;
use crate::session::Listed;
use crate::transport::Site;

/// Sessions in one answer, where nobody says how many.
const PAGE: usize = 100;
/// Sessions in one answer at most.
const LONGEST_PAGE: usize = 1_000;

/// Tools of one upstream that are named as left out.
const LEFT_OUT: usize = 100;

/// The connectors in the order of their names.
pub(super) fn connectors(site: &Site) -> Vec<&Connector> {
    let mut all: Vec<&Connector> = site.connectors().map(|connector| &**connector).collect();
    all.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    all
}

/// Every upstream of every connector.
pub(super) fn upstreams(site: &Site, operations: &dyn Operations) -> Value {
    let all = connectors(site).into_iter().flat_map(|connector| {
        let served = connector.upstreams.iter();
        served.map(|served| {
            let holder = operations.holder(&connector.name, served.upstream.name());
            let mut shown = upstream(&connector.name, &*served.upstream);
            if let Some(shown) = shown.as_object_mut() {
                let origin = if holder.is_some() { "lease" } else { "file" };
                shown.insert("origin".to_owned(), origin.into());
                shown.insert("holder".to_owned(), holder.as_deref().into());
            }
            shown
        })
    });
    json!({ "upstreams": all.collect::<Vec<_>>() })
}

fn upstream(connector: &str, upstream: &dyn Upstream) -> Value {
    let snapshot = upstream.watch().borrow().clone();
    let numbers = upstream.numbers();
    let mut shown = state(connector, upstream, &snapshot);
    let offering = snapshot.offering.as_ref().map(|offering| {
        json!({
            "server": &*offering.server_name,
            "revision": offering.revision.map(crate::protocol::Revision::as_str),
            "tools": offering.tools.len(), "prompts": offering.prompts.len(),
            "resources": offering.resources.len(), "templates": offering.templates.len(),
            "left_out": left_out(offering),
        })
    });
    let numbers = json!({
        "sessions": numbers.sessions, "children": numbers.children,
        "in_flight": numbers.in_flight, "catalogues_read": numbers.catalogues_read,
        "streams": {
            "opened": numbers.streams_opened, "active": numbers.streams_active,
            "closed": numbers.streams_closed, "unsupported": numbers.streams_unsupported,
        },
    });
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("offering".to_owned(), offering.unwrap_or_default());
        shown.insert("numbers".to_owned(), numbers);
    }
    shown
}

/// Tools of the server that no client is shown, and why; the first ones of many.
fn left_out(offering: &Offering) -> Vec<Value> {
    let tools = offering.left_out.iter().take(LEFT_OUT);
    tools.map(|one| json!({ "tool": &*one.tool, "reason": &*one.reason })).collect()
}

fn state(connector: &str, upstream: &dyn Upstream, snapshot: &Snapshot) -> Value {
    let next = snapshot.next_attempt.map(|at| at.saturating_duration_since(Instant::now()));
    json!({
        "connector": connector, "name": &**upstream.name(), "kind": upstream.kind(),
        "phase": snapshot.phase.as_str(),
        "disabled": snapshot.disabled,
        "since_seconds": snapshot.since.elapsed().as_secs(),
        "attempt": snapshot.attempt,
        "next_attempt_seconds": next.map(|next| next.as_secs_f64()),
        "reason": snapshot.reason.as_deref(),
    })
}

/// Every worker. An upstream has one, which carries its name.
pub(super) fn workers(site: &Site) -> Value {
    let all = connectors(site).into_iter().flat_map(|connector| {
        connector.upstreams.iter().map(|served| {
            let upstream = &served.upstream;
            let (snapshot, numbers) = (upstream.watch().borrow().clone(), upstream.numbers());
            json!({
                "connector": &*connector.name, "upstream": &**upstream.name(),
                "worker": &**upstream.name(), "phase": snapshot.phase.as_str(),
                "sessions": numbers.sessions, "children": numbers.children,
                "in_flight": numbers.in_flight,
            })
        })
    });
    json!({ "workers": all.collect::<Vec<_>>() })
}

/// A page of sessions: `limit=N` and `after=TAG` choose it, and `next` begins the one behind it.
pub(super) fn sessions(site: &Site, query: Option<&str>) -> Result<Value, Fault> {
    let (mut limit, mut after) = (PAGE, "");
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("limit", number)) => {
                let number =
                    number.parse().ok().filter(|number| (1..=LONGEST_PAGE).contains(number));
                limit = number.ok_or_else(|| {
                    let text = format!("The limit is a number between 1 and {LONGEST_PAGE}.");
                    Fault::new(Code::InvalidParams, text)
                })?;
            }
            Some(("after", tag)) => after = tag,
            _ => {
                let text = "The query takes limit and after.";
                return Err(Fault::new(Code::InvalidParams, text));
            }
        }
    }
    let mut all = site.sessions.list(after, limit + 1);
    let more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| more).map(|last| last.tag.to_string());
    let total = site.sessions.len() + site.sessions.parties();
    let shown: Vec<Value> = all.iter().map(session).collect();
    Ok(json!({ "sessions": shown, "total": total, "next": next }))
}

fn session(listed: &Listed) -> Value {
    json!({
        "tag": &*listed.tag,
        "era": match listed.era { Era::Legacy => "legacy", Era::Modern => "modern" },
        "connector": &*listed.connector, "caller": &*listed.caller,
        "age_seconds": listed.age.as_secs_f64(), "idle_seconds": listed.idle.as_secs_f64(),
        "in_flight": listed.in_flight,
    })
}
