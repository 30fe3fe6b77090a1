//! The servers of a connector that a caller may know of.

use std::sync::Arc;

use crate::catalogue::{Catalogue, Sight, View};
use crate::pipeline::connector::{Connector, Served};
use crate::pipeline::port::Snapshot;
use crate::pipeline::viewer::Viewer;

/// The servers that a caller may know of, in the order of the configuration, each as it is now.
pub(super) struct Known<'a> {
    servers: Vec<(&'a Served, Arc<Snapshot>)>,
    /// What clients like the caller's are shown.
    pub(super) catalogue: Arc<Catalogue>,
    /// What policies tell the client about that; empty = nothing.
    pub(super) notice: String,
}

impl<'a> Known<'a> {
    /// Who cannot be judged knows of no server. What a server says to clients like the caller's counts, and to the caller.
    pub(super) async fn of(connector: &'a Connector, viewer: Viewer<'_>) -> Self {
        let Ok(view) = connector.view(viewer).await else {
            let catalogue = connector.views.whole().catalogue().clone();
            return Self { servers: Vec::new(), catalogue, notice: String::new() };
        };
        let built = connector.built(viewer).await;
        let own = |place: usize| built.as_ref()?.offerings.get(place)?.clone();
        let known = connector.upstreams.iter().enumerate();
        let known = known.filter(|(_, served)| knows(&view, served.upstream.name()));
        let servers = known.map(|(place, served)| {
            let mut snapshot = served.snapshot();
            if let Some(own) = own(place) {
                Arc::make_mut(&mut snapshot).offering = Some(own);
            }
            (served, snapshot)
        });
        let (catalogue, notice) = (view.catalogue().clone(), view.notice().to_owned());
        Self { servers: servers.collect(), catalogue, notice }
    }

    pub(super) fn servers(&self) -> impl Iterator<Item = (&'a Served, &Arc<Snapshot>)> {
        self.servers.iter().map(|(served, snapshot)| (*served, snapshot))
    }
}

/// Whether a caller may know that there is such a server: nothing is hidden from it, or it sees something of the server.
pub(in crate::pipeline) fn knows(view: &View, upstream: &str) -> bool {
    has(view, upstream, |sight| sight == Sight::Shown)
}

/// Whether a caller may use something of such a server, be it listed or not.
pub(in crate::pipeline) fn may_use(view: &View, upstream: &str) -> bool {
    has(view, upstream, |sight| sight != Sight::Hidden)
}

/// Whether nothing is hidden from a caller, or it sees something of the server so.
fn has(view: &View, upstream: &str, so: impl Fn(Sight) -> bool) -> bool {
    let catalogue = view.catalogue();
    !view.is_filtered()
        || catalogue.entries().iter().zip(0..).any(|(entry, place)| {
            // A function is reached by a tool: alone it is nothing that a caller has of a server.
            entry.kind.is_listed()
                && catalogue.upstream_of(entry).is_some_and(|name| **name == *upstream)
                && so(view.sight(place))
        })
}
