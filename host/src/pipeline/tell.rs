//! Notifications of clients of the modern era. Those that plugway knows belong to a request and end here; of all others every
//! server hears that the client may know of, as with sessions.

use futures_util::future::join_all;

use super::connector::Connector;
use super::forward::ASKED;
use super::handshake::knows;
use super::port::{Order, Phase};
use super::request::Request;
use crate::fault::Fault;
use crate::protocol::Method;

/// Passes a notification on, and returns once the servers took it or had their time.
pub async fn tell(connector: &Connector, request: Request) -> Result<(), Fault> {
    // There are no sessions in this era, and no requests of servers; a request is given up with its stream, or where it was
    // sent over pipes.
    if let Method::Initialized | Method::Cancelled | Method::Progress = request.message.method() {
        return Ok(());
    }
    let view = request.view(connector).await?;
    let known = connector.upstreams.iter().filter(|served| {
        served.snapshot().phase == Phase::Connected && knows(&view, served.upstream.name())
    });
    let Request { party, message, passed, credential, .. } = request;
    let order = Order { party, message, name: None, headers: passed, credential };
    join_all(known.take(ASKED).map(|served| served.upstream.tell(order.clone()))).await;
    Ok(())
}
