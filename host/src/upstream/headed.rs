//! Tools of servers that take arguments in headers, too (`x-mcp-header`; MCP 2026-07-28): a tool whose annotations break the
//! rules must not be offered by a client of such a server, and plugway is one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::pipeline::port::LeftOut;
use crate::protocol::{Mirrored, annotations, message, scan};

/// Longest name that is shown of a tool that is left out.
const SHOWN: usize = 128;

/// What a server's tools are worth to a client that sends headers.
#[derive(Debug, Default)]
pub(super) struct Headed {
    pub(super) tools: Vec<Arc<str>>,
    pub(super) mirrored: BTreeMap<Arc<str>, Arc<[Mirrored]>>,
    pub(super) left_out: Vec<LeftOut>,
}

impl Headed {
    /// Tools of a server that takes no such headers: their annotations are none of its clients' business.
    pub(super) fn unheard(tools: Vec<Arc<str>>) -> Self {
        Self { tools, ..Self::default() }
    }

    /// Judges each tool once, when the catalogue was read; calls find what is known of theirs by its name.
    pub(super) fn judge(tools: Vec<Arc<str>>) -> Self {
        let mut all = Self { tools: Vec::with_capacity(tools.len()), ..Self::default() };
        for tool in tools {
            match annotations::mirrored(&tool) {
                Ok(mirrored) if mirrored.is_empty() => {}
                Ok(mirrored) => {
                    // The first one of a name keeps it, as everywhere.
                    all.mirrored.entry(name(&tool)).or_insert_with(|| mirrored.into());
                }
                Err(bad) => {
                    let tool = name(&tool).chars().take(SHOWN).collect::<String>().into();
                    all.left_out.push(LeftOut { tool, reason: bad.to_string().into() });
                    continue;
                }
            }
            all.tools.push(tool);
        }
        all
    }
}

fn name(tool: &str) -> Arc<str> {
    let raw = scan::member(tool, "name").and_then(|span| tool.get(span.range()));
    raw.and_then(message::string).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, header: &str) -> Arc<str> {
        let parameter = format!(r#"{{"type":"string","x-mcp-header":"{header}"}}"#);
        format!(r#"{{"inputSchema":{{"properties":{{"p":{parameter}}}}},"name":"{name}"}}"#).into()
    }

    #[test]
    fn an_invalid_tool_is_left_out_and_the_others_stay_as_they_are() {
        let plain: Arc<str> = r#"{"name":"plain"}"#.into();
        let all = vec![plain.clone(), tool("good", "P"), tool("bad", "a b"), tool("good", "Q")];
        let headed = Headed::judge(all.clone());
        assert_eq!(headed.tools, [plain, tool("good", "P"), tool("good", "Q")]);
        let known: Vec<_> = headed.mirrored.iter().collect();
        assert_eq!(known.len(), 1);
        assert_eq!((&**known[0].0, known[0].1[0].header().as_str()), ("good", "mcp-param-p"));
        let reason = "\"a b\" cannot be the name of a header".into();
        assert_eq!(headed.left_out, [LeftOut { tool: "bad".into(), reason }]);
        let unheard = Headed::unheard(all.clone());
        assert_eq!(unheard.tools, all);
        assert!(unheard.mirrored.is_empty() && unheard.left_out.is_empty());
    }
}
