//! GET: opens a channel.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::header::HOST;
use http::request::Parts;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::MESSAGES;
use super::channels::Channel;
use crate::fault::Fault;
use crate::pipeline::RequestId;
use crate::pipeline::port::Chunks;
use crate::session::SessionId;
use crate::transport::duplex::{Client, Output, Sender, Start};
use crate::transport::headers;
use crate::transport::reply::{self, Asked, Reply};
use crate::transport::site::{Endpoint, Site};
use crate::transport::stream::Events;
use crate::transport::visitor::Visitor;

/// Opens the stream of a new channel. `base` is the path of the connector.
pub async fn get(site: &Arc<Site>, endpoint: &Endpoint, base: &str, request: &Parts) -> Reply {
    open(site, endpoint, base, request)
        .await
        .unwrap_or_else(|fault| site.refuse(&fault, Asked::unknown(RequestId::next())))
}

async fn open(
    site: &Arc<Site>,
    endpoint: &Endpoint,
    base: &str,
    request: &Parts,
) -> Result<Reply, Fault> {
    let head = &request.headers;
    let Visitor { caller, credential, .. } = Visitor::identify(site, endpoint, head).await?;
    headers::check_upgrade(head)?;
    headers::check_accept(head, &["text/event-stream"])?;
    let host = head.get(HOST).cloned();
    // Each message brings its own.
    let sender = Sender { site: site.clone(), caller, credential, filters: None, host };
    let (output, queue) = Output::new();
    let (quit, connector) = (CancellationToken::new(), endpoint.connector.name.clone());
    let client = Client::new(connector, &sender, Start::settled(), output.clone(), quit.clone());
    let client = Arc::new(client);
    let channel = Channel::new(client.clone(), sender.caller.clone(), quit.clone());
    let id = site.channels.enter(Arc::new(channel))?;
    let kept = sender.clone();
    client.tasks.clone().spawn(async move {
        output.closed().await;
        end(&kept.site, &client, id).await;
    });
    let messages = Events::new(messages(sender, queue, quit), site.bounds.keep_alive, None);
    // What a client says in the URL of its stream counts for its messages, which go to another one.
    let kept = endpoint.connector.repeated(request.uri.query());
    let named = format!("event: endpoint\ndata: {base}{MESSAGES}?sessionId={id}{kept}\n\n");
    let named = stream::iter([Ok(Bytes::from(named))]);
    Ok(reply::event_stream(Box::pin(named.chain(messages))))
}

/// The messages as long as the channel is open and its client is who it was. Whoever reads no more drops the queue.
fn messages(sender: Sender, queue: mpsc::Receiver<Bytes>, quit: CancellationToken) -> Chunks {
    Box::pin(stream::unfold((sender, queue, quit), |(sender, mut queue, quit)| async move {
        let text = quit.run_until_cancelled(queue.recv()).await.flatten()?;
        if let Some(auth) = &sender.site.auth {
            auth.authenticate(sender.credential.as_ref()).await.ok()?;
        }
        Some((Ok(text), (sender, queue, quit)))
    }))
}

/// The client is gone: what it asked for is given up, and its session ends.
async fn end(site: &Site, client: &Client, id: SessionId) {
    site.channels.leave(id);
    client.quit();
    let Some(session) = client.session() else { return };
    if let Some(session) = site.sessions.remove(session.id) {
        session.end(site.connector(&session.connector).map(|connector| &**connector)).await;
    }
}
