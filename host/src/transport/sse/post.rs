//! POST: one message of a client on its channel. What comes of it is told on the stream.

use std::sync::Arc;

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, Uri};
use http_body::Body;

use crate::fault::Fault;
use crate::pipeline::RequestId;
use crate::transport::duplex::Sender;
use crate::transport::post;
use crate::transport::reply::{self, Asked, Reply};
use crate::transport::site::{Endpoint, Site};
use crate::transport::visitor::Visitor;

/// Takes a message.
pub async fn post<B>(
    site: &Arc<Site>,
    endpoint: &Endpoint,
    uri: &Uri,
    head: &HeaderMap,
    body: B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    match take(site, endpoint, uri, head, body).await {
        Ok(()) => reply::empty(false),
        Err(fault) => site.refuse(&fault, Asked::unknown(RequestId::next())),
    }
}

async fn take<B>(
    site: &Arc<Site>,
    endpoint: &Endpoint,
    uri: &Uri,
    head: &HeaderMap,
    body: B,
) -> Result<(), Fault>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error + Send + Sync + 'static,
{
    let visitor = Visitor::identify(site, endpoint, head).await?.asking(head, uri.query());
    let mut query = uri.query().unwrap_or_default().split('&');
    let id = query.find_map(|pair| pair.strip_prefix("sessionId=")).unwrap_or_default();
    let channel = site.channels.find(&visitor, id)?;
    let text = post::message(site, head, body).await?;
    let Visitor { caller, credential, filters, .. } = visitor;
    let host = head.get(HOST).cloned();
    let sender = Sender { site: site.clone(), caller, credential, filters, host };
    channel.client.take(sender, text).await;
    Ok(())
}
