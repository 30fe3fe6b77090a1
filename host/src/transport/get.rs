//! GET: the stream of a legacy session for what belongs to no request, or the rest of a stream that broke off.

use std::sync::Arc;

use http::HeaderMap;

use super::reply::{Asked, Reply};
use super::site::{Endpoint, Site};
use super::visitor::Visitor;
use super::{headers, legacy, resume};
use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;
use crate::session::EventId;

/// Opens the stream.
pub async fn get(site: &Arc<Site>, endpoint: &Endpoint, head: &HeaderMap) -> Reply {
    open(site, endpoint, head)
        .await
        .unwrap_or_else(|fault| site.refuse(&fault, Asked::unknown(RequestId::next())))
}

async fn open(site: &Arc<Site>, endpoint: &Endpoint, head: &HeaderMap) -> Result<Reply, Fault> {
    let visitor = Visitor::identify(site, endpoint, head).await?;
    headers::check_upgrade(head)?;
    if !head.contains_key(headers::SESSION_ID) {
        // The modern era has no such stream, and a client that probes takes 405 for exactly that.
        let text = "There is no stream without a session.";
        return Err(Fault::new(Code::MethodNotAllowed, text));
    }
    headers::check_accept(head, &["text/event-stream"])?;
    let session = legacy::session(site, &visitor, head)?;
    let last = headers::get(head, &headers::LAST_EVENT_ID)?.filter(|id| !id.is_empty());
    match last.map(|id| EventId::parse(id).ok_or_else(resume::unknown)).transpose()? {
        Some(id) if id.stream != EventId::OWN => resume::resumed(site, &session, id),
        own => {
            let about = (&session, &*endpoint.connector);
            resume::own(site, about, visitor.credential, own.map(|id| id.position))
        }
    }
}
