//! What was prepared as one text: the document beside a shape. Every search of a new instance reads it, so the many are in
//! packed lines, and only what is rare is JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bm25::Index;
use super::packed::{Joined, Packed, numbers};
use super::prepared::{Function, Loadable, Prepared, Server, Tool, Way};
use crate::config::Bridge;

/// The first line. The lines after it: names of ways, their servers, ways of tools, two indexes of three lines,
/// and what is published.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Head {
    servers: Vec<Server>,
    skills: Vec<Loadable>,
    details: Vec<Detail>,
    bridges: Vec<Bridge>,
    owns: BTreeMap<u32, String>,
    unpublished: BTreeMap<u32, u32>,
    unpublished_functions: Vec<u32>,
}

/// Lines before the last of which there is one line each; what is published has as many as it needs.
const LINES: usize = 11;

/// What few tools have.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Detail {
    /// Place of the tool.
    tool: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<Box<Function>>,
}

/// As a text.
pub fn write(prepared: Prepared) -> Result<String, serde_json::Error> {
    let Prepared { servers, ways, tools, skills, tool_words, skill_words, .. } = prepared;
    let Prepared { bridges, owns, published, unpublished, unpublished_functions, .. } = prepared;
    let reached = Packed::of(tools.iter().map(|tool| tool.way));
    let details = (0..).zip(tools).filter_map(|(tool, Tool { description, function, .. })| {
        (description.is_some() || function.is_some()).then_some(Detail {
            tool,
            description,
            function,
        })
    });
    let details = details.collect();
    let head = Head { servers, skills, details, bridges, owns, unpublished, unpublished_functions };
    let head = serde_json::to_string(&head)?;
    let names = Joined::of(ways.iter().map(|way| way.tool.as_str()));
    let owners = Packed::of(ways.iter().map(|way| way.server));
    let ((tools, words, found), (skills, skill_words, loadable)) =
        (tool_words.lines(), skill_words.lines());
    let lines = [
        &head,
        names.text(),
        owners.text(),
        reached.text(),
        tools.text(),
        words,
        found,
        skills.text(),
        skill_words,
        loadable,
        &published,
    ];
    Ok(lines.join("\n"))
}

/// From a text; none if it is none of [`write()`].
pub fn read(text: &str) -> Option<Prepared> {
    let mut lines = text.splitn(LINES, '\n');
    let head: Head = serde_json::from_str(lines.next()?).ok()?;
    let Head { servers, skills, details, bridges, owns, unpublished, unpublished_functions } = head;
    let (names, owners) = (lines.next()?, lines.next()?);
    let names = names.split(' ').filter(|name| !name.is_empty());
    let ways = names.zip(numbers(owners));
    let ways = ways.map(|(tool, server)| Way { tool: tool.to_owned(), server });
    let ways = ways.collect();
    let mut tools: Vec<Tool> =
        numbers(lines.next()?).map(|way| Tool { way, ..Tool::default() }).collect();
    for Detail { tool, description, function } in details {
        let tool = tools.get_mut(tool as usize)?;
        (tool.description, tool.function) = (description, function);
    }
    let tool_words = Index::read(lines.next()?, lines.next()?, lines.next()?);
    let skill_words = Index::read(lines.next()?, lines.next()?, lines.next()?);
    let published = lines.next()?.to_owned();
    let words = Prepared { tool_words, skill_words, unpublished_functions, ..Prepared::default() };
    Some(Prepared { servers, ways, tools, skills, bridges, owns, published, unpublished, ..words })
}
