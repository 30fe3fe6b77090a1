//! Who calls. Known in every hook that has a call, and in `visible`.

use serde::de::DeserializeOwned;

use crate::Failure;

imports! { caller {
    /// Opaque and collision-free; the same for every session of the caller.
    fn id() -> String;
    /// Readable form for logs and messages; never to decide by.
    fn display() -> String;
    /// A caller without identity, where the connector allows one.
    fn anonymous() -> bool;
    /// Tenant or organisation.
    fn tenant() -> Option<String>;
    /// The client or application that acts for the caller.
    fn client() -> Option<String>;
    /// Whether the caller was granted exactly this scope.
    fn has_scope(scope: &str) -> bool;
} }

/// One verified claim as JSON text.
pub fn claim_json(name: &str) -> Option<String> {
    imported::claim(name)
}

/// One verified claim, read as a type; a value of another type is a failure, not none.
pub fn claim<T: DeserializeOwned>(name: &str) -> Result<Option<T>, Failure> {
    let Some(text) = imported::claim(name) else { return Ok(None) };
    let value = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("claim {name}: {error}")))?;
    Ok(Some(value))
}
