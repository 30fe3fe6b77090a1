//! The shape that a connector gets while its router has never given one: every name with its upstream's name before it.

use bytes::Bytes;

use super::port::{ConnectorView, UpstreamView};
use crate::catalogue::{EntryKind, Shaped, ShapedEntry, ShapedTarget};
use crate::protocol::{scan, splice};

/// Prefixes tools and prompts; resources and templates keep their URIs.
pub(super) fn prefix_only(view: &ConnectorView) -> Shaped {
    let mut entries = Vec::new();
    for upstream in &view.upstreams {
        for (kind, definitions) in [
            (EntryKind::Tool, &upstream.tools),
            (EntryKind::Prompt, &upstream.prompts),
            (EntryKind::Resource, &upstream.resources),
            (EntryKind::Template, &upstream.templates),
        ] {
            entries.extend(definitions.iter().filter_map(|text| entry(upstream, kind, text)));
        }
    }
    Shaped { entries, ..Shaped::default() }
}

fn entry(upstream: &UpstreamView, kind: EntryKind, definition: &str) -> Option<ShapedEntry> {
    let span = scan::member(definition, kind.key())?;
    let own: String = serde_json::from_str(definition.get(span.range())?).ok()?;
    let definition = match kind {
        EntryKind::Tool | EntryKind::Prompt => {
            let shown = serde_json::Value::from(format!("{}_{own}", upstream.name)).to_string();
            let text = Bytes::copy_from_slice(definition.as_bytes());
            String::from_utf8(splice(&text, &[(span, shown.as_bytes())]).to_vec()).ok()?
        }
        EntryKind::Resource | EntryKind::Template | EntryKind::Function => definition.to_owned(),
    };
    let target = ShapedTarget::Fixed(upstream.name.to_string(), own);
    Some(ShapedEntry { kind: kind.as_str().to_owned(), definition, target })
}
