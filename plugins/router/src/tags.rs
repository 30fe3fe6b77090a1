//! Tags of tools. MCP has none; servers made with FastMCP write them to `_meta.fastmcp.tags`, others to `_meta.tags`.

use crate::object::Object;

/// The tags of a definition.
pub fn of(definition: &str) -> Vec<String> {
    let read = || {
        let tool = Object::parse(definition)?;
        let meta = Object::parse(tool.get("_meta")?)?;
        let own = meta.get("fastmcp").or_else(|| meta.get("_fastmcp")).and_then(Object::parse);
        let tags = own.as_ref().and_then(|own| own.get("tags")).or_else(|| meta.get("tags"))?;
        serde_json::from_str(tags).ok()
    };
    read().unwrap_or_default()
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
