//! What the router says of a call: of an entry that it did not fix to a server, or whose calls it judges.

use std::sync::Arc;

use super::call::CallContext;
use super::exchange::{Call, Destination, refused};
use super::local;
use super::port::{Answer, Reply, Routing};
use crate::catalogue::{Sight, Target};
use crate::fault::{Code, Fault};

/// What becomes of a call.
pub(super) enum Course {
    /// It goes to a server.
    Forward(Destination),
    /// The router answers it.
    Answer,
}

impl Call<'_> {
    /// Where an entry that is fixed to a server leads.
    pub(super) fn own_target(&self) -> Result<Destination, Fault> {
        self.fixed().ok_or_else(|| Fault::new(Code::Internal, "This call has no target."))
    }

    /// The server of a guarded entry and its own name for the thing, where the router judges this call.
    pub(super) fn guard(&self) -> Option<(usize, &Arc<str>)> {
        match &self.entry.target {
            Target::Fixed { upstream, name, guarded: true } if !self.unguarded => {
                Some((*upstream, name))
            }
            _ => None,
        }
    }

    /// Asks the router about the call.
    pub(super) async fn route(&self, context: &Arc<CallContext>) -> Result<Course, Fault> {
        let router = &self.connector.router;
        match router.route(context.clone()).await? {
            Routing::Reject(rejection) => Err(refused(router.name(), rejection)),
            Routing::Answer => Ok(Course::Answer),
            Routing::Forward(upstream, name) => {
                let place = self.connector.place_of(&upstream);
                let guard = self.guard();
                if guard.is_some_and(|(own, known)| place == Some(own) && **known == *name) {
                    return self.own_target().map(Course::Forward);
                }
                let place = place.filter(|place| guard.is_none() && self.may_reach(*place, &name));
                let Some(place) = place else {
                    let reason = format!(
                        "route named {upstream:?} {name:?}, which the caller may not reach"
                    );
                    return Err(Fault::new(Code::PluginInvalid, local::NO_DECISION).because(reason));
                };
                Ok(Course::Forward(Destination { upstream: place, name: Some(name.into()) }))
            }
        }
    }

    /// A dynamic entry leads to nothing that is hidden from the caller under its own name.
    fn may_reach(&self, place: usize, own_name: &str) -> bool {
        let entries = self.view.catalogue().entries();
        !entries.iter().zip(0..).any(|(entry, at)| {
            let same = matches!(&entry.target, Target::Fixed { upstream, name, .. }
                if *upstream == place && **name == *own_name && entry.kind == self.entry.kind);
            same && self.view.sight(at) == Sight::Hidden
        })
    }

    /// The answer of the router, or its refusal.
    pub(super) async fn answer(&self, context: &Arc<CallContext>) -> Result<Answer, Fault> {
        let router = &self.connector.router;
        match router.answer(context.clone()).await? {
            Reply::Reject(rejection) => Err(refused(router.name(), rejection)),
            Reply::Answer(result) => local::answered(&self.request, &result),
        }
    }
}
