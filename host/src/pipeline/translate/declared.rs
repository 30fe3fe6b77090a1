//! What a client declared that it answers.

use crate::protocol::message::string;
use crate::protocol::{Message, scan};

/// The capability of a client that answers a request of this kind.
pub(super) fn capability(question: &Message) -> Option<&'static str> {
    match &*question.method_name() {
        "elicitation/create" => Some("elicitation"),
        "sampling/createMessage" => Some("sampling"),
        "roots/list" => Some("roots"),
        _ => None,
    }
}

/// Whether a client with these capabilities, which are JSON text, answers such a question.
pub(crate) fn declared(question: &Message, capabilities: &str) -> bool {
    let member = |object: &str, name: &str| {
        let span = scan::member(object, name)?;
        object.get(span.range()).filter(|value| value.starts_with('{')).map(str::to_owned)
    };
    let Some(declared) = capability(question).and_then(|name| member(capabilities, name)) else {
        return false;
    };
    if capability(question) != Some("elicitation") {
        return true;
    }
    let params = question.params().unwrap_or("{}");
    let mode = scan::member(params, "mode").and_then(|span| string(params.get(span.range())?));
    match mode.as_deref() {
        // No mode at all is what forms were before there were modes.
        None | Some("form") => {
            member(&declared, "form").is_some() || member(&declared, "url").is_none()
        }
        Some(mode) => member(&declared, mode).is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_answers_what_it_declared() {
        for (capabilities, method, params, expected) in [
            ("{}", "roots/list", "{}", false),
            (r#"{"roots":{}}"#, "roots/list", "{}", true),
            (r#"{"roots":null,"sampling":{}}"#, "roots/list", "{}", false),
            (r#"{"roots":null,"sampling":{}}"#, "sampling/createMessage", "{}", true),
            (r#"{"elicitation":{}}"#, "elicitation/create", r#"{"message":"m"}"#, true),
            (r#"{"elicitation":{}}"#, "elicitation/create", r#"{"mode":"form"}"#, true),
            (r#"{"elicitation":{}}"#, "elicitation/create", r#"{"mode":"url"}"#, false),
            (r#"{"elicitation":{"url":{}}}"#, "elicitation/create", r#"{"mode":"u\u0072l"}"#, true),
            (r#"{"elicitation":{"url":{}}}"#, "elicitation/create", "{}", false),
            (r#"{"elicitation":{"url":{},"form":{}}}"#, "elicitation/create", "{}", true),
            (r#"{"elicitation":{},"tasks":{}}"#, "tasks/get", "{}", false),
            ("[]", "roots/list", "{}", false),
        ] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let question = Message::parse(text.into()).unwrap();
            assert_eq!(declared(&question, capabilities), expected, "{capabilities} {method}");
        }
    }
}
