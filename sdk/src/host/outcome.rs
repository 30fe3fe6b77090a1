//! The answer, or answers after a gather. Index 0 unless gathered.

use serde::de::DeserializeOwned;

use crate::Failure;

imports! { outcome {
    /// Number of answers.
    fn count() -> u32;
    /// The worker that gave it.
    fn worker(index: u32) -> Option<u32>;
    /// None = an answer came; else `connect`, `timeout`, `http-502`, `closed`, ...
    fn failed(index: u32) -> Option<String>;
    /// Whether the request may have reached the worker.
    fn dispatched(index: u32) -> bool;
    /// A JSON-RPC error, or a tool result with `isError`.
    fn is_error(index: u32) -> bool;
    /// Microseconds from the request to the end of the answer.
    fn latency_us(index: u32) -> u32;
    /// Length of the kept body in bytes.
    fn body_len(index: u32) -> u32;
    /// JSON text of `result`, or of `error`.
    fn body(index: u32) -> String;
} }

/// JSON text at an RFC 6901 pointer into the body.
pub fn field_json(index: u32, pointer: &str) -> Option<String> {
    imported::field(index, pointer)
}

/// The value at an RFC 6901 pointer into the body, read as a type; one of another type is a failure, not none.
pub fn field<T: DeserializeOwned>(index: u32, pointer: &str) -> Result<Option<T>, Failure> {
    let Some(text) = imported::field(index, pointer) else { return Ok(None) };
    let value = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("answer {pointer}: {error}")))?;
    Ok(Some(value))
}
