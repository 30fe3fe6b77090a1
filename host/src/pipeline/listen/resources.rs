//! Which resources one stream may tell of: those that the caller sees, and that policies let it subscribe to.

use std::sync::Arc;

use serde_json::json;

use crate::catalogue::{Entry, View};
use crate::fault::{Code, Fault};
use crate::pipeline::admit::{self, Admitted};
use crate::pipeline::connector::Connector;
use crate::pipeline::exchange::{Call, own};
use crate::pipeline::port::Answer;
use crate::pipeline::request::Request;
use crate::pipeline::sighted;
use crate::pipeline::trail::Ending;
use crate::protocol::{Message, Method};

/// For each URI the place of the server that serves it; none where the stream does not tell of it. There are as many as
/// `Filter` lets through.
pub(super) async fn places(
    connector: &Arc<Connector>,
    request: &Request,
    view: &Arc<View>,
    uris: &[String],
) -> Result<Vec<Option<usize>>, Fault> {
    let is_judged = connector.policies.iter().any(|policy| policy.hooks().admission);
    let mut places = Vec::with_capacity(uris.len());
    for uri in uris {
        let found = view.find_uri(uri);
        let found = found.filter(|entry| view.catalogue().held(entry).is_none());
        let Some((entry, place)) = found.and_then(|entry| Some((entry, entry.upstream()?))) else {
            places.push(None);
            continue;
        };
        let passes = sighted::is_seen(connector, request.viewer(), view, (entry, uri)).await?
            && (!is_judged || admitted(connector, request, view, (entry, uri)).await);
        places.push(passes.then_some(place));
    }
    Ok(places)
}

/// Whether the policies let the caller subscribe to a resource, as they see it in a session. Where there is an audit, that
/// leaves a line.
async fn admitted(
    connector: &Arc<Connector>,
    request: &Request,
    view: &Arc<View>,
    (entry, uri): (&Arc<Entry>, &str),
) -> bool {
    let method = Method::ResourcesSubscribe.as_str();
    let text = json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": {"uri": uri}});
    let Ok(message) = Message::parse(text.to_string().into()) else { return false };
    let mut asked = Request { message, flight: Arc::default(), ..request.clone() };
    let ending = Ending::begin(connector, &mut asked, None);
    let refuses = connector.auditor.as_ref().and_then(|auditor| auditor.refuses());
    let judged = match refuses.filter(|_| ending.is_some()) {
        Some(fault) => Err(fault),
        None => judged(connector, asked, view, (entry, uri)).await,
    };
    let judged = match ending {
        None => judged,
        Some(ending) => ending.of(judged).await,
    };
    if let Err(fault) = &judged {
        tracing::debug!(connector = &*connector.name, error = ?fault, "a resource is not listened to");
    }
    judged.is_ok()
}

/// What the subscription alone would be answered. Nothing of the request would go to the server as policies edit it, and
/// nobody is asked to confirm a part of it: who wants that is against it.
async fn judged(
    connector: &Arc<Connector>,
    asked: Request,
    view: &Arc<View>,
    (entry, uri): (&Arc<Entry>, &str),
) -> Result<Answer, Fault> {
    let before = asked.clone();
    let mut call = Call::new(connector, asked, view.clone(), entry.clone(), uri.into());
    let mut context = Arc::new(call.context());
    let admitted = Box::pin(admit::admit(&mut call, &mut context)).await?;
    let is_plain = matches!(admitted, Admitted::Through(wanted) if wanted.is_empty())
        && call.request.passed == before.passed
        && call.request.message.text() == before.message.text();
    if !is_plain {
        let text = "A policy wants more of this subscription than a stream can do.";
        return Err(Fault::new(Code::Refused, text));
    }
    own(&before, b"{}")
}
