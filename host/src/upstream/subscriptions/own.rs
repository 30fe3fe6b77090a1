//! What a session of the legacy era subscribed to at a server of the modern era: one `subscriptions/listen` of plugway's own
//! for all of it, opened anew with each change, whose updates the client gets as its era has them.

use std::borrow::Cow;
use std::future::pending;
use std::sync::Arc;

use dashmap::DashMap;
use futures_util::StreamExt as _;
use http::HeaderValue;
use tokio::sync::watch;
use tokio::time::timeout;

use super::subscriber::Core;
use super::{steady, uris};
use crate::fault::Fault;
use crate::pipeline::answer;
use crate::pipeline::party::{Party, PartyId};
use crate::pipeline::port::{Answer, Incoming, Messages, Notification, Order};
use crate::protocol::{Field, Id, Message, Method, subscription};
use crate::upstream::authored::{OPENING_ID, error_response, request};
use crate::upstream::failure::Failure;

/// The followers of the parties that subscribed to something.
pub(super) type Followers = DashMap<PartyId, Follower>;

/// A task that follows what one party wishes for. It ends when this is dropped.
pub(super) struct Follower {
    asked: watch::Sender<Asked>,
    heard: watch::Receiver<Heard>,
}

/// How often the wishes changed, and the caller's newest credential.
#[derive(Clone, Default)]
struct Asked {
    version: u64,
    credential: Option<HeaderValue>,
}

/// What came of the wishes.
#[derive(Clone, Default)]
struct Heard {
    version: u64,
    honoured: Vec<String>,
    failure: Option<Failure>,
}

const REFUSED: &str =
    r#"{"code":-32602,"message":"The server does not tell of changes of this resource."}"#;

/// Answers `resources/subscribe` and `resources/unsubscribe`.
pub(super) async fn subscribe(core: &Arc<Core>, order: Order) -> Result<Answer, Fault> {
    let (party, id) = (order.party.id, order.message.id().cloned());
    let id = id.unwrap_or_else(|| Id::number(OPENING_ID));
    let Some(uri) = order.message.string(Field::Uri).map(Cow::into_owned) else {
        return Ok(Answer::whole(error_response(id.as_json(), REFUSED)));
    };
    let wishes = &core.around.wishes;
    let done = || Ok(answer::result(&id, b"{}"));
    if order.message.method() == Method::ResourcesUnsubscribe {
        wishes.remove(party, &uri);
        if wishes.has(party) {
            ask(core, &order);
        } else {
            core.followers.remove(&party);
        }
        return done();
    }
    wishes.add(party, &uri).map_err(|failure| failure.fault())?;
    let (version, mut heard) = ask(core, &order);
    let waited = timeout(core.around.patience, heard.wait_for(|heard| heard.version >= version));
    let heard = match waited.await {
        Ok(Ok(heard)) => heard.clone(),
        Ok(Err(_ended)) => Heard { failure: Some(Failure::stopping()), ..Heard::default() },
        Err(_elapsed) => {
            let failure = Failure::timeout(core.inner.name(), core.around.patience);
            Heard { failure: Some(failure), ..Heard::default() }
        }
    };
    if heard.failure.is_none() && heard.honoured.contains(&uri) {
        return done();
    }
    wishes.remove(party, &uri);
    match heard.failure {
        Some(failure) => Err(failure.fault()),
        None => Ok(Answer::whole(error_response(id.as_json(), REFUSED))),
    }
}

/// Has the wishes of a party followed; the version that they have now, and where it is heard of.
fn ask(core: &Arc<Core>, order: &Order) -> (u64, watch::Receiver<Heard>) {
    let follower = core.followers.entry(order.party.id).or_insert_with(|| {
        let (asked, wanted) = watch::channel(Asked::default());
        let (told, heard) = watch::channel(Heard::default());
        let (core, party) = (Arc::clone(core), Arc::clone(&order.party));
        let tracker = core.tracker.clone();
        drop(tracker.spawn(follow(core, party, wanted, told)));
        Follower { asked, heard }
    });
    let mut version = 0;
    follower.asked.send_modify(|asked| {
        asked.version += 1;
        asked.credential.clone_from(&order.credential);
        version = asked.version;
    });
    (version, follower.heard.clone())
}

