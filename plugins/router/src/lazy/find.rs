//! `find_tools`: which tools there are.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::listed::{self, json};
use crate::unified::cut;
use crate::unified::prepared::Prepared;
use crate::unified::sight::Sight;

/// Longest query, in bytes.
pub const QUERY_MAX: usize = 4_096;
/// Longest cursor, in bytes.
pub const CURSOR_MAX: usize = 1_024;
/// Most servers that are named.
pub const SERVERS_MAX: usize = 256;
/// Most tools of a page.
pub const LIMIT_MAX: usize = 100;
/// Tools of a page where nobody says.
pub const LIMIT: usize = 50;
/// The smallest budget.
pub const TOKENS_MIN: usize = 256;
/// The largest budget.
pub const TOKENS_MAX: usize = 1_000_000;

/// So many bytes are about one token.
const TOKEN: usize = 4;
/// Bytes of a page where nobody says.
const ROOM: usize = 256 << 10;
/// Bytes of any page: the text has to fit into what a plugin may write, even where each byte is escaped.
const ROOM_MAX: usize = 1 << 20;
/// Once so many bytes of definitions were read, the page ends: reading takes time, and long schemas are not shown anyway.
const READING: usize = 1 << 20;
/// So many bytes of a description are shown.
const DESCRIPTION_MAX: usize = 1_024;
/// So many bytes of a title are shown.
const TITLE_MAX: usize = 200;

/// The tool's arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Question {
    /// Words.
    pub query: String,
    /// Only tools of these.
    pub servers: Vec<String>,
    /// Every tool.
    pub browse: bool,
    /// Where the page before ended.
    pub cursor: Option<String>,
    /// Most tools of the page.
    pub limit: Option<usize>,
    /// About so many tokens the page may have.
    pub context_budget_tokens: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Page<'a> {
    items: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// A tool on a page.
#[derive(Debug, Serialize)]
struct Item<'a> {
    kind: &'static str,
    name: &'a str,
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    /// Whether the session has loaded it; none where nothing is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    loaded: Option<bool>,
    /// Said only where its server is away.
    #[serde(skip_serializing_if = "Option::is_none")]
    available: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<Box<RawValue>>,
}

/// The answer as JSON text; the error is one sentence about the arguments. `loaded` is what the session has loaded.
pub fn answer(
    prepared: &Prepared,
    sight: &Sight,
    question: &Question,
    loaded: Option<&[String]>,
) -> Result<String, String> {
    let limit = checked(question)?;
    let found = found(prepared, sight, question);
    let start = match &question.cursor {
        None => 0,
        Some(cursor) => {
            let named =
                |one: &(u32, f64)| prepared.way(one.0).is_some_and(|(way, _)| way.tool == *cursor);
            let place = found.iter().position(named);
            place.map(|place| place + 1).ok_or(
                "The cursor names a tool that is not found any more: begin again without it.",
            )?
        }
    };
    let tokens = question.context_budget_tokens;
    let mut room = tokens.map_or(ROOM, |tokens| tokens.saturating_mul(TOKEN)).min(ROOM_MAX);
    let ranked = !question.query.trim().is_empty();
    let (mut items, mut schemas) = (Vec::new(), Vec::new());
    let (mut taken, mut read) = (start, 0);
    for (way, score) in found.iter().skip(start).take(limit) {
        if read > READING {
            break;
        }
        let Some((mut item, schema)) = item(prepared, *way, loaded, &mut read) else {
            taken += 1;
            continue;
        };
        item.score = ranked.then_some(*score);
        let Some(rest) = room.checked_sub(json(&item).len()).or((items.is_empty()).then_some(0))
        else {
            break;
        };
        room = rest;
        items.push(item);
        schemas.push(schema);
        taken += 1;
    }
    // Names first, then schemas, those of the best before those of others.
    for (item, schema) in items.iter_mut().zip(schemas) {
        let Some(schema) = schema else { continue };
        if let Some(rest) = room.checked_sub(schema.get().len()) {
            room = rest;
            item.input_schema = Some(schema);
        }
    }
    let more = taken < found.len();
    let last = found.get(taken.wrapping_sub(1)).and_then(|one| prepared.way(one.0));
    let next_cursor = last.filter(|_| more).map(|(way, _)| way.tool.as_str());
    let hint = (items.is_empty() && !more).then(|| hint(question));
    Ok(json(&Page { items, next_cursor, hint }))
}

