//! The whole answer to one request.

use anyhow::{Context as _, Result};
use http::HeaderMap;
use serde_json::{Value, json};

use super::events::event_message;
use crate::http::Answer;

/// The whole answer to a request.
#[derive(Debug)]
pub struct Reply {
    id: u64,
    /// The HTTP status.
    pub status: u16,
    /// The HTTP headers.
    pub headers: HeaderMap,
    /// Every message of the answer, the response last; none where the body is not JSON.
    pub messages: Vec<Value>,
    /// The body as text.
    pub text: String,
}

impl Reply {
    pub(super) fn new(id: u64, answer: Answer) -> Self {
        let messages = messages(&answer).unwrap_or_default();
        let text = answer.text();
        Self { id, status: answer.status, headers: answer.headers, messages, text }
    }

    /// A header's value as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The response with this request's id.
    pub fn response(&self) -> Result<&Value> {
        let is_ours = |message: &&Value| {
            message.get("id") == Some(&json!(self.id)) && message.get("method").is_none()
        };
        self.messages.iter().find(is_ours).with_context(|| {
            format!("no response to request {} in {} {}", self.id, self.status, self.text)
        })
    }

    /// The response's result.
    pub fn result(&self) -> Result<&Value> {
        let response = self.response()?;
        response.get("result").with_context(|| format!("not a result: {} {response}", self.status))
    }

    /// The response's error code.
    pub fn error_code(&self) -> Result<i64> {
        let response = self.response()?;
        let code = response.pointer("/error/code").and_then(Value::as_i64);
        code.with_context(|| format!("not an error: {} {response}", self.status))
    }
}

fn messages(answer: &Answer) -> Result<Vec<Value>> {
    let kind = answer.header("content-type").unwrap_or_default();
    if kind.starts_with("text/event-stream") {
        let text = answer.text().replace("\r\n", "\n");
        return text.split("\n\n").filter_map(|event| event_message(event).transpose()).collect();
    }
    Ok(if answer.body.is_empty() { Vec::new() } else { vec![answer.json()?] })
}
