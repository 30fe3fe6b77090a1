//! Who comes to an endpoint.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::headers;
use super::site::{Endpoint, Site};
use crate::auth::refusal;
use crate::fault::Fault;
use crate::pipeline::{Caller, Filters};
use crate::telemetry::audit::{self, Said};

/// An endpoint, and who asks there.
pub(super) struct Visitor<'a> {
    /// What is served.
    pub(super) endpoint: &'a Endpoint,
    /// Who asks; none = nobody in particular, and that is allowed.
    pub(super) caller: Option<Arc<Caller>>,
    /// What the client identified itself with, for upstreams that it is forwarded to.
    pub(super) credential: Option<HeaderValue>,
    /// What the request says about what is to be shown; none = nothing that a policy may read.
    pub(super) filters: Option<Arc<Filters>>,
}

impl<'a> Visitor<'a> {
    /// Establishes the caller before anything else of the request is looked at. A connector may let callers without a
    /// credential in; nobody comes in with a wrong one.
    pub(super) async fn identify(
        site: &Site,
        endpoint: &'a Endpoint,
        head: &HeaderMap,
    ) -> Result<Self, Fault> {
        headers::check_single(head)?;
        let authorization = head.get(AUTHORIZATION);
        let caller = admitted(site, endpoint, authorization).await;
        let caller = caller.map_err(|fault| refused(&endpoint.connector.name, fault))?;
        Ok(Self { endpoint, caller, credential: authorization.map(unshown), filters: None })
    }

    /// The same, with what headers and query say about what is to be shown.
    pub(super) fn asking(self, head: &HeaderMap, query: Option<&str>) -> Self {
        Self { filters: self.endpoint.connector.filters(head, query), ..self }
    }
}

async fn admitted(
    site: &Site,
    endpoint: &Endpoint,
    authorization: Option<&HeaderValue>,
) -> Result<Option<Arc<Caller>>, Fault> {
    let Some(auth) = &site.auth else { return Ok(None) };
    match auth.authenticate(authorization).await? {
        None if !endpoint.anonymous => Err(refusal::missing()),
        caller => Ok(caller),
    }
}

/// Somebody was not let in.
fn refused(connector: &str, fault: Fault) -> Fault {
    let cause = fault.cause().map(ToString::to_string);
    audit::event(
        "authentication",
        &[
            ("connector", Said::Text(connector)),
            ("result", Said::Text("refused")),
            ("fault", Said::Text(fault.code().as_str())),
            ("reason", Said::Text(cause.as_deref().unwrap_or_else(|| fault.public()))),
        ],
    );
    fault.told()
}

/// The value, which no debugging output shows from here on.
fn unshown(value: &HeaderValue) -> HeaderValue {
    let mut value = value.clone();
    value.set_sensitive(true);
    value
}
