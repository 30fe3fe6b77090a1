//! What a connector is supposed to offer where no server is asked: as much of it as policies look at.

use std::sync::Arc;

use crate::catalogue::{Catalogue, Shaped, ShapedEntry, ShapedTarget};

/// A tool that makes a server one that runs code.
const EXECUTE: &str = "execute_code";

/// The catalogue of a connector before this one server, whose code can call these functions.
pub(super) fn catalogue(
    upstream: Option<&Arc<str>>,
    runs_code: bool,
    functions: &[String],
) -> Catalogue {
    let Some(upstream) = upstream else { return Catalogue::default() };
    let entry = |kind: &str, name: &str| ShapedEntry {
        kind: kind.to_owned(),
        definition: serde_json::json!({"name": name}).to_string(),
        target: ShapedTarget::Fixed(upstream.to_string(), name.to_owned()),
    };
    let mut entries: Vec<ShapedEntry> =
        functions.iter().map(|name| entry("function", name)).collect();
    entries.extend(runs_code.then(|| entry("tool", EXECUTE)));
    // What is said twice is one function; names that are none were refused.
    let (catalogue, _taken) =
        Catalogue::compile(0, vec![upstream.clone()], Shaped { entries, ..Shaped::default() });
    catalogue
}
