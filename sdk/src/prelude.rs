//! Everything that a plugin usually names.

pub use crate::config::{BadConfig, NoConfig};
pub use crate::hooks::dispatcher::{
    Choice, Dispatcher, Hedge, Learning, Merging, Pick, Settling, Verdict,
};
pub use crate::hooks::explaining::{Explaining, Understood};
pub use crate::hooks::policy::{
    Admission, Admit, Confirmation, Edit, Inbound, Onward, Review, Reviewing,
};
pub use crate::hooks::readiness::Readiness;
pub use crate::hooks::router::{
    Answering, ConnectorView, Entry, Reply, Route, Router, Routing, Shaped, Target, UpstreamView,
};
pub use crate::hooks::transfer::{Destination, Filter, Filtering, Plan, Transfer, Way};
pub use crate::hooks::visibility::{Item, Page, Sight, View, Visibility};
pub use crate::host::{
    announce, call, caller, catalogue, clock, fetch, handles, listing, log, outcome, random,
    reveal, state, transfers, upstreams, workers,
};
pub use crate::plugin::{Info, Plugin};
pub use crate::{Candidate, Failure, Health, Payload, Rejection};
pub use serde::Deserialize;
