//! The call in hand. Asking outside a hook that has a call traps.

use serde::de::DeserializeOwned;

use crate::Failure;
pub use crate::raw::plugway::plugin::call::Way;

imports! { call {
    /// Which way the message goes.
    fn direction() -> Way;
    /// `tools/call`, `prompts/get`, `resources/read`, ...
    fn method() -> String;
    /// Tool or prompt name, or resource URI, as the client sent it.
    fn name() -> String;
    /// Upstream and its own name for the thing; none while `route` still has to decide, and for local entries.
    fn target() -> Option<(String, String)>;
    /// Keyed hash of the session.
    fn session() -> Option<String>;
    /// A request header that the operator granted.
    fn header(name: &str) -> Option<String>;
    /// Length of the arguments' JSON text in bytes.
    fn arguments_len() -> u32;
    /// The arguments as JSON text.
    fn arguments_json() -> String;
    /// Annotation of the tool after the operator's trust rules, such as `readOnlyHint`.
    fn hint(name: &str) -> Option<bool>;
    /// 0 for the first attempt.
    fn attempt() -> u32;
    /// Some for the retry of a call that asked for input: rates were charged already.
    fn retry_of() -> Option<String>;
    /// Milliseconds until the call is given up.
    fn deadline_ms() -> Option<u32>;
    /// A documented key, or one that an earlier policy set.
    fn attribute(key: &str) -> Option<String>;
} }

/// The JSON text at an RFC 6901 pointer into the arguments; a string has its quotes.
pub fn argument_json(pointer: &str) -> Option<String> {
    imported::argument(pointer)
}

/// The argument at an RFC 6901 pointer (`/path`), read as a type; a value of another type is a failure, not none.
pub fn argument<T: DeserializeOwned>(pointer: &str) -> Result<Option<T>, Failure> {
    let Some(text) = imported::argument(pointer) else { return Ok(None) };
    let value = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("argument {pointer}: {error}")))?;
    Ok(Some(value))
}

/// All arguments, read as a type.
pub fn arguments<T: DeserializeOwned>() -> Result<T, Failure> {
    serde_json::from_str(&arguments_json())
        .map_err(|error| Failure::new(format!("arguments: {error}")))
}
