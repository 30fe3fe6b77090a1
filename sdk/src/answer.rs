//! Helpers for what a plugin says: refusals, and results of tools.

use serde::Serialize;
use serde_json::json;

use crate::{Failure, Rejection};

impl Rejection {
    /// A refusal; `message` is one sentence that an agent can act on. A tool call gets it as a result with `isError`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into(), body: None, retry_after_ms: None, cause: None }
    }

    /// As a JSON-RPC error with this code instead.
    #[must_use]
    pub fn with_code(self, code: i32) -> Self {
        Self { code: Some(code), ..self }
    }

    /// Shows this text instead of the message, where a documented form must be kept.
    #[must_use]
    pub fn with_body(self, body: impl Into<String>) -> Self {
        Self { body: Some(body.into()), ..self }
    }

    /// Which rule decided, for log and audit; the client never sees it.
    #[must_use]
    pub fn because(self, cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// Trying again makes sense after so many milliseconds.
    #[must_use]
    pub fn retry_after(self, milliseconds: u32) -> Self {
        Self { retry_after_ms: Some(milliseconds), ..self }
    }
}

/// JSON of a tool result with one text.
pub fn text(text: &str) -> String {
    json!({"content": [{"type": "text", "text": text}]}).to_string()
}

/// JSON of a tool result with `isError` and one text.
pub fn error_text(text: &str) -> String {
    json!({"content": [{"type": "text", "text": text}], "isError": true}).to_string()
}

/// JSON of a tool result with structured content, and the same as text for clients that read only that.
pub fn structured(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(value)?;
    let value = serde_json::to_value(value)?;
    Ok(json!({"content": [{"type": "text", "text": text}], "structuredContent": value}).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_is_built_up() {
        let rejection = Rejection::new("Too many.")
            .with_code(-32_000)
            .retry_after(50)
            .with_body("{}")
            .because("a rule");
        assert_eq!(rejection.cause.as_deref(), Some("a rule"));
        assert_eq!(rejection.code, Some(-32_000));
        assert_eq!(rejection.retry_after_ms, Some(50));
        assert_eq!(rejection.body.as_deref(), Some("{}"));
        assert_eq!(rejection.message, "Too many.");
    }

    #[test]
    fn results_are_valid_json() {
        let made = structured(&json!({"n": 1})).unwrap();
        assert_eq!(
            made,
            r#"{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}"#
        );
        assert!(error_text("no").contains(r#""isError":true"#));
        assert!(text("a \"b\"").contains(r#"a \"b\""#));
    }
}
