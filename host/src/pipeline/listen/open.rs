//! The stream of one client.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream::{self, SelectAll};
use futures_util::{FutureExt as _, StreamExt as _};

use super::acknowledged::acknowledged;
use super::filter::Filter;
use super::lists::ListChanges;
use super::part::{Part, parts};
use crate::fault::{Code, Fault};
use crate::pipeline::answer;
use crate::pipeline::connector::Connector;
use crate::pipeline::port::{Answer, End, Incoming, Joined, Messages, Notification};
use crate::pipeline::request::Request;
use crate::protocol::{Id, Message, Method, subscription};

/// Answers with a stream that begins at once; what is honoured is its first message.
pub(in crate::pipeline) async fn listen(
    connector: &Arc<Connector>,
    request: Request,
) -> Result<Answer, Fault> {
    let filter = Filter::of(&request.message)?;
    let Some(id) = request.message.id().cloned() else {
        return Err(Fault::new(Code::Internal, "A request has an id."));
    };
    let view = request.view(connector).await?;
    let lists = Arc::new(ListChanges::new(filter.lists));
    let joined = {
        let capabilities = request.party.capabilities.clone();
        let audience = &connector.audience;
        audience.join(&connector.name, &request.caller, capabilities, lists.clone())?
    };
    let parts = parts(connector, &view, &filter);
    let opened = async move {
        let opening = parts.into_iter().map(|part: Part| part.open(&request));
        let opened = join_all(opening).await.into_iter().flatten();
        let (honoured, servers): (Vec<_>, Vec<Messages>) = opened.unzip();
        let first = acknowledged(&id, &filter, &honoured);
        let open = Open { id, lists, servers: stream::select_all(servers), joined };
        let later = stream::unfold(Some(open), |open| async {
            let mut open = open?;
            let next = open.next().await?;
            let is_last = matches!(next, Incoming::Response(_));
            Some((Ok(next), (!is_last).then_some(open)))
        });
        stream::once(async { Ok(note(first)) }).chain(later)
    };
    Ok(Answer::messages(opened.flatten_stream()))
}

/// A stream that was acknowledged.
struct Open {
    id: Id,
    lists: Arc<ListChanges>,
    servers: SelectAll<Messages>,
    joined: Joined,
}

impl Open {
    /// The next message; none where the stream breaks off, so that the client opens another one.
    async fn next(&mut self) -> Option<Incoming> {
        loop {
            tokio::select! {
                biased;
                end = self.joined.over() => return match end {
                    End::Graceful => Some(Incoming::Response(self.complete())),
                    End::Abrupt => None,
                },
                text = self.lists.next() => {
                    if let Ok(message) = Message::parse(text) {
                        return Some(note(subscription::tagged(&message, &self.id)));
                    }
                }
                Some(message) = self.servers.next() => match message {
                    Ok(Incoming::Notification(told)) => {
                        if let Some(text) = self.told(told.text) {
                            let upstream = told.upstream;
                            return Some(Incoming::Notification(Notification { upstream, text }));
                        }
                    }
                    // A server that stopped telling falls silent. What else it sends has no place here.
                    Ok(Incoming::Response(_) | Incoming::Ask(_)) => {}
                    // It is not this server any more.
                    Err(_replaced) => return None,
                },
            }
        }
    }

    /// A server's notification as the client gets it, if it has a place in such a stream.
    fn told(&self, text: Bytes) -> Option<Bytes> {
        let message = Message::parse(text).ok()?;
        match message.method() {
            Method::Progress
            | Method::Message
            | Method::Cancelled
            | Method::Acknowledged
            | Method::ToolsListChanged
            | Method::PromptsListChanged
            | Method::ResourcesListChanged => None,
            _ => Some(subscription::tagged(&message, &self.id)),
        }
    }

    fn complete(&self) -> Bytes {
        let tag = subscription::member(&self.id);
        let result = format!(r#"{{"resultType":"complete","_meta":{{{tag}}}}}"#);
        answer::result_text(&self.id, result.as_bytes())
    }
}

/// A notification of plugway's own.
fn note(text: Bytes) -> Incoming {
    Incoming::Notification(Notification { upstream: "plugway".into(), text })
}
