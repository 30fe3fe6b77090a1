//! What a caller hears. Calls of tools keep the sentences of agora-workbench, as the JSON that clients of it know.

use std::fmt::Write as _;

use plugway_sdk::Rejection;

/// Characters of a name that are said.
const NAME_MAX: usize = 256;

/// What is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A call of a tool, or a function in its code.
    Tool,
    /// A prompt, or a completion of its arguments.
    Prompt,
    /// A resource, or a completion of a template of some.
    Resource,
    /// A method that plugway does not know.
    Method,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Tool => "Tool",
            Self::Prompt => "Prompt",
            Self::Resource => "Resource",
            Self::Method => "Method",
        }
    }
}

/// A refusal with this sentence.
pub fn with(kind: Kind, sentence: String, cause: String) -> Rejection {
    let body = (kind == Kind::Tool).then(|| json(&sentence, None));
    let refusal = Rejection::new(sentence).because(cause);
    Rejection { body, ..refusal }
}

/// A list or a rule is against it.
pub fn blocked(kind: Kind, name: &str, cause: String) -> Rejection {
    let name = shortened(name);
    with(kind, format!("{} '{name}' is blocked by gateway policy.", kind.word()), cause)
}

/// Lists depend on what the code uses, and nobody can tell.
pub fn unreadable(cause: String) -> Rejection {
    let sentence = "This code cannot be read as Python, so that gateway policy cannot tell which functions it uses.";
    with(Kind::Tool, sentence.to_owned(), cause)
}

/// Lists depend on what the code uses, and it is more than is read of any.
pub fn too_long(bytes: usize) -> Rejection {
    let sentence = format!(
        "This code is longer than {} KiB, so that gateway policy does not look which functions it uses.",
        bytes >> 10
    );
    with(Kind::Tool, sentence, "the code is too long to be read".to_owned())
}

/// A call that stands for as many calls as it has inputs, and nobody can tell how many these are.
pub fn uncountable() -> Rejection {
    let sentence = "The argument `inputs` must be a list, so that gateway policy can count for how many calls it stands.";
    with(Kind::Tool, sentence.to_owned(), "the inputs cannot be counted".to_owned())
}

/// A limit is used up for now.
pub fn limited(kind: Kind, per_minute: u32, wait_ms: u32, cause: String) -> Rejection {
    let sentence = format!(
        "Rate limit exceeded: maximum {per_minute} calls per minute. Please wait and try again."
    );
    let body = (kind == Kind::Tool).then(|| json(&sentence, Some(wait_ms.div_ceil(1_000))));
    let refusal = Rejection::new(sentence).because(cause).retry_after(wait_ms);
    Rejection { body, ..refusal }
}

/// A call that stands for more calls than a limit ever has room for.
pub fn too_much(kind: Kind, cost: u32, room: u32, cause: String) -> Rejection {
    let sentence = format!(
        "Rate limit exceeded: this counts as {cost} calls, and there is never room for more than {room}."
    );
    with(kind, sentence, cause)
}

/// As Python's `json.dumps` writes it.
fn json(error: &str, retry_after_seconds: Option<u32>) -> String {
    let mut text = String::with_capacity(error.len() + 64);
    text.push_str(r#"{"success": false, "error": ""#);
    for c in error.chars() {
        escape(c, &mut text);
    }
    text.push('"');
    if let Some(seconds) = retry_after_seconds {
        text.push_str(", \"retry_after_seconds\": ");
        text.push_str(&seconds.to_string());
    }
    text.push('}');
    text
}

fn escape(c: char, text: &mut String) {
    match c {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        ' '..='~' => text.push(c),
        _ => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing into a string does not fail.
                _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
}

/// A URI may be long, and comes from the client.
fn shortened(name: &str) -> String {
    let mut kept: String = name.chars().take(NAME_MAX).collect();
    if kept.len() < name.len() {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_tool_is_said_as_the_reference_says_it() {
        let refusal = blocked(Kind::Tool, "cancel_batch", "why".into());
        assert_eq!(refusal.message, "Tool 'cancel_batch' is blocked by gateway policy.");
        assert_eq!(
            refusal.body.as_deref(),
            Some(
                r#"{"success": false, "error": "Tool 'cancel_batch' is blocked by gateway policy."}"#
            )
        );
        assert_eq!((refusal.code, refusal.cause.as_deref()), (None, Some("why")));
    }

    #[test]
    fn a_limit_says_when_to_come_again() {
        let refusal = limited(Kind::Tool, 5, 11_001, String::new());
        assert_eq!(
            refusal.body.as_deref(),
            Some(
                r#"{"success": false, "error": "Rate limit exceeded: maximum 5 calls per minute. Please wait and try again.", "retry_after_seconds": 12}"#
            )
        );
        assert_eq!(refusal.retry_after_ms, Some(11_001));
    }

    #[test]
    fn prompts_and_resources_get_a_sentence() {
        let refusal = blocked(Kind::Prompt, "greet", String::new());
        assert_eq!(
            (refusal.message.as_str(), refusal.body),
            ("Prompt 'greet' is blocked by gateway policy.", None)
        );
        let long = blocked(Kind::Resource, &"x".repeat(9_000), String::new());
        assert!(long.message.len() < 400, "{}", long.message);
    }

    #[test]
    fn json_is_what_python_writes() {
        let written = json("a \"b\" \\ \u{7f} é 😀\n", None);
        assert_eq!(
            written,
            r#"{"success": false, "error": "a \"b\" \\ \u007f \u00e9 \ud83d\ude00\n"}"#
        );
        let read: serde_json::Value = serde_json::from_str(&written).unwrap();
        assert_eq!(read["error"], "a \"b\" \\ \u{7f} é 😀\n");
    }
}
