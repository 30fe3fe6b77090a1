//! Tags of tools. MCP has none; servers made with FastMCP write them to `_meta.fastmcp.tags`, others to `_meta.tags`.

use crate::object::{Object, items};

/// The tags of a definition, wherever they stand; what is no text among them is none.
pub fn of(definition: &str) -> Vec<String> {
    let meta = || Object::parse(Object::parse(definition)?.get("_meta")?).map(Object::owned);
    let Some(meta) = meta() else { return Vec::new() };
    let folders = ["fastmcp", "_fastmcp"].into_iter().filter_map(|name| meta.get(name));
    let inside = folders.filter_map(|folder| Object::parse(folder).map(Object::owned));
    let mut tags = Vec::new();
    for folder in inside.chain([meta.clone()]) {
        let listed = folder.get("tags").and_then(items).unwrap_or_default();
        tags.extend(listed.into_iter().filter_map(|tag| serde_json::from_str::<String>(tag).ok()));
    }
    tags
}

/// Whether a definition has one of these tags, which are in lower case; `_` in them stands for any character that is no
/// letter and no digit.
pub fn has(definition: &str, tags: &[String]) -> bool {
    let matches = |tag: &String| {
        let tag = tag.to_lowercase();
        let plain: String =
            tag.chars().map(|one| if one.is_alphanumeric() { one } else { '_' }).collect();
        tags.contains(&tag) || tags.contains(&plain)
    };
    !tags.is_empty() && of(definition).iter().any(matches)
}
