//! Which tools are always listed.

use std::time::Duration;

use memchr::memmem;

use crate::catalogue::{Entry, EntryKind, Target};
use crate::glob;
use crate::protocol::{message, scan};

/// How a connector is discovered that does not list all of its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lazy {
    /// Globs over names that clients see: tools that match one are always listed, unless they are tagged `gated`.
    pub residents: Vec<String>,
    /// Tools that one session may have loaded at once.
    pub cap: usize,
    /// A loaded tool that is not used for so long is unloaded.
    pub idle: Duration,
}

impl Lazy {
    /// Whether an entry is always listed. Only tools of servers may not be: the router's own tools are how the others are
    /// found.
    pub fn keeps(&self, entry: &Entry) -> bool {
        let named = || self.residents.iter().any(|glob| glob::matches(glob, &entry.key));
        entry.kind != EntryKind::Tool
            || entry.target == Target::Local
            || (named() && !is_gated(&entry.definition))
    }
}

/// Whether a definition has the tag `gated`, as servers made with FastMCP write it: `_meta.fastmcp.tags`, in older ones
/// `_meta._fastmcp.tags`; others write `_meta.tags`.
fn is_gated(definition: &str) -> bool {
    const TAG: &str = "gated";
    // Most have no such tag. A text may be written in other ways, but then with a backslash.
    let bytes = definition.as_bytes();
    if memmem::find(bytes, TAG.as_bytes()).is_none() && memchr::memchr(b'\\', bytes).is_none() {
        return false;
    }
    let Some(meta) = member(definition, "_meta") else { return false };
    let makers = ["fastmcp", "_fastmcp"].iter().filter_map(|maker| member(meta, maker));
    makers.chain([meta]).any(|own| {
        let tags = member(own, "tags").unwrap_or_default();
        let all = scan::items(tags).unwrap_or_default();
        let mut texts = all.iter().filter_map(|tag| message::string(tags.get(tag.range())?));
        texts.any(|tag| tag == TAG)
    })
}

fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    object.get(scan::member(object, name)?.range())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Hints;

    fn entry(kind: EntryKind, target: Target, key: &str, definition: &str) -> Entry {
        Entry {
            kind,
            key: key.into(),
            definition: definition.into(),
            target,
            arguments: None,
            hints: Hints::default(),
            mirrored: Box::default(),
        }
    }

    fn tool(key: &str, definition: &str) -> Entry {
        let target = Target::Fixed { upstream: 0, name: key.into(), guarded: false };
        entry(EntryKind::Tool, target, key, definition)
    }

    fn lazy(residents: &[&str]) -> Lazy {
        let residents = residents.iter().map(|glob| (*glob).to_owned()).collect();
        Lazy { residents, cap: 64, idle: Duration::from_secs(1) }
    }

    #[test]
    fn tools_of_servers_are_listed_where_a_glob_names_them() {
        let lazy = lazy(&["git_*", "time_now"]);
        for (name, kept) in [("git_log", true), ("time_now", true), ("time", false)] {
            assert_eq!(lazy.keeps(&tool(name, "{}")), kept, "{name}");
        }
        assert!(!lazy.keeps(&entry(EntryKind::Tool, Target::Dynamic, "x", "{}")));
        assert!(lazy.keeps(&entry(EntryKind::Tool, Target::Local, "x", "{}")));
        let target = Target::Fixed { upstream: 0, name: "x".into(), guarded: false };
        assert!(lazy.keeps(&entry(EntryKind::Prompt, target, "x", "{}")));
    }

    #[test]
    fn what_is_gated_is_never_a_resident() {
        let lazy = lazy(&["*"]);
        for (definition, gated) in [
            (r#"{"_meta":{"fastmcp":{"tags":["ops","gated"]}}}"#, true),
            (r#"{"_meta":{"_fastmcp":{"tags":["gated"]}}}"#, true),
            (r#"{"_meta":{"fastmcp":{"tags":["g\u0061ted"]}}}"#, true),
            (r#"{"_meta":{"fastmcp":{"tags":["investigated"]}}}"#, false),
            (r#"{"description":"gated","_meta":{"fastmcp":{"tags":[]}}}"#, false),
            (r#"{"_meta":{"fastmcp":{"tags":"gated"}}}"#, false),
            (r#"{"tags":["gated"]}"#, false),
        ] {
            assert_eq!(lazy.keeps(&tool("x", definition)), !gated, "{definition}");
        }
    }
}
