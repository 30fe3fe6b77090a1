//! One server's share of a stream.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, future};
use serde_json::Value;
use tokio::time::timeout;

use super::filter::{Filter, TASKS, URIS, place, strings, text_at};
use crate::catalogue::View;
use crate::fault::{Code, Fault};
use crate::pipeline::caller::Caller;
use crate::pipeline::connector::Connector;
use crate::pipeline::port::{Answer, Incoming, Messages, Order, Upstream};
use crate::pipeline::request::Request;
use crate::pipeline::tasks::Followed;
use crate::protocol::{Era, Message, Method, Revision, Span, message, scan, splice};

/// Time for a server to say what it honours: whoever is late is left out.
const OPENING: Duration = Duration::from_secs(10);

/// What one server is to tell of.
pub(super) struct Part {
    upstream: Arc<dyn Upstream>,
    uris: Vec<String>,
    tasks: Followed,
    extensions: Vec<(String, String)>,
}

/// What one server said that it tells of.
#[derive(Debug, Default)]
pub(super) struct Honoured {
    pub(super) uris: Vec<String>,
    /// Ids of tasks: the server's own as it said them, the client's as it is told.
    pub(super) tasks: Vec<String>,
    /// As in [`Filter`].
    pub(super) extensions: Vec<(String, String)>,
}

/// The shares of a client's wishes; for each resource the place of its server. A resource without one is nobody's, and so is
/// a task that is not the caller's; what other extensions ask for is for every server of the modern era.
pub(super) fn parts(
    connector: &Connector,
    view: &View,
    caller: &Caller,
    filter: &Filter,
    places: &[Option<usize>],
) -> Vec<Part> {
    let shares = Followed::shares(connector, view, caller, &filter.tasks);
    let all = connector.upstreams.iter().zip(shares).enumerate().map(|(at, (served, tasks))| {
        let own = filter.uris.iter().zip(places).filter(|(_, place)| **place == Some(at));
        let revision = connector.offering(view, at).and_then(|offering| offering.revision);
        let modern = revision.map(Revision::era) == Some(Era::Modern);
        Part {
            upstream: served.upstream.clone(),
            uris: own.map(|(uri, _)| uri.clone()).collect(),
            tasks,
            extensions: if modern { filter.extensions.clone() } else { Vec::new() },
        }
    });
    all.filter(|part| !part.is_empty()).collect()
}

impl Part {
    fn is_empty(&self) -> bool {
        self.uris.is_empty() && self.tasks.is_empty() && self.extensions.is_empty()
    }

    /// Listens at the server; none where it does not honour anything.
    pub(super) async fn open(self, request: &Request) -> Option<(Honoured, Messages)> {
        let name = self.upstream.name().clone();
        match timeout(OPENING, self.acknowledged(request)).await {
            Ok(Ok(opened)) => return Some(opened),
            Ok(Err(fault)) => {
                tracing::debug!(upstream = &*name, error = ?fault, "a server is not listened to");
            }
            Err(_elapsed) => {
                tracing::debug!(upstream = &*name, "a server did not say in time what it honours");
            }
        }
        None
    }

    async fn acknowledged(self, request: &Request) -> Result<(Honoured, Messages), Fault> {
        let order = Order {
            party: request.party.clone(),
            message: self.message(&request.message)?,
            name: None,
            headers: request.passed.clone(),
            credential: request.credential.clone(),
        };
        let refused = || Fault::new(Code::UpstreamBroken, "The server tells of no changes.");
        let Answer::Messages(mut messages) = self.upstream.exchange(order).await? else {
            return Err(refused());
        };
        while let Some(message) = messages.next().await {
            match message? {
                Incoming::Notification(note) => {
                    let Ok(note) = Message::parse(note.text) else { continue };
                    if note.method() == Method::Acknowledged {
                        let mut honoured = Honoured::of(&note);
                        honoured.tasks = self.tasks.shown(&honoured.tasks);
                        return Ok((honoured, told(self.tasks, messages)));
                    }
                }
                Incoming::Response(_) => break,
                Incoming::Ask(_) | Incoming::Break(_) => {}
            }
        }
        Err(refused())
    }

    /// The client's request with this share of its wishes.
    fn message(&self, request: &Message) -> Result<Message, Fault> {
        let mut members: Vec<String> = Vec::new();
        if !self.uris.is_empty() {
            members.push(format!("\"{URIS}\":{}", Value::from(self.uris.clone())));
        }
        if !self.tasks.is_empty() {
            let own: Vec<&str> = self.tasks.own().collect();
            members.push(format!("\"{TASKS}\":{}", Value::from(own)));
        }
        for (name, value) in &self.extensions {
            members.push(format!("{}:{value}", Value::from(name.as_str())));
        }
        let place = place(request).unwrap_or_default();
        let wishes = format!("{{{}}}", members.join(","));
        let edit = [(Span::new(place.start, place.end), wishes.as_bytes())];
        Message::parse(splice(request.text(), &edit))
            .map_err(|error| Fault::new(Code::Internal, "The request was lost.").because(error))
    }
}

/// What a server tells, with the ids of tasks as the client knows them.
fn told(tasks: Followed, messages: Messages) -> Messages {
    Box::pin(messages.filter_map(move |message| {
        future::ready(match message {
            Ok(Incoming::Notification(note)) => {
                tasks.told(note).map(|note| Ok(Incoming::Notification(note)))
            }
            message => Some(message),
        })
    }))
}

impl Honoured {
    fn of(acknowledged: &Message) -> Self {
        let mut honoured = Self::default();
        let text = place(acknowledged).and_then(|place| text_at(acknowledged, place));
        let text = text.unwrap_or("{}");
        for (key, value) in scan::members(text).unwrap_or_default() {
            let name = text.get(key.range()).and_then(message::string).unwrap_or_default();
            let value = text.get(value.range()).unwrap_or_default();
            if name == URIS {
                honoured.uris = strings(value).unwrap_or_default();
            } else if name == TASKS {
                honoured.tasks = strings(value).unwrap_or_default();
            } else {
                honoured.extensions.push((name.into_owned(), value.to_owned()));
            }
        }
        honoured
    }
}
