//! `call_tool`: a call of it becomes a call of the tool that it names, before anybody looks at it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::catalogue::{Entry, EntryKind, Sight, Target, View};
use crate::fault::{Code, Fault};
use crate::pipeline::admit::admit;
use crate::pipeline::answer::json_string;
use crate::pipeline::connector::Connector;
use crate::pipeline::dispatch::unknown;
use crate::pipeline::exchange::Call;
use crate::pipeline::port::Answer;
use crate::pipeline::request::Request;
use crate::protocol::{Field, Message, splice};

/// Name of the tool, which the router offers as an entry that it answers itself.
const NAME: &str = "call_tool";

/// The arguments of the tool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted<'a> {
    /// As clients see it.
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    /// The server, by its configured name.
    #[serde(borrow)]
    server: Option<Cow<'a, str>>,
    /// The server's own name for the tool.
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Whether an entry is the tool.
pub(in crate::pipeline) fn is(connector: &Connector, entry: &Entry) -> bool {
    connector.lazy.is_some()
        && entry.kind == EntryKind::Tool
        && entry.target == Target::Local
        && *entry.key == *NAME
}

/// Calls the tool that the call names. Everything of the request but its name and its arguments goes along: policies, audit
/// and server see a call of that tool. Where policies do not list `call_tool`, it calls nothing.
pub(in crate::pipeline) async fn call(
    connector: &Arc<Connector>,
    mut request: Request,
    view: Arc<View>,
    own: Arc<Entry>,
) -> Result<Answer, Fault> {
    let place = view.catalogue().find(own.kind, &own.key);
    if place.is_none_or(|place| view.sight(place) != Sight::Shown) {
        return Err(unlisted(connector, request, view, own).await);
    }
    let asked = request.message.clone();
    let wanted = wanted(&asked)?;
    let entry = found(&wanted, &view)?;
    if is(connector, &entry) {
        return Err(bad("call_tool does not call itself"));
    }
    request.message = unpacked(&asked, &entry.key, wanted.arguments)?;
    // Whatever headers came along belong to the call of call_tool; the upstream gets those of its own tool made anew.
    request.passed.clear();
    if let Some(loads) = &request.party.loads {
        // One that is loaded for one call is not used up by this way.
        loads.touch(&entry.key, Instant::now());
    }
    let name = entry.key.clone();
    Call::new(connector, request, view, entry, name).run().await
}

/// Why the tool is not listed: what a policy says of the call of it, else that it is so.
async fn unlisted(
    connector: &Arc<Connector>,
    request: Request,
    view: Arc<View>,
    own: Arc<Entry>,
) -> Fault {
    let name = own.key.clone();
    let mut call = Call::new(connector, request, view, own, name);
    let mut context = Arc::new(call.context());
    match admit(&mut call, &mut context).await {
        Err(fault) => fault,
        Ok(_) => Fault::new(Code::Refused, "The tool \"call_tool\" is not to be used here."),
    }
}

fn wanted(message: &Message) -> Result<Wanted<'_>, Fault> {
    let arguments = message.field(Field::Arguments).unwrap_or("{}");
    // An array would be read as the members in their order.
    if !arguments.starts_with('{') {
        return Err(bad("they are no object"));
    }
    let wanted: Wanted<'_> = serde_json::from_str(arguments).map_err(|error| {
        let text = error.to_string();
        bad(text.rsplit_once(" at line ").map_or(&*text, |(sentence, _)| sentence))
    })?;
    if wanted.arguments.is_some_and(|inner| !inner.get().starts_with('{')) {
        return Err(bad("`arguments` is no object"));
    }
    Ok(wanted)
}

fn found(wanted: &Wanted<'_>, view: &View) -> Result<Arc<Entry>, Fault> {
    let kind = EntryKind::Tool;
    match (&wanted.name, &wanted.server, &wanted.tool) {
        (Some(name), None, None) => {
            view.find(kind, name).cloned().ok_or_else(|| unknown(kind, name))
        }
        (None, Some(server), Some(tool)) => {
            let entries = view.catalogue().entries().iter().zip(0..);
            let mut own = entries.filter(|(entry, place)| {
                let is_own =
                    matches!(&entry.target, Target::Fixed { name, .. } if **name == **tool);
                let upstream = || view.catalogue().upstream_of(entry);
                // One that is bound to arguments is only a part of the server's tool.
                entry.kind == kind
                    && entry.arguments.is_none()
                    && is_own
                    && upstream().is_some_and(|upstream| **upstream == **server)
                    && view.sight(*place) != Sight::Hidden
            });
            own.next().map(|(entry, _)| entry.clone()).ok_or_else(|| unknown(kind, tool))
        }
        _ => Err(bad("a tool is named by `name` alone, or by `server` and `tool`")),
    }
}

/// The message with this name and these arguments in place of its own.
fn unpacked(message: &Message, name: &str, arguments: Option<&RawValue>) -> Result<Message, Fault> {
    let name = json_string(name);
    let arguments = arguments.map_or("{}", RawValue::get);
    let mut edits = [
        (message.span(Field::Name), name.as_bytes()),
        (message.span(Field::Arguments), arguments.as_bytes()),
    ];
    edits.sort_by_key(|(span, _)| span.range().start);
    Message::parse(splice(message.text(), &edits))
        .map_err(|error| Fault::new(Code::Internal, "The call was lost.").because(error))
}

fn bad(what: &str) -> Fault {
    Fault::new(Code::BadArguments, format!("The arguments are not valid: {what}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(params: &str) -> Message {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        Message::parse(text.into()).unwrap()
    }

    fn rewritten(params: &str) -> String {
        let message = message(params);
        let wanted = wanted(&message).unwrap();
        let unpacked = unpacked(&message, "a_b", wanted.arguments).unwrap();
        unpacked.params().unwrap().to_owned()
    }

    #[test]
    fn name_and_arguments_change_and_every_other_byte_stays() {
        for (params, becomes) in [
            (
                r#"{"name":"call_tool","arguments":{"name":"a_b","arguments":{"n": 1.0}},"_meta":{"progressToken":7}}"#,
                r#"{"name":"a_b","arguments":{"n": 1.0},"_meta":{"progressToken":7}}"#,
            ),
            (
                r#"{"task":{}, "arguments" : {"server":"a","tool":"b"} ,"name":"c\u0061ll_tool"}"#,
                r#"{"task":{}, "arguments" : {} ,"name":"a_b"}"#,
            ),
        ] {
            assert_eq!(rewritten(params), becomes);
        }
    }

    #[test]
    fn arguments_that_mean_nothing_are_refused() {
        for (arguments, says) in [
            (r#"{"name":"a","args":{}}"#, "unknown field `args`"),
            (r#"{"name":"a","arguments":[]}"#, "`arguments` is no object"),
            (r#"{"name":1}"#, "invalid type"),
            ("[]", "they are no object"),
        ] {
            let message = message(&format!(r#"{{"name":"call_tool","arguments":{arguments}}}"#));
            let Err(fault) = wanted(&message) else { panic!("taken: {arguments}") };
            assert_eq!(fault.code(), Code::BadArguments);
            assert!(fault.public().contains(says), "{}", fault.public());
        }
    }
}
