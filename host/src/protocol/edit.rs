//! Replacing spans of a message: what is not replaced is copied, never re-encoded.

use bytes::{Bytes, BytesMut};

use super::scan::Span;

/// Text with each span replaced. Spans must be in order and must not overlap; one that is out of bounds is left out.
pub fn splice(text: &Bytes, edits: &[(Span, &[u8])]) -> Bytes {
    if edits.is_empty() {
        return text.clone();
    }
    let added: usize = edits.iter().map(|(_, new)| new.len()).sum();
    let mut out = BytesMut::with_capacity(text.len() + added);
    let mut from = 0;
    for (span, new) in edits {
        let range = span.range();
        let fits = range.start <= range.end && range.end <= text.len();
        let Some(kept) = text.get(from..range.start).filter(|_| fits) else { continue };
        out.extend_from_slice(kept);
        out.extend_from_slice(new);
        from = range.end;
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out.freeze()
}
