//! The open channels, found by the id that the client posts to.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use tokio_util::sync::CancellationToken;

use crate::fault::{Code, Fault};
use crate::pipeline::Caller;
use crate::session::SessionId;
use crate::transport::duplex::Client;
use crate::transport::visitor::Visitor;

/// Channels at once: each holds a connection.
const MAX_CHANNELS: usize = 4_096;

/// The open channels.
#[derive(Debug, Default)]
pub struct Channels(DashMap<SessionId, Arc<Channel>>);

/// One channel.
pub(super) struct Channel {
    pub(super) client: Arc<Client>,
    /// Who opened it; none = nobody in particular.
    caller: Option<Arc<Caller>>,
    /// Ends the stream, and with it the channel.
    quit: CancellationToken,
}

impl Channel {
    pub(super) fn new(
        client: Arc<Client>,
        caller: Option<Arc<Caller>>,
        quit: CancellationToken,
    ) -> Self {
        Self { client, caller, quit }
    }
}

impl Channels {
    /// Enters a channel.
    pub(super) fn enter(&self, channel: Arc<Channel>) -> Result<SessionId, Fault> {
        if self.0.len() >= MAX_CHANNELS {
            let text = format!("This server has {MAX_CHANNELS} streams open: try again later.");
            return Err(Fault::new(Code::Overloaded, text).retry_after(Duration::from_secs(5)));
        }
        let id = SessionId::random()?;
        self.0.insert(id, channel);
        Ok(id)
    }

    /// The channel of this id, if it is one of this connector and of this caller. Everything else is the same answer.
    pub(super) fn find(&self, visitor: &Visitor<'_>, id: &str) -> Result<Arc<Channel>, Fault> {
        let found = SessionId::parse(id).and_then(|id| self.0.get(&id).map(|found| found.clone()));
        let caller = visitor.caller.as_ref().map(|caller| &caller.id);
        found
            .filter(|channel| {
                channel.client.serves(&visitor.endpoint.connector.name)
                    && channel.caller.as_ref().map(|caller| &caller.id) == caller
            })
            .ok_or_else(|| {
                let text = "Unknown or closed stream: open another one.";
                Fault::new(Code::SessionUnknown, text)
            })
    }

    /// Takes a channel out.
    pub(super) fn leave(&self, id: SessionId) {
        self.0.remove(&id);
    }

    /// Ends every channel.
    pub fn close(&self) {
        for channel in &self.0 {
            channel.quit.cancel();
        }
    }
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}