fn hint(question: &Question) -> String {
    match question.query.trim() {
        "" => "There are no such tools.".to_owned(),
        query => format!(
            "No tools matched '{}'. Broaden or rephrase the query, or browse.",
            cut(query, TITLE_MAX)
        ),
    }
}

/// The largest number of items, if everything is as it has to be.
fn checked(question: &Question) -> Result<usize, String> {
    let Question { query, servers, browse, cursor, limit, context_budget_tokens } = question;
    if query.trim().is_empty() && servers.is_empty() && !browse {
        return Err("Give a `query`, `servers`, or `browse`: true.".to_owned());
    }
    if query.len() > QUERY_MAX {
        return Err(format!("`query` is longer than {QUERY_MAX} bytes."));
    }
    if servers.len() > SERVERS_MAX {
        return Err(format!("`servers` names more than {SERVERS_MAX}."));
    }
    if cursor.as_ref().is_some_and(|cursor| cursor.len() > CURSOR_MAX) {
        return Err(format!("`cursor` is longer than {CURSOR_MAX} bytes."));
    }
    if context_budget_tokens.is_some_and(|tokens| !(TOKENS_MIN..=TOKENS_MAX).contains(&tokens)) {
        return Err(format!("`context_budget_tokens` must be from {TOKENS_MIN} to {TOKENS_MAX}."));
    }
    let limit = limit.unwrap_or(LIMIT);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(format!("`limit` must be from 1 to {LIMIT_MAX}."));
    }
    Ok(limit)
}

/// Ways that the caller may know of, best first, each once: functions of one server are reached by the same way.
fn found(prepared: &Prepared, sight: &Sight, question: &Question) -> Vec<(u32, f64)> {
    let wanted = |way: u32| {
        let server = prepared.way(way).map(|(_, server)| &server.name);
        question.servers.is_empty() || server.is_some_and(|name| question.servers.contains(name))
    };
    let tools = prepared.tools.iter().zip(sight.of_tools());
    let seen: Vec<bool> = tools.map(|(one, seen)| *seen && wanted(one.way)).collect();
    // A page that follows has to be found in the same order: all are ranked.
    let hits = prepared.tool_words.rank(&question.query, usize::MAX, &seen);
    let mut ways = HashSet::new();
    let hits = hits.into_iter().filter_map(|(place, score)| {
        let way = prepared.tools.get(place as usize)?.way;
        ways.insert(way).then_some((way, score))
    });
    hits.collect()
}

fn item<'a>(
    prepared: &'a Prepared,
    place: u32,
    loaded: Option<&[String]>,
    read: &mut usize,
) -> Option<(Item<'a>, Option<Box<RawValue>>)> {
    let (way, server) = prepared.way(place)?;
    let (title, description, schema);
    if server.up {
        let (definition, length) = listed::of(&way.tool)?;
        *read += length;
        title = definition.title.map(|title| cut(&title, TITLE_MAX));
        description = definition.description.unwrap_or_default();
        schema = definition.input;
    } else {
        let own = prepared.tools.iter().find(|one| one.way == place && one.function.is_none());
        let kept = own.and_then(|tool| tool.description.clone());
        (title, description, schema) = (None, kept.unwrap_or_default(), None);
    }
    let item = Item {
        kind: "tool",
        name: &way.tool,
        server: &server.name,
        title,
        description: cut(&description, DESCRIPTION_MAX),
        score: None,
        loaded: loaded.map(|names| names.contains(&way.tool)),
        available: (!server.up).then_some(false),
        input_schema: None,
    };
    Some((item, schema))
}
