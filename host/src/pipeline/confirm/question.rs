//! What the person is asked: plugway's own words around what others wrote, which stands in blocks that it cannot leave.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::arguments;
use super::asking::Wanted;
use super::further::Further;
use super::limits::{
    DIGITS, FURTHER, FURTHER_LINES, LINES, NAME, SENTENCE, SENTENCES, SHOWN, VALUE,
};
use super::visible::{beginning, grouped, quoted};
use crate::fault::{Code, Fault};
use crate::hex::hex;
use crate::pipeline::call::CallContext;
use crate::protocol::{Field, Message, Method, Revision};

/// JSON text of the form: one box.
const FORM: &str = r#"{"type":"object","properties":{"confirmed":{"type":"boolean","title":"Make this call"}},"required":["confirmed"]}"#;

/// The question as a request of the client's revision with this id, which is JSON text.
pub(super) fn request(
    context: &CallContext,
    further: &Further,
    wanted: &[Wanted],
    id: &str,
) -> Result<Message, Fault> {
    // Before there were modes, all was forms.
    let has_modes = context.revision >= Revision::V2025_11_25;
    let mode = if has_modes { r#""mode":"form","# } else { "" };
    let text = json!(message(context, further, wanted));
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{{mode}"message":{text},"requestedSchema":{FORM}}}}}"#
    );
    Message::parse(request.into())
        .map_err(|error| Fault::new(Code::Internal, "The question was lost.").because(error))
}

/// The words.
fn message(context: &CallContext, further: &Further, wanted: &[Wanted]) -> String {
    let what = what(context);
    let arguments = arguments(&context.message);
    let arguments = arguments.map_or_else(
        || "\nIt has no arguments.".to_owned(),
        |json| block("Arguments, as they will be sent", json, (SHOWN, LINES)),
    );
    let size = (FURTHER, FURTHER_LINES);
    let members = further.members.as_deref();
    let members =
        members.map(|json| block("Further members of the call, which go along", json, size));
    let headers = further.headers.as_deref();
    let headers = headers.map(|json| block("Headers, which go along", json, size));
    let (members, headers) = (members.unwrap_or_default(), headers.unwrap_or_default());
    let why = why(wanted);
    format!(
        "This call has to be confirmed before it is made.\n```text\n{what}\n```{arguments}{members}{headers}\nWhy you are asked:\n```text\n{why}\n```"
    )
}

/// JSON text of the arguments; none where the call has none.
fn arguments(message: &Message) -> Option<&str> {
    message.field(Field::Arguments).filter(|text| *text != "null")
}

/// JSON text in a block under a title, and what of it is not shown.
fn block(title: &str, json: &str, size: (usize, usize)) -> String {
    let (shown, left_out) = arguments::shown(json, size);
    let mut rest = String::new();
    if left_out > 0 {
        let (left_out, digest) = (grouped(left_out), digest(json));
        rest = format!(
            "\n{left_out} bytes of them are not shown. SHA-256 of all of them begins with {digest}."
        );
    }
    format!("\n{title}:\n```json\n{shown}\n```{rest}")
}

/// The digest by which a person tells what a question does not show as a whole: the URI of a resource, or the arguments. None
/// where all of it is shown.
pub(super) fn cut(message: &Message, name: &str) -> Option<String> {
    if message.method() == Method::ResourcesRead {
        return (beginning(name, VALUE, true).1 > 0).then(|| digest(name));
    }
    let json = arguments(message)?;
    (arguments::shown(json, (SHOWN, LINES)).1 > 0).then(|| digest(json))
}

/// What is called, and where.
fn what(context: &CallContext) -> String {
    let kind = match context.message.method() {
        Method::PromptsGet => "prompt",
        Method::ResourcesRead => "resource",
        _ => "tool",
    };
    let name = named(&context.name);
    let connector = quoted(&context.connector, NAME);
    match &context.target {
        Some((upstream, own)) => {
            let upstream = quoted(upstream, NAME);
            let own = if own.is_empty() || **own == *context.name {
                String::new()
            } else {
                format!("\nthe server's own name for it: {}", named(own))
            };
            format!("{kind}: {name}{own}\nserver: {upstream} behind {connector}")
        }
        None => format!("{kind}: {name}\nserver: {connector}"),
    }
}

/// What tells the thing from others: two long ones that begin alike differ in their digests.
pub(super) fn named(name: &str) -> String {
    let (_, left_out) = beginning(name, VALUE, true);
    let shown = quoted(name, VALUE);
    if left_out == 0 { shown } else { format!("{shown}, SHA-256 begins with {}", digest(name)) }
}

/// The sentences of the policies, each on its line.
fn why(wanted: &[Wanted]) -> String {
    let mut lines: Vec<String> = wanted.iter().take(SENTENCES).map(sentence).collect();
    let more = wanted.len().saturating_sub(SENTENCES);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n")
}

fn sentence(wanted: &Wanted) -> String {
    let (shown, left_out) = beginning(&wanted.text, SENTENCE, false);
    let (policy, _) = beginning(&wanted.policy, NAME, false);
    match left_out {
        0 => format!("{policy}: {shown}"),
        bytes => format!("{policy}: {shown} … {} more bytes", grouped(bytes)),
    }
}

/// The beginning of the digest of a text, for people.
fn digest(text: &str) -> String {
    let digits = hex(&Sha256::digest(text.as_bytes()));
    digits.get(..DIGITS).unwrap_or_default().to_owned()
}
