//! `tasks/list` of several servers: page by page of each, one server after the other.

use std::sync::Arc;

use crate::catalogue::View;
use crate::fault::{Code, Fault};
use crate::pipeline::admit::{self, Admitted};
use crate::pipeline::answer::json_string;
use crate::pipeline::connector::Connector;
use crate::pipeline::exchange::{Call, Destination, own};
use crate::pipeline::forward::nothing;
use crate::pipeline::handshake::knows;
use crate::pipeline::port::{Answer, Phase};
use crate::pipeline::request::Request;
use crate::pipeline::{collect, confirm, review};
use crate::protocol::union::without;
use crate::protocol::{Era, Field, Message, Span, message, scan, splice};

/// Bytes of one page of a server.
const PAGE: usize = 4 * 1024 * 1024;

/// A place in the merged list: the server, and its own cursor where it gave one.
struct At {
    upstream: usize,
    cursor: Option<String>,
}

/// Answers with one page of one server.
pub(super) async fn list(
    connector: &Arc<Connector>,
    view: Arc<View>,
    request: Request,
) -> Result<Answer, Fault> {
    let at = match request.message.field(Field::Cursor) {
        None | Some("null") => At { upstream: 0, cursor: None },
        Some(_) => opened(connector, &request).ok_or_else(stale)?,
    };
    let mut call = Call::new(connector, request, view, Arc::new(nothing()), "".into());
    if connector.policies.is_empty() {
        return page(&mut call, at).await;
    }
    let mut context = Arc::new(call.context());
    let answered = match admit::admit(&mut call, &mut context).await? {
        Admitted::Answered(answered) => answered,
        Admitted::Through(wanted) => {
            if let Some(asking) = confirm::due(&call, &context, &wanted, false)? {
                return Ok(asking);
            }
            page(&mut call, at).await?
        }
    };
    review::review(&call, context, answered).await
}

/// The page that stands there, or the next one that a server has.
async fn page(call: &mut Call<'_>, mut at: At) -> Result<Answer, Fault> {
    while let Some(upstream) = next(call, at.upstream) {
        let cursor = if upstream == at.upstream { at.cursor.take() } else { None };
        call.request.message = with_cursor(&call.request.message, cursor.as_deref())?;
        let answer = call.exchange(Destination { upstream, name: None }).await?;
        let response = collect::response(answer, PAGE).await?;
        let Some(result) = response.result() else {
            let error = response.error().unwrap_or_default();
            let code = scan::member(error, "code").and_then(|span| error.get(span.range()));
            if code != Some("-32601") {
                return Ok(Answer::whole(response.text().clone()));
            }
            at.upstream = upstream + 1;
            continue;
        };
        if !result.starts_with('{') {
            return Ok(Answer::whole(response.text().clone()));
        }
        let own = scan::member(result, "nextCursor");
        let own = own.and_then(|span| Some((span, message::string(result.get(span.range())?)?)));
        let follows = if let Some((_, cursor)) = &own {
            Some(At { upstream, cursor: Some(cursor.clone().into_owned()) })
        } else {
            next(call, upstream + 1).map(|upstream| At { upstream, cursor: None })
        };
        let Some(follows) = follows else { return Ok(Answer::whole(response.text().clone())) };
        let sealed = json_string(&sealed(call, &follows)?);
        let start = response.result_span().range().start;
        let (span, text) = if let Some((span, _)) = own {
            (Span::new(start + span.range().start, start + span.range().end), sealed)
        } else {
            let empty = scan::members(result).is_none_or(|members| members.is_empty());
            let comma = if empty { "" } else { "," };
            (Span::new(start + 1, start + 1), format!(r#""nextCursor":{sealed}{comma}"#))
        };
        return Ok(Answer::whole(splice(response.text(), &[(span, text.as_bytes())])));
    }
    own(&call.request, br#"{"tasks":[]}"#)
}

/// The first server from a place on that lists its tasks and is there.
fn next(call: &Call<'_>, from: usize) -> Option<usize> {
    let all = call.connector.upstreams.iter().enumerate().skip(from);
    all.filter(|(_, served)| knows(&call.view, served.upstream.name()))
        .find(|(place, served)| {
            let offering = call.connector.offering(&call.view, *place);
            served.snapshot().phase == Phase::Connected
                && offering.as_deref().and_then(super::shape) == Some(Era::Legacy)
        })
        .map(|(place, _)| place)
}

/// The request with the server's own cursor, or without any.
fn with_cursor(message: &Message, cursor: Option<&str>) -> Result<Message, Fault> {
    let text = match (cursor, message.params()) {
        (Some(cursor), _) => {
            let cursor = json_string(cursor);
            splice(message.text(), &[(message.span(Field::Cursor), cursor.as_bytes())])
        }
        (None, Some(params)) if message.field(Field::Cursor).is_some() => {
            let params = without(params, &["cursor"]);
            splice(message.text(), &[(message.params_span(), params.as_bytes())])
        }
        (None, _) => return Ok(message.clone()),
    };
    Message::parse(text)
        .map_err(|error| Fault::new(Code::Internal, "The call was lost.").because(error))
}

fn sealed(call: &Call<'_>, at: &At) -> Result<String, Fault> {
    let name = call.connector.upstream(at.upstream).map(|upstream| upstream.name().to_string());
    let name = name.unwrap_or_default();
    let cursor = at.cursor.as_ref().map(|cursor| format!(".{cursor}")).unwrap_or_default();
    let about = about(call.connector, &call.request);
    call.connector.sealer.seal(&about, format!("{name}{cursor}").as_bytes())
}

fn opened(connector: &Connector, request: &Request) -> Option<At> {
    let cursor = request.message.string(Field::Cursor)?;
    let opened = connector.sealer.open(&about(connector, request), &cursor)?;
    let text = String::from_utf8(opened).ok()?;
    // Names of servers have no dot.
    let (name, cursor) = match text.split_once('.') {
        Some((name, cursor)) => (name, Some(cursor.to_owned())),
        None => (text.as_str(), None),
    };
    Some(At { upstream: connector.place_of(name)?, cursor })
}

fn about<'a>(connector: &'a Connector, request: &'a Request) -> [&'a str; 3] {
    ["tasks/list", &connector.name, &request.caller.id]
}

fn stale() -> Fault {
    let text = "The cursor is not one that this server gave you: list again from the start.";
    Fault::new(Code::InvalidParams, text)
}
