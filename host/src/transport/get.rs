//! GET: the stream of a legacy session for what belongs to no request.

use std::sync::Arc;

use futures_util::stream;
use http::HeaderMap;

use super::reply::{self, Asked, Reply};
use super::site::{Endpoint, Site};
use super::stream::Events;
use super::visitor::Visitor;
use super::{handover, headers, legacy};
use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;
use crate::protocol::header as mcp;

/// Opens the stream. A session has one: a newer one takes over.
pub async fn get(site: &Arc<Site>, endpoint: &Endpoint, head: &HeaderMap) -> Reply {
    open(site, endpoint, head)
        .await
        .unwrap_or_else(|fault| site.refuse(&fault, Asked::unknown(RequestId::next())))
}

async fn open(site: &Arc<Site>, endpoint: &Endpoint, head: &HeaderMap) -> Result<Reply, Fault> {
    let visitor = Visitor::identify(site, endpoint, head).await?;
    if !head.contains_key(mcp::SESSION_ID) {
        // The modern era has no such stream, and a client that probes takes 405 for exactly that.
        let text = "There is no stream without a session.";
        return Err(Fault::new(Code::MethodNotAllowed, text));
    }
    headers::check_accept(head, &["text/event-stream"])?;
    let session = legacy::session(site, &visitor, head)?;
    let start = (session.outbox.listen(), session, site.clone(), visitor.credential);
    let messages = stream::unfold(start, |(listener, session, site, credential)| async move {
        loop {
            let waiting = listener.next().await?;
            // A token may have ended since the stream was opened. Whether it is still listed is asked anew with each
            // configuration: streams end then.
            if let Some(auth) = &site.auth {
                auth.authenticate(credential.as_ref()).await.ok()?;
            }
            if let Some(text) = handover::waiting(&session, waiting) {
                return Some((Ok(text), (listener, session, site, credential)));
            }
        }
    });
    Ok(reply::events(Events::new(Box::pin(messages), site.bounds.keep_alive, None)))
}
