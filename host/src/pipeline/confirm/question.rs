//! What the person is asked: plugway's own words around what others wrote, which stands in blocks that it cannot leave.

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::arguments;
use super::asking::Wanted;
use super::limits::{DIGITS, NAME, SENTENCE, SENTENCES};
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
    wanted: &[Wanted],
    id: &str,
) -> Result<Message, Fault> {
    // Before there were modes, all was forms.
    let has_modes = context.revision >= Revision::V2025_11_25;
    let mode = if has_modes { r#""mode":"form","# } else { "" };
    let text = json!(message(context, wanted));
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"elicitation/create","params":{{{mode}"message":{text},"requestedSchema":{FORM}}}}}"#
    );
    Message::parse(request.into())
        .map_err(|error| Fault::new(Code::Internal, "The question was lost.").because(error))
}

/// The words.
fn message(context: &CallContext, wanted: &[Wanted]) -> String {
    let what = what(context);
    let arguments = context.message.field(Field::Arguments).filter(|text| *text != "null");
    let arguments = arguments.map_or_else(String::new, |json| {
        let (shown, left_out) = arguments::shown(json);
        let mut rest = String::new();
        if left_out > 0 {
            let (left_out, digest) = (grouped(left_out), digest(json));
            rest = format!(
                "\n{left_out} bytes of them are not shown. SHA-256 of all of them begins with {digest}."
            );
        }
        format!("\nArguments, as they will be sent:\n```json\n{shown}\n```{rest}")
    });
    let none = if arguments.is_empty() { "\nIt has no arguments." } else { "" };
    let why = why(wanted);
    format!(
        "This call has to be confirmed before it is made.\n```text\n{what}\n```{none}{arguments}\nWhy you are asked:\n```text\n{why}\n```"
    )
}

/// What is called, and where.
fn what(context: &CallContext) -> String {
    let kind = match context.message.method() {
        Method::PromptsGet => "prompt",
        Method::ResourcesRead => "resource",
        _ => "tool",
    };
    let name = quoted(&context.name, NAME);
    let connector = quoted(&context.connector, NAME);
    match &context.target {
        Some((upstream, own)) => {
            let upstream = quoted(upstream, NAME);
            let own = if own.is_empty() || **own == *context.name {
                String::new()
            } else {
                format!("\nthe server's own name for it: {}", quoted(own, NAME))
            };
            format!("{kind}: {name}{own}\nserver: {upstream} behind {connector}")
        }
        None => format!("{kind}: {name}\nserver: {connector}"),
    }
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

/// The beginning of the digest of arguments, for people and for the audit.
pub(super) fn digest(json: &str) -> String {
    let digits = hex(&Sha256::digest(json.as_bytes()));
    digits.get(..DIGITS).unwrap_or_default().to_owned()
}
