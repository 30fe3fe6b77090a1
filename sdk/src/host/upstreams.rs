//! Capability `upstreams`: requests to upstreams of the connector, as the current caller, under the same policies.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Failure;

imports! { upstreams {
    /// `params` and the result are JSON texts; the error is JSON of a JSON-RPC error, or one sentence.
    fn request(upstream: &str, method: &str, params: &str) -> Result<String, String>;
} }

/// Calls a tool by the upstream's own name for it; the whole result, read as a type.
pub fn call_tool<T: DeserializeOwned>(
    upstream: &str,
    name: &str,
    arguments: &impl Serialize,
) -> Result<T, Failure> {
    let params = serde_json::to_string(&serde_json::json!({"name": name, "arguments": arguments}))?;
    let result = request(upstream, "tools/call", &params).map_err(Failure::new)?;
    Ok(serde_json::from_str(&result)?)
}
