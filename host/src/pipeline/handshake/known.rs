//! The servers of a connector that a caller may know of.

use std::sync::Arc;

use crate::catalogue::{Sight, View};
use crate::pipeline::caller::Caller;
use crate::pipeline::connector::{Connector, Served};
use crate::pipeline::port::Snapshot;

/// The servers that a caller may know of, in the order of the configuration, each as it is now.
pub(super) struct Known<'a>(Vec<(&'a Served, Arc<Snapshot>)>);

impl<'a> Known<'a> {
    /// Who cannot be judged knows of no server.
    pub(super) async fn of(connector: &'a Connector, caller: &Arc<Caller>) -> Self {
        let Ok(view) = connector.view(caller).await else { return Self(Vec::new()) };
        let known =
            connector.upstreams.iter().filter(|served| knows(&view, served.upstream.name()));
        Self(known.map(|served| (served, served.snapshot())).collect())
    }

    pub(super) fn servers(&self) -> impl Iterator<Item = (&'a Served, &Arc<Snapshot>)> {
        self.0.iter().map(|(served, snapshot)| (*served, snapshot))
    }
}

/// Whether a caller may know that there is such a server: nothing is hidden from it, or it sees something of the server.
pub(in crate::pipeline) fn knows(view: &View, upstream: &str) -> bool {
    let catalogue = view.catalogue();
    !view.is_filtered()
        || catalogue.entries().iter().zip(0..).any(|(entry, place)| {
            catalogue.upstream_of(entry).is_some_and(|name| **name == *upstream)
                && view.sight(place) == Sight::Shown
        })
}
