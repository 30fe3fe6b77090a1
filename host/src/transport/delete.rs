//! DELETE: the client ends its session.

use http::HeaderMap;

use super::headers;
use super::legacy;
use super::reply::{self, Asked, Reply};
use super::site::{Endpoint, Site};
use super::visitor::Visitor;
use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;

/// Ends the session, and with it the sessions that upstreams keep for it.
pub async fn delete(site: &Site, endpoint: &Endpoint, head: &HeaderMap) -> Reply {
    match end(site, endpoint, head).await {
        Ok(()) => reply::empty(true),
        Err(fault) => site.refuse(&fault, Asked::unknown(RequestId::next())),
    }
}

async fn end(site: &Site, endpoint: &Endpoint, head: &HeaderMap) -> Result<(), Fault> {
    let visitor = Visitor::identify(site, endpoint, head).await?;
    if !head.contains_key(headers::SESSION_ID) {
        let text = "There is nothing to end without a session.";
        return Err(Fault::new(Code::MethodNotAllowed, text));
    }
    let session = legacy::session(site, &visitor, head)?;
    if let Some(session) = site.sessions.remove(session.id) {
        session.end(Some(&endpoint.connector)).await;
    }
    Ok(())
}
