//! What the pipeline needs from the rooms around it.

mod answer;
mod audience;
mod auditor;
mod authenticator;
mod file;
mod policy;
mod router;
mod state;
mod upstream;

use std::future::Future;
use std::pin::Pin;

pub use answer::{Answer, Ask, AskReply, Body, Chunks, Incoming, Json, Messages, Notification};
pub use audience::{Audience, End, Joined, Listener, Nobody};
pub use auditor::{Auditor, CallEnd, CallRecord, Verdict};
pub use authenticator::Authenticator;
pub use file::{File, FileOrder};
pub use policy::{
    Admission, Confirmation, Edit, Inbound, Outcome, Page, Policy, PolicyHooks, Rejection, Review,
    Sights, Understood,
};
pub use router::{Asker, ConnectorView, Reply, Requester, Room, Router, Routing, UpstreamView};
pub use state::{Charge, Exhausted, LocalState};
pub use upstream::{
    Control, LeftOut, Lender, Numbers, Offering, Order, Phase, Snapshot, Upstream, Variant,
};

/// A boxed future that a port gives.
pub type Promise<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
