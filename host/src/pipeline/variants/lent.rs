//! The catalogue of one caller, where servers say what they offer to callers with credentials of their own only
//! (docs/decisions/0026).

use std::sync::Arc;
use std::time::Duration;

use super::build::Built;
use super::kinds::Kind;
use crate::catalogue::View;
use crate::pipeline::connector::Connector;
use crate::pipeline::viewer::Viewer;

/// A caller to whom a server shows nothing is asked for again after so long, or once it comes with another credential.
const AGAIN: Duration = Duration::from_secs(5);
/// So many servers are named to a caller to whom they show nothing.
const NAMED: usize = 3;

impl Connector {
    /// What this caller is shown, and nobody else.
    pub(super) async fn built_for(
        &self,
        viewer: Viewer<'_>,
        lender: Arc<str>,
        everybodys: Arc<View>,
    ) -> Arc<Built> {
        let kind = Kind::lent(lender, viewer.capabilities);
        let (credential, beside) = (viewer.credential(), everybodys.catalogue().generation);
        let (place, is_other) = self.kinds.place_of(&kind, credential, beside);
        let Some(built) = place.get() else {
            return self.fill(&place, (&kind, credential), &everybodys).await;
        };
        let due = built
            .unseen
            .as_ref()
            .is_some_and(|unseen| credential.is_some() && unseen.since.elapsed() >= AGAIN);
        if !is_other && !due {
            return built.clone();
        }
        // Servers are told of the newest credential, and asked where they refused the one before.
        if let Some(kept) = self.kinds.get(&kind.key) {
            self.renew(kept).await;
        }
        let now = self.kinds.get(&kind.key).and_then(|kept| kept.built.get().cloned());
        now.unwrap_or_else(|| built.clone())
    }

    /// Why servers show this caller nothing, one sentence for each of the first of them.
    pub(in crate::pipeline) async fn unseen(&self, viewer: Viewer<'_>) -> Vec<Arc<str>> {
        let everybodys = self.views.whole();
        if !everybodys.catalogue().is_veiled() {
            return Vec::new();
        }
        let mut why = if let Some(lender) = viewer.lender() {
            let built = Box::pin(self.built_for(viewer, lender, everybodys)).await;
            built.unseen.as_ref().map(|unseen| unseen.why.clone()).unwrap_or_default()
        } else {
            let all = self.upstreams.iter();
            all.filter_map(|served| served.snapshot().offering.as_ref()?.veiled.clone()).collect()
        };
        why.truncate(NAMED);
        why
    }
}
