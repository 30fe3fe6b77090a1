//! What a link stands in, by the text before it: running text, or a string of its own that a member of an object holds.

/// Bytes before a link that are looked at: the name of a member, and what stands between it and its value.
pub(super) const CONTEXT: usize = 32;

/// Ends of names of members whose strings are addresses, and no running text.
const ADDRESSES: [&[u8]; 4] = [b"uri", b"url", b"link", b"href"];

/// What begins where a link begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It stands in the middle of a text.
    Text,
    /// A string begins with it: an address, or a text.
    String,
    /// The string of a member that is named as one with an address, such as `remote_uri`, in the message or in a JSON text
    /// inside of it.
    Address,
    /// The string of a member `uri` of the message itself: the name of a resource (MCP 2025-11-25, "Resources"), which the
    /// client gives back as it is.
    Resource,
}

impl Place {
    /// What stands behind these bytes, which are the last [`CONTEXT`] of the text.
    pub(super) fn behind(before: &[u8]) -> Self {
        let Some(before) = before.strip_suffix(b"\"") else { return Self::Text };
        let value = unescaped(before);
        let Some(key) = value.trim_ascii_end().strip_suffix(b":") else { return Self::String };
        let Some(key) = key.trim_ascii_end().strip_suffix(b"\"") else { return Self::String };
        let name = unescaped(key);
        let start = name.iter().rposition(|byte| *byte == b'"').map_or(0, |quote| quote + 1);
        let (opens, name) = name.split_at(start);
        let is_plain = value.len() == before.len() && key.len() == opens.len() + name.len();
        if is_plain && name == b"uri" && opens.ends_with(b"\"") && !opens.ends_with(b"\\\"") {
            return Self::Resource;
        }
        let ends = |end: &&[u8]| {
            name.len()
                .checked_sub(end.len())
                .is_some_and(|at| name.get(at..).is_some_and(|last| last.eq_ignore_ascii_case(end)))
        };
        if ADDRESSES.iter().any(ends) { Self::Address } else { Self::String }
    }
}

/// A text without the backslashes at its end: those of the quotation mark that followed.
fn unescaped(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b'\\').map_or(0, |last| last + 1);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_member_before_a_string_says_what_the_string_is() {
        for (before, place) in [
            ("", Place::Text),
            ("see ", Place::Text),
            (r#""uri":"#, Place::Text),
            (r#"""#, Place::String),
            (r#"[""#, Place::String),
            (r#"{"text":""#, Place::String),
            (r#"{"uris":""#, Place::String),
            (r#"{"uri":["a",""#, Place::String),
            (r#"{"uri":""#, Place::Resource),
            ("{\"uri\" : \n \"", Place::Resource),
            (r#"{"url":""#, Place::Address),
            (r#"{"remote_uri":""#, Place::Address),
            (r#"{"downloadURL": ""#, Place::Address),
            (r#"{\"uri\":\""#, Place::Address),
            (r#"{\\\"a_link\\\": \\\""#, Place::Address),
            (r#"{"a \"uri":""#, Place::Address),
            (r#"uri":""#, Place::Address),
            (r#"{\"text\":\""#, Place::String),
        ] {
            assert_eq!(Place::behind(before.as_bytes()), place, "{before}");
        }
    }
}