async fn follow(
    core: Arc<Core>,
    party: Arc<Party>,
    mut wanted: watch::Receiver<Asked>,
    told: watch::Sender<Heard>,
) {
    let mut messages: Option<Messages> = None;
    loop {
        tokio::select! {
            biased;
            () = core.over.cancelled() => return,
            changed = wanted.changed() => {
                if changed.is_err() {
                    return;
                }
                let Asked { version, credential } = wanted.borrow_and_update().clone();
                let heard = match open(&core, &party, credential).await {
                    Ok((honoured, opened)) => {
                        messages = Some(opened);
                        Heard { version, honoured, failure: None }
                    }
                    // What was followed so far still is.
                    Err(failure) => Heard { version, honoured: Vec::new(), failure: Some(failure) },
                };
                told.send_replace(heard);
            }
            next = next(&mut messages) => match next {
                Some(Ok(Incoming::Notification(note))) => forward(&party, note),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => messages = None,
            }
        }
    }
}

async fn next(messages: &mut Option<Messages>) -> Option<Result<Incoming, Fault>> {
    match messages {
        Some(messages) => messages.next().await,
        None => pending().await,
    }
}

/// Listens for everything that the party wishes for; what the server honours of it.
async fn open(
    core: &Arc<Core>,
    party: &Arc<Party>,
    credential: Option<HeaderValue>,
) -> Result<(Vec<String>, Messages), Failure> {
    let name = core.inner.name();
    let broken = |error: &dyn std::fmt::Display| {
        Failure::broken(name, "does not let itself be subscribed to").because(error)
    };
    let params =
        format!(r#"{{"notifications":{}}}"#, uris::wishes(&core.around.wishes.of(party.id)));
    let text = request(OPENING_ID, Method::SubscriptionsListen.as_str(), &params);
    let message = Message::parse(text).map_err(|error| broken(&error))?;
    let (party, headers) = (Arc::clone(party), Vec::new());
    let order = Order { party, message, name: None, headers, credential };
    let opening = async {
        let listening = steady::listen(Arc::clone(&core.inner), order, core.over.clone());
        let Answer::Messages(mut messages) = Box::pin(listening).await? else { return Ok(None) };
        while let Some(message) = messages.next().await {
            match message? {
                Incoming::Notification(note) => {
                    let note = Message::parse(note.text).ok();
                    if let Some(note) = note.filter(|note| note.method() == Method::Acknowledged) {
                        return Ok(Some((uris::named(&note), messages)));
                    }
                }
                Incoming::Response(_) => return Ok(None),
                Incoming::Ask(_) | Incoming::Break(_) => {}
            }
        }
        Ok(None)
    };
    let patience = core.around.patience;
    match timeout(patience, opening).await {
        Ok(Ok(Some(opened))) => Ok(opened),
        Ok(Ok(None)) => Err(broken(&"it acknowledged nothing")),
        Ok(Err(fault)) => {
            let fault: Fault = fault;
            Err(broken(&fault))
        }
        Err(_elapsed) => Err(Failure::timeout(name, patience)),
    }
}

/// An update as the legacy era has it.
fn forward(party: &Party, note: Notification) {
    let Ok(message) = Message::parse(note.text) else { return };
    if message.method() == Method::ResourcesUpdated {
        let (upstream, text) = (note.upstream, subscription::untagged(&message));
        if !party.outbox.forward(Incoming::Notification(Notification { upstream, text })) {
            tracing::trace!("an update for a client that does not listen");
        }
    }
}
