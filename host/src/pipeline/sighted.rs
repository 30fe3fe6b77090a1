//! Whether a caller sees one resource that no list has: policies judged the template that its URI fits, or nothing at all.

use std::sync::Arc;

use super::connector::Connector;
use super::viewer::Viewer;
use crate::catalogue::{Entry, EntryKind, Sight, View, spelling};
use crate::fault::Fault;

/// Whether the policies show a caller the resource of this URI, which `entry` serves. They are asked about an entry of the
/// kind resource with the URI, and with what else the URI may be written as: the strictest word counts. Its definition and
/// the name that its server knows are those of the template, where it is one's. A resource of the catalogue was judged
/// already.
pub(super) async fn is_seen(
    connector: &Connector,
    viewer: Viewer<'_>,
    view: &View,
    (entry, uri): (&Arc<Entry>, &str),
) -> Result<bool, Fault> {
    if !connector.hides() || view.catalogue().find(EntryKind::Resource, uri).is_some() {
        return Ok(true);
    }
    let others: Vec<String> = spelling::others(uri).collect();
    if others.iter().any(|other| view.find_uri(other).is_none() && view.hides_uri(other)) {
        return Ok(false);
    }
    let upstream = entry.upstream().and_then(|place| connector.upstream(place));
    let upstream = upstream.map(|upstream| upstream.name().clone());
    let spellings = [uri].into_iter().chain(others.iter().map(String::as_str));
    let judged = spellings.map(|uri| {
        let one = Entry { kind: EntryKind::Resource, key: uri.into(), ..Entry::clone(entry) };
        (Arc::new(one), upstream.clone())
    });
    let judged: Vec<_> = judged.collect();
    let judgement =
        connector.judge(viewer.caller, viewer.filters, (&judged, view.catalogue())).await?;
    Ok(!judgement.sights.contains(&Sight::Hidden))
}
