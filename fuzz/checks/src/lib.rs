//! What must hold for any input. Each check takes raw bytes and panics where something does not hold; ordinary tests
//! run them over made inputs and over `fuzz/seeds`, and each target of `fuzz/fuzz_targets` is one of them.

mod config;
mod definitions;
mod document;
mod header;
mod json;
mod masking;
mod merge;
mod message;
mod mirrored;
mod python;
mod server_bytes;
mod session_id;
mod sse;
mod uri_template;

/// A check of one kind of input.
pub type Check = fn(&[u8]);

/// Every check by the name of its fuzz target and of its folder of seeds.
pub const TARGETS: [(&str, Check); 13] = [
    ("config", config::check),
    ("definitions", definitions::check),
    ("document", document::check),
    ("header", header::check),
    ("masking", masking::check),
    ("merge", merge::check),
    ("message", message::check),
    ("mirrored", mirrored::check),
    ("python", python::check),
    ("server_bytes", server_bytes::check),
    ("session_id", session_id::check),
    ("sse", sse::check),
    ("uri_template", uri_template::check),
];

/// Stands between the parts of an input that has several.
pub const SEPARATOR: char = '\u{1e}';

/// Runs the check of that name; an unknown name is an error of the caller.
pub fn run(target: &str, data: &[u8]) {
    let found = TARGETS.iter().find(|(name, _)| *name == target);
    assert!(found.is_some(), "no check is called {target:?}");
    if let Some((_, check)) = found {
        check(data);
    }
}
