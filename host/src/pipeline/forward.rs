//! Requests of methods that plugway does not know. One that names something of a server goes to that server; for another
//! the servers are asked one after the other, until one knows the method: the others did nothing.

use std::sync::Arc;

use http::HeaderName;

use super::admit::{self, Admitted};
use super::connector::Connector;
use super::exchange::{Call, Destination};
use super::handshake::knows;
use super::port::{Answer, Body, Json, Phase};
use super::request::Request;
use super::sighted::is_seen;
use super::{confirm, review};
use crate::catalogue::{Entry, EntryKind, Hints, Target, View};
use crate::fault::{Code, Fault};
use crate::protocol::{Field, Message, header, scan};

/// So many servers are asked: each may have to open a session first.
pub(super) const ASKED: usize = 16;

/// The error code of an unknown method (JSON-RPC 2.0, section 5.1).
const UNKNOWN_METHOD: i64 = -32_601;

/// Serves such a request.
pub(super) async fn forward(
    connector: &Arc<Connector>,
    mut request: Request,
) -> Result<Answer, Fault> {
    let view = request.view(connector).await?;
    let to = destinations(connector, &request, &view).await?;
    // Whatever the method is about: who serves it knows what the header has to say.
    if let Some(name) = request.headers.get(header::NAME).cloned()
        && to.iter().all(|to| to.name.is_none())
    {
        request.passed.push((HeaderName::from_static(header::NAME), name));
    }
    let mut call = Call::new(connector, request, view, Arc::new(nothing()), "".into());
    if connector.policies.is_empty() {
        return ask(&call, to).await;
    }
    let mut context = Arc::new(call.context());
    let answered = match admit::admit(&mut call, &mut context).await? {
        Admitted::Answered(answered) => answered,
        Admitted::Through(wanted) => {
            if let Some(asking) = confirm::due(&call, &context, &wanted, false)? {
                return Ok(asking);
            }
            ask(&call, to).await?
        }
    };
    review::review(&call, context, answered).await
}

/// No server of the connector knows the method.
pub(super) fn unknown_method(message: &Message) -> Fault {
    let name = message.method_name();
    Fault::new(Code::UnknownMethod, format!("This server has no method {name:?}."))
}

/// Stands in the place of an entry where a request is about none.
pub(super) fn nothing() -> Entry {
    Entry {
        kind: EntryKind::Tool,
        key: "".into(),
        definition: "{}".into(),
        target: Target::Dynamic,
        hints: Hints::default(),
        arguments: None,
        mirrored: Box::default(),
    }
}

/// Where the request may go, in the order in which the servers are asked.
async fn destinations(
    connector: &Connector,
    request: &Request,
    view: &View,
) -> Result<Vec<Destination>, Fault> {
    let message = &request.message;
    let (name, uri) = (message.string(Field::Name), message.string(Field::Uri));
    if let Some(name) = &name {
        let kinds = [EntryKind::Tool, EntryKind::Prompt];
        if let Some(entry) = kinds.into_iter().find_map(|kind| view.find(kind, name))
            && let Target::Fixed { upstream, name: own, .. } = &entry.target
        {
            let own = (**own != **name).then(|| own.clone());
            return Ok(vec![Destination { upstream: *upstream, name: own }]);
        }
    }
    if let Some(uri) = uri.as_deref()
        && let Some(entry) = view.find_uri(uri)
        && let Some(upstream) = entry.upstream()
        && is_seen(connector, request.viewer(), view, (entry, uri)).await?
    {
        return Ok(vec![Destination { upstream, name: None }]);
    }
    // What a server says of a name that does not exist would tell it from one that is hidden.
    if view.is_filtered() && (name.is_some() || uri.is_some()) {
        return Err(unknown_method(message));
    }
    let lone = connector.upstreams.len() == 1;
    let all = connector.upstreams.iter().enumerate().filter(|(_, served)| {
        (lone || served.snapshot().phase == Phase::Connected) && knows(view, served.upstream.name())
    });
    let to: Vec<Destination> =
        all.take(ASKED).map(|(upstream, _)| Destination { upstream, name: None }).collect();
    if to.is_empty() { Err(unknown_method(message)) } else { Ok(to) }
}

/// The answer of the first server that knows the method.
async fn ask(call: &Call<'_>, to: Vec<Destination>) -> Result<Answer, Fault> {
    let (mut unknown, mut failed) = (None, None);
    for to in to {
        match call.exchange(to).await {
            Ok(answer) => match known(answer) {
                Ok(answer) => return Ok(answer),
                Err(answer) => unknown = unknown.or(Some(answer)),
            },
            Err(fault) if !was_started(&fault) => failed = failed.or(Some(fault)),
            Err(fault) => return Err(fault),
        }
    }
    match (unknown, failed) {
        // A server that was not reached may be the one that knows it.
        (_, Some(fault)) => Err(fault),
        (Some(answer), None) => Ok(answer),
        (None, None) => Err(unknown_method(&call.request.message)),
    }
}

/// An answer that says that the method is unknown is an error; a client of the modern era hears of it by the status, too.
fn known(answer: Answer) -> Result<Answer, Answer> {
    let Answer::Json(Json { body: Body::Whole(text), refusal }) = answer else { return Ok(answer) };
    let said = || {
        let message = Message::parse(text.clone()).ok()?;
        let error = message.error()?;
        error.get(scan::member(error, "code")?.range())?.parse().ok()
    };
    let code: Option<i64> = refusal.or_else(said);
    if code == Some(UNKNOWN_METHOD) {
        return Err(Answer::Json(Json { body: Body::Whole(text), refusal: code }));
    }
    Ok(Answer::Json(Json { body: Body::Whole(text), refusal }))
}

/// Whether a server may have done something before the fault.
fn was_started(fault: &Fault) -> bool {
    !matches!(
        fault.code(),
        Code::UpstreamUnavailable | Code::UpstreamRefusedCredential | Code::UpstreamBusy
    )
}
