//! The stream of one client.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream::{self, BoxStream, SelectAll};
use futures_util::{FutureExt as _, StreamExt as _};

use super::acknowledged::acknowledged;
use super::filter::Filter;
use super::lasting::Lasting;
use super::lists::ListChanges;
use super::part::{Part, parts};
use super::resources;
use crate::fault::{Code, Fault};
use crate::pipeline::connector::{Connector, Standing};
use crate::pipeline::inbound::{self, Toward};
use crate::pipeline::party::Party;
use crate::pipeline::port::{Answer, End, Incoming, Joined, Messages, Notification, Upstream};
use crate::pipeline::request::Request;
use crate::pipeline::translate::allowed;
use crate::pipeline::{answer, feature};
use crate::protocol::feature::TASKS;
use crate::protocol::{Era, Id, Message, Method, subscription};

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
    if !filter.tasks.is_empty() && feature::is_offered(connector, &view, &TASKS, Era::Modern) {
        feature::check_declared(&request, &TASKS)?;
    }
    let lists = Arc::new(ListChanges::new(filter.lists));
    let mut joined = connector.audience.join(&connector.name, request.viewer(), lists.clone())?;
    if filter.is_of_lists_only() {
        joined = joined.of_lists_only();
    }
    let places = Box::pin(resources::places(connector, &request, &view, &filter.uris)).await?;
    let parts = parts(connector, &view, &request.caller, &filter, &places);
    // A stream outlives reloads: it holds no more of the connector than it needs.
    let standing = connector.standing();
    let upstreams = connector.upstreams.iter().map(|served| served.upstream.clone()).collect();
    let opened = async move {
        let opening = join_all(parts.into_iter().map(|part: Part| part.open(&request)));
        let opened = tokio::select! {
            biased;
            // It is over before the servers answered: nothing of theirs is honoured, and the end follows.
            _ = joined.over() => Vec::new(),
            opened = opening => opened,
        };
        let opened = opened.into_iter().flatten();
        let (honoured, servers): (Vec<_>, Vec<Messages>) = opened.unzip();
        let lasting = Lasting::new(&filter, servers.len());
        let first = acknowledged(&id, &filter, &honoured);
        let servers = stream::select_all(servers.into_iter().zip(0..).map(placed));
        let (toward, party) = (request.toward(), request.party);
        let open = Open { id, lists, servers, lasting, joined, standing, toward, upstreams, party };
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

/// What a server says, and which of them it is.
type Placed = (usize, Result<Incoming, Fault>);

fn placed((messages, place): (Messages, usize)) -> BoxStream<'static, Placed> {
    messages.map(move |message| (place, message)).boxed()
}

/// A stream that was acknowledged.
struct Open {
    id: Id,
    lists: Arc<ListChanges>,
    servers: SelectAll<BoxStream<'static, Placed>>,
    lasting: Lasting,
    joined: Joined,
    /// Whose policies judge what servers say.
    standing: Standing,
    toward: Toward,
    upstreams: Vec<Arc<dyn Upstream>>,
    party: Arc<Party>,
}

impl Open {
    /// The next message; none where the stream breaks off, so that the client opens another one.
    async fn next(&mut self) -> Option<Incoming> {
        loop {
            tokio::select! {
                biased;
                end = self.joined.over() => return match end {
                    End::Graceful => Some(Incoming::Response(self.complete())),
                    End::Abrupt | End::Replaced => None,
                },
                text = self.lists.next() => {
                    if let Ok(message) = Message::parse(text) {
                        return Some(note(subscription::tagged(&message, &self.id)));
                    }
                }
                Some((place, message)) = self.servers.next() => match message {
                    Ok(Incoming::Notification(note)) if self.lasting.begins(place, &note.text) => {}
                    Ok(message @ Incoming::Notification(_)) => {
                        if let Some(told) = self.judged(message).await {
                            return Some(told);
                        }
                    }
                    // A server that stopped telling falls silent, and is asked again as long as there is another one.
                    Ok(Incoming::Response(_)) => {
                        if self.lasting.ends(place) {
                            return Some(Incoming::Response(self.complete()));
                        }
                    }
                    // What else it sends has no place here.
                    Ok(Incoming::Ask(_) | Incoming::Break(_)) => {}
                    // It is not this server any more.
                    Err(_replaced) => return None,
                },
            }
        }
    }

    /// A server's notification as policies leave it, and as the client gets it; none where it goes no further.
    async fn judged(&mut self, message: Incoming) -> Option<Incoming> {
        let connector = self.standing.now()?;
        let message = inbound::incoming(&connector, &self.toward, message).await?;
        let Incoming::Notification(note) = message else { return None };
        let upstream = self.upstreams.iter().find(|one| *one.name() == note.upstream)?;
        let note = allowed::notification(&**upstream, &self.party, note)?;
        let text = self.told(note.text)?;
        Some(Incoming::Notification(Notification { upstream: note.upstream, text }))
    }

    /// A server's notification as one of this stream, if it has a place in such a stream.
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
