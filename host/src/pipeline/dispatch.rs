//! What a request asks for: a list, a call of an entry, or something that plugway answers itself.

use std::sync::Arc;

use futures_util::future::join_all;

use super::answer;
use super::connector::Connector;
use super::exchange::{Call, own};
use super::lazy::{listing, through};
use super::learned::find_resource;
use super::level::Level;
use super::listen;
use super::lists::list;
use super::port::Answer;
use super::request::Request;
use super::sighted::is_seen;
use super::trail::Ending;
use super::{feature, forward, handshake, held, mirrored, tasks};
use crate::catalogue::{Entry, EntryKind, Target, View};
use crate::fault::{Code, Fault};
use crate::protocol::feature::Home;
use crate::protocol::{Era, Field, Message, Method, message, scan, splice};

/// Serves one request. `initialize` has been answered before: it makes the session. Where there is an audit, a call leaves
/// its line there, however it ends.
pub async fn dispatch(connector: &Arc<Connector>, mut request: Request) -> Result<Answer, Fault> {
    match Ending::begin(connector, &mut request, None) {
        None => serve(connector, request).await,
        Some(ending) => Box::pin(told(connector, request, ending)).await,
    }
}

/// Serves a call whose end is told.
async fn told(
    connector: &Arc<Connector>,
    request: Request,
    ending: Ending,
) -> Result<Answer, Fault> {
    if let Some(fault) = connector.auditor.as_ref().and_then(|auditor| auditor.refuses()) {
        return Err(ending.refused(fault).await);
    }
    let answered = serve(connector, request).await;
    ending.of(answered).await
}

async fn serve(connector: &Arc<Connector>, request: Request) -> Result<Answer, Fault> {
    match request.message.method() {
        Method::ToolsCall => named(connector, request, EntryKind::Tool).await,
        Method::PromptsGet => named(connector, request, EntryKind::Prompt).await,
        Method::ResourcesRead => read(connector, request).await,
        Method::ResourcesSubscribe | Method::ResourcesUnsubscribe
            if request.era() == Era::Legacy =>
        {
            read(connector, request).await
        }
        Method::Complete => complete(connector, request).await,
        Method::ToolsList => list(connector, &request, EntryKind::Tool).await,
        Method::PromptsList => list(connector, &request, EntryKind::Prompt).await,
        Method::ResourcesList => list(connector, &request, EntryKind::Resource).await,
        Method::ResourcesTemplatesList => list(connector, &request, EntryKind::Template).await,
        // Rare: boxed, so that calls stay small.
        _ => Box::pin(other(connector, request)).await,
    }
}

/// Serves a request that is neither a call of an entry nor a list.
async fn other(connector: &Arc<Connector>, request: Request) -> Result<Answer, Fault> {
    match (request.message.method(), request.era()) {
        (Method::SetLevel, Era::Legacy) => set_level(connector, &request).await,
        (Method::Ping, Era::Legacy) => own(&request, b"{}"),
        (Method::SubscriptionsListen, Era::Modern) => listen::listen(connector, request).await,
        (Method::Discover, Era::Modern) => {
            let result = handshake::discover(connector, request.viewer()).await;
            own(&request, result.as_bytes())
        }
        (Method::Other, era) => {
            let home = Home::of(&request.message.method_name(), era);
            match home {
                Home::Feature(feature) => {
                    let view = request.view(connector).await?;
                    feature::admit(connector, &view, &request, feature)?;
                    tasks::serve(connector, view, request).await
                }
                Home::OtherEra => Err(forward::unknown_method(&request.message)),
                Home::Unknown => forward::forward(connector, request).await,
            }
        }
        _ => Err(forward::unknown_method(&request.message)),
    }
}

/// The level is the session's: servers where it is open are told at once, others when they are opened. How they take it
/// is no concern of the client: what is below the level does not pass.
async fn set_level(connector: &Connector, request: &Request) -> Result<Answer, Fault> {
    let Some(level) = Level::of_params(&request.message) else {
        let words: Vec<&str> = Level::ALL.into_iter().map(Level::as_str).collect();
        let text = format!("The params need a \"level\", one of {}.", words.join(", "));
        return Err(Fault::new(Code::InvalidParams, text));
    };
    request.party.outbox.set_level(level);
    let all = connector.upstreams.iter();
    let told = all.map(|served| served.upstream.set_level(request.party.id, level));
    join_all(told).await;
    own(request, b"{}")
}

async fn named(
    connector: &Arc<Connector>,
    request: Request,
    kind: EntryKind,
) -> Result<Answer, Fault> {
    let name = required(&request.message, Field::Name, "name")?;
    let view = request.view(connector).await?;
    let Some(entry) = view.find(kind, &name).cloned() else {
        return Err(Box::pin(not_seen(connector, &request, &view, (kind, &name))).await);
    };
    held::admit(view.catalogue(), &entry)?;
    // What was confirmed was let through before it was asked.
    if connector.lazy.is_some() && request.confirmed.is_none() {
        if through::is(connector, &entry) {
            return Box::pin(through::call(connector, request, view, entry)).await;
        }
        listing::admit(connector, &request, &view, &entry)?;
    }
    mirrored::check(&request, &entry)?;
    // The fast path: names are equal in content, so the entry's own text serves without a copy.
    let name = entry.key.clone();
    Call::new(connector, request, view, entry, name).run().await
}

