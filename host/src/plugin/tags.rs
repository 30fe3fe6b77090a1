//! Tags of entries. MCP has none; servers made with FastMCP write them to `_meta.fastmcp.tags` (older ones to
//! `_meta._fastmcp.tags`), others to `_meta.tags`.

use crate::protocol::{message, scan};

/// Tags of one entry that plugins see; what a server gives more is left out.
const TAGS: usize = 64;
/// Bytes of one tag; a longer one is left out.
const TAG: usize = 128;

/// The tags of a definition, in order and each once; what is no text among them is none.
pub(super) fn of(definition: &str) -> Vec<String> {
    // Most definitions have none.
    let Some(meta) = part(definition, "_meta") else { return Vec::new() };
    let folders = ["fastmcp", "_fastmcp"].into_iter().filter_map(|name| part(meta, name));
    let mut tags = Vec::new();
    for list in folders.chain([meta]).filter_map(|folder| part(folder, "tags")) {
        let items = scan::items(list).unwrap_or_default().into_iter();
        let texts = items.filter_map(|item| message::string(list.get(item.range())?));
        tags.extend(
            texts.filter(|tag| tag.len() <= TAG).take(TAGS).map(std::borrow::Cow::into_owned),
        );
    }
    tags.sort_unstable();
    tags.dedup();
    tags.truncate(TAGS);
    tags
}

fn part<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    object.get(scan::member(object, name)?.range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_wherever_servers_write_them() {
        for (definition, tags) in [
            (r#"{"name":"a"}"#, &[][..]),
            (r#"{"_meta":{"fastmcp":{"tags":["b","a","b"]}}}"#, &["a", "b"]),
            (r#"{"_meta":{"_fastmcp":{"tags":["a"]},"tags":["c",1,null]}}"#, &["a", "c"]),
            (r#"{"_meta":{"tags":"a"}}"#, &[]),
            (r#"{"_meta":["tags"],"tags":["a"]}"#, &[]),
            (r#"{"_meta":{"fastmcp":{"tags":["\u0061"]}}}"#, &["a"]),
        ] {
            assert_eq!(of(definition), tags, "{definition}");
        }
    }

    #[test]
    fn a_server_cannot_give_too_many_or_too_long_ones() {
        let many: Vec<String> = (0..1_000).map(|n| format!("\"{n}\"")).collect();
        let all = many.join(",");
        let definition = format!(r#"{{"_meta":{{"tags":[{all}],"fastmcp":{{"tags":[{all}]}}}}}}"#);
        assert_eq!(of(&definition).len(), TAGS);
        let long = "a".repeat(TAG + 1);
        assert_eq!(of(&format!(r#"{{"_meta":{{"tags":["{long}","b"]}}}}"#)), ["b"]);
    }
}
