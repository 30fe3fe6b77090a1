//! Lists that are other ones because other policies judge: after a reload the policies before it say what their callers saw.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::announced::{LISTS, list_of};
use super::connector::Connector;
use super::port::Policy;
use super::viewer::Viewer;
use super::views::Judgement;
use crate::catalogue::Sight;
use crate::fault::Fault;

/// The policies of a connector, in order.
pub(super) type Policies = Vec<Arc<dyn Policy>>;

/// Reloads between two tellings whose policies are remembered: a client may have listed what any of them showed. Of more, the
/// first, and those that came last, are.
const FORMER: usize = 4;

/// The policies by which clients were shown lists that they were not told of since. Shared by all connectors of a name, one
/// after the other.
#[derive(Default)]
pub(super) struct Former(Mutex<Vec<Policies>>);

impl Former {
    /// These judge no more from now on, but those.
    pub(super) fn replaced(&self, before: &Policies, now: &Policies) {
        if judging(before) == judging(now) {
            return;
        }
        let mut all = self.lock();
        if all.len() >= FORMER {
            all.remove(1);
        }
        all.push(before.clone());
    }

    /// All of them; they count as told.
    pub(super) fn take(&self) -> Vec<Policies> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Policies>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stands for the judgement of policies: their names and revisions.
fn judging(policies: &Policies) -> Vec<(String, Arc<str>)> {
    let judging = policies.iter().filter(|policy| policy.hooks().visibility);
    judging.map(|policy| (policy.name().to_owned(), policy.revision())).collect()
}

impl Connector {
    /// For each of the [`LISTS`], whether this caller, who loaded these tools, sees another one now than by any of those that
    /// judged before.
    pub(super) async fn rejudged(
        &self,
        viewer: Viewer<'_>,
        loaded: &[Arc<str>],
        former: &[Policies],
    ) -> Result<[bool; LISTS.len()], Fault> {
        let mut differ = [false; LISTS.len()];
        let view = self.view(viewer).await?;
        let catalogue = view.catalogue();
        let listed = catalogue.entries().iter().zip(0..).filter(|(entry, place)| {
            let is_listed = entry.kind.is_listed() && catalogue.lists(entry);
            is_listed && (catalogue.is_resident(*place) || loaded.contains(&entry.key))
        });
        let (entries, now): (Vec<_>, Vec<_>) = listed
            .map(|(entry, place)| {
                let judged = (entry.clone(), catalogue.upstream_of(entry).cloned());
                (judged, view.sight(place) == Sight::Shown)
            })
            .unzip();
        for policies in former {
            let before = self
                .judge_by(policies, (viewer.caller, viewer.filters), (&entries, catalogue))
                .await;
            // Who could not be judged saw nothing.
            let before = before.map(|Judgement { sights, .. }| sights).unwrap_or_default();
            for (at, ((entry, _), now)) in entries.iter().zip(&now).enumerate() {
                let was = before.get(at) == Some(&Sight::Shown);
                if let Some(differs) = differ.get_mut(list_of(entry.kind)) {
                    *differs |= was != *now;
                }
            }
        }
        Ok(differ)
    }
}

impl fmt::Debug for Former {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Former").field(&self.lock().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::port::{Admission, Outcome, Page, PolicyHooks, Promise, Review, Sights};
    use crate::pipeline::testing::nothing;
    use crate::pipeline::{CallContext, Caller};

    struct Revised(&'static str, bool);

    impl Policy for Revised {
        fn name(&self) -> &'static str {
            "revised"
        }
        fn hooks(&self) -> PolicyHooks {
            PolicyHooks { visibility: self.1, ..PolicyHooks::default() }
        }
        fn generation(&self) -> u64 {
            0
        }
        fn revision(&self) -> Arc<str> {
            self.0.into()
        }
        fn visible(&self, _: Arc<Caller>, _: Page) -> Promise<'_, Result<Sights, Fault>> {
            nothing()
        }
        fn admit(&self, _: Arc<CallContext>) -> Promise<'_, Result<Admission, Fault>> {
            nothing()
        }
        fn review(&self, _: Arc<CallContext>, _: Outcome) -> Promise<'_, Result<Review, Fault>> {
            nothing()
        }
        fn ready(&self) -> Promise<'_, Result<String, String>> {
            Box::pin(async { Ok(String::new()) })
        }
    }

    fn one(revision: &'static str, visibility: bool) -> Policies {
        vec![Arc::new(Revised(revision, visibility))]
    }

    fn kept(former: &Former) -> Vec<String> {
        let all = former.take();
        all.iter().flatten().map(|policy| policy.revision().to_string()).collect()
    }

    #[test]
    fn only_policies_that_judge_lists_and_are_others_now_are_remembered() {
        let former = Former::default();
        former.replaced(&one("a", true), &one("a", true));
        former.replaced(&one("a", false), &one("b", false));
        assert!(kept(&former).is_empty());
        former.replaced(&one("a", true), &one("b", true));
        former.replaced(&one("b", true), &Vec::new());
        assert_eq!(kept(&former), ["a", "b"]);
        assert!(kept(&former).is_empty(), "they are told once");
    }

    #[test]
    fn of_many_reloads_the_first_and_the_last_are_remembered() {
        let former = Former::default();
        for revision in ["a", "b", "c", "d", "e", "f"] {
            former.replaced(&one(revision, true), &one("", true));
        }
        assert_eq!(kept(&former), ["a", "d", "e", "f"]);
    }
}