/// `resources/read` goes where the URI is served, and so do subscriptions to it.
async fn read(connector: &Arc<Connector>, request: Request) -> Result<Answer, Fault> {
    let uri = required(&request.message, Field::Uri, "uri")?;
    let view = request.view(connector).await?;
    let Some(entry) = find_resource(connector, &view, request.viewer(), &uri).await? else {
        let named = (EntryKind::Resource, &*uri);
        return Err(Box::pin(not_seen(connector, &request, &view, named)).await);
    };
    Call::new(connector, request, view, entry, uri.into()).run().await
}

/// `completion/complete` goes where the prompt or template that it refers to is served.
async fn complete(connector: &Arc<Connector>, mut request: Request) -> Result<Answer, Fault> {
    let reference = request.message.field(Field::Ref).unwrap_or_default();
    let member = |name: &str| {
        let span = scan::member(reference, name)?;
        Some((span, message::string(reference.get(span.range())?)?.into_owned()))
    };
    let view = request.view(connector).await?;
    let (kind, span, name) = match (member("name"), member("uri")) {
        (Some((span, name)), None) => (EntryKind::Prompt, span, name),
        (None, Some((span, uri))) => (EntryKind::Template, span, uri),
        _ => return Err(missing("ref")),
    };
    let entry = find_reference(connector, &request, &view, (kind, &name)).await?;
    let entry = entry.ok_or_else(|| unknown(kind, &name))?;
    if let Target::Fixed { name: own, .. } = &entry.target
        && kind == EntryKind::Prompt
        && **own != *name
    {
        request.message = renamed(&request.message, span, own)?;
    }
    let name = name.into();
    Call::new(connector, request, view, entry, name).run().await
}

async fn find_reference(
    connector: &Connector,
    request: &Request,
    view: &View,
    (kind, name): (EntryKind, &str),
) -> Result<Option<Arc<Entry>>, Fault> {
    if let Some(entry) = view.find(kind, name) {
        return Ok(Some(entry.clone()));
    }
    let Some(entry) = view.find_uri(name).filter(|_| kind == EntryKind::Template) else {
        return Ok(None);
    };
    let seen = is_seen(connector, request.viewer(), view, (entry, name)).await?;
    Ok(seen.then(|| entry.clone()))
}

/// The message with the text at `span`, which is relative to `params.ref`, replaced by a name.
fn renamed(message: &Message, span: scan::Span, own: &str) -> Result<Message, Fault> {
    let reference = message.field(Field::Ref).unwrap_or_default();
    let inside = bytes::Bytes::copy_from_slice(reference.as_bytes());
    let reference = splice(&inside, &[(span, answer::json_string(own).as_bytes())]);
    let text = splice(message.text(), &[(message.span(Field::Ref), &reference)]);
    Message::parse(text)
        .map_err(|error| Fault::new(Code::Internal, "The call was lost.").because(error))
}

fn required(message: &Message, field: Field, name: &str) -> Result<String, Fault> {
    message.string(field).map(std::borrow::Cow::into_owned).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Fault {
    Fault::new(Code::InvalidParams, format!("The params need a string {name:?}."))
}

/// What the caller does not see, and why servers show it nothing, where they do: it may be one of theirs.
async fn not_seen(
    connector: &Connector,
    request: &Request,
    view: &View,
    (kind, name): (EntryKind, &str),
) -> Fault {
    // Whom something is hidden from is not told which servers there are.
    if view.is_filtered() {
        return unknown(kind, name);
    }
    let why = connector.unseen(request.viewer()).await;
    unknown_because(kind, name, &why)
}

pub(super) fn unknown(kind: EntryKind, name: &str) -> Fault {
    unknown_because(kind, name, &[])
}

fn unknown_because(kind: EntryKind, name: &str, why: &[Arc<str>]) -> Fault {
    let mut shown: String = name.chars().take(128).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    let is_resource = matches!(kind, EntryKind::Resource | EntryKind::Template);
    let kind = if is_resource { "resource" } else { kind.as_str() };
    let with = |mut text: String| {
        for sentence in why {
            text.push(' ');
            text.push_str(sentence);
        }
        text
    };
    let text = with(format!("Unknown {kind}: {shown:?}. The list shows what there is."));
    let fault = Fault::new(Code::UnknownName, text);
    if !is_resource {
        return fault;
    }
    // SEP-2164: an error about a resource that does not exist names it. Log and audit do not: a URI may hold secrets.
    let data = serde_json::json!({ "uri": name }).to_string();
    fault.with_data(data).because(with("There is no such resource for this caller.".to_owned()))
}
