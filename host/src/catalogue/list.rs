//! Results of the list methods.

use bytes::Bytes;

use super::entry::EntryKind;
use super::view::View;
use crate::protocol::Era;

/// The members that every list result of the modern era has. A merged list is authored here: it may change at any
/// moment and belongs to the caller (SEP-2549).
pub const MODERN_MEMBERS: &str = r#""resultType":"complete","ttlMs":0,"cacheScope":"private","#;

/// JSON text of a list result: the definitions stand in it as the router gave them.
pub fn render(view: &View, kind: EntryKind, era: Era) -> Bytes {
    let size: usize = view.listed().map(|entry| entry.definition.len() + 1).sum();
    let mut out = String::with_capacity(size + 128);
    out.push('{');
    if era == Era::Modern {
        out.push_str(MODERN_MEMBERS);
    }
    out.push('"');
    out.push_str(kind.list_member());
    out.push_str("\":[");
    for (place, entry) in view.listed().filter(|entry| entry.kind == kind).enumerate() {
        if place > 0 {
            out.push(',');
        }
        out.push_str(&entry.definition);
    }
    out.push_str("]}");
    Bytes::from(out)
}
