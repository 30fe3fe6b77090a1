//! JSON Merge Patch (RFC 7396) over text: members that do not change keep their bytes.

use std::collections::HashMap;

use super::document::{Ambiguous, Document};
use super::message::string;
use super::scan::{Span, members};

/// A merge that cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The target or the patch cannot be read the same way by everybody.
    #[error("the text to merge is ambiguous")]
    Ambiguous(#[from] Ambiguous),
    /// Both must be objects.
    #[error("the {0} to merge is no JSON object")]
    NoObject(&'static str),
}

/// JSON text of the object `target` with the members of the object `patch` merged into it.
pub fn merge(target: &str, patch: &str) -> Result<String, MergeError> {
    // Bounds the depth of both, and with it the recursion below.
    Document::parse(target)?;
    Document::parse(patch)?;
    let mut out = String::with_capacity(target.len() + patch.len());
    let target = members(target).map(|members| (target, members));
    let patch = members(patch).map(|members| (patch, members));
    object(
        &mut out,
        target.as_ref().ok_or(MergeError::NoObject("target"))?,
        patch.as_ref().ok_or(MergeError::NoObject("patch"))?,
    );
    Ok(out)
}

type Object<'a> = (&'a str, Vec<(Span, Span)>);

fn object(out: &mut String, target: &Object<'_>, patch: &Object<'_>) {
    let mut changes: HashMap<_, _> =
        patch.1.iter().map(|(key, value)| (name(patch.0, *key), slice(patch.0, *value))).collect();
    let mut separator = '{';
    for (key, value) in &target.1 {
        let change = changes.remove(&name(target.0, *key));
        if change == Some("null") {
            continue;
        }
        out.push(separator);
        separator = ',';
        let Some(change) = change else {
            let whole = target.0.get(key.range().start..value.range().end);
            out.push_str(whole.unwrap_or_default());
            continue;
        };
        out.push_str(slice(target.0, *key));
        out.push(':');
        patched(out, slice(target.0, *value), change);
    }
    for (key, value) in &patch.1 {
        let change = slice(patch.0, *value);
        if change != "null" && changes.contains_key(&name(patch.0, *key)) {
            out.push(separator);
            separator = ',';
            out.push_str(slice(patch.0, *key));
            out.push(':');
            patched(out, "{}", change);
        }
    }
    out.push_str(if separator == '{' { "{}" } else { "}" });
}

/// One value after the change: objects are merged, also into nothing, everything else is replaced.
fn patched(out: &mut String, old: &str, change: &str) {
    let Some(patch) = members(change) else { return out.push_str(change) };
    object(out, &(old, members(old).unwrap_or_default()), &(change, patch));
}

fn slice(text: &str, span: Span) -> &str {
    text.get(span.range()).unwrap_or_default()
}

fn name(text: &str, key: Span) -> Option<std::borrow::Cow<'_, str>> {
    string(slice(text, key))
}
