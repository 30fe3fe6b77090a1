//! Reads what a server offers, to the last page.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use super::documents;
use super::failure::Failure;
use super::greeting::Greeting;
use super::headed::Headed;
use super::keeper::Lists;
use super::limits::{CATALOG_AGAIN, ITEMS, LIST, PAGE, PAGES};
use crate::catalogue::{Caching, EntryKind};
use crate::pipeline::port::Offering;
use crate::protocol::{Era, scan};

/// One list: its method, its member, and the capability without which it is not asked for.
struct List {
    kind: EntryKind,
    method: &'static str,
    member: &'static str,
    capability: &'static str,
}

const TOOLS: List =
    List { kind: EntryKind::Tool, method: "tools/list", member: "tools", capability: "tools" };
const PROMPTS: List = List {
    kind: EntryKind::Prompt,
    method: "prompts/list",
    member: "prompts",
    capability: "prompts",
};
const RESOURCES: List = List {
    kind: EntryKind::Resource,
    method: "resources/list",
    member: "resources",
    capability: "resources",
};
const TEMPLATES: List = List {
    kind: EntryKind::Template,
    method: "resources/templates/list",
    member: "resourceTemplates",
    capability: "resources",
};

/// What was read.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub(super) offering: Offering,
    /// How long the server lets it count: the least `ttlMs` of its lists, where they have one (MCP 2026-07-28).
    pub(super) ttl: Option<Duration>,
}

impl Catalogue {
    /// That of a server which says what it offers to nobody but callers; `sentence` is for those who have no credential.
    pub(super) fn veiled(sentence: Arc<str>) -> Self {
        Self { offering: Offering { veiled: Some(sentence), ..Offering::default() }, ttl: None }
    }
}

/// Reads every list whose capability the server declares.
pub(super) async fn read<P: Lists>(
    peer: &P,
    greeting: &Greeting,
    name: &str,
) -> Result<Catalogue, Failure> {
    let declared: BTreeMap<String, &RawValue> =
        serde_json::from_str(&greeting.capabilities).unwrap_or_default();
    let mut reading = Reading { peer, name, declared: &declared, ttl: None, caching: [None; 4] };
    let tools = reading.list(&TOOLS).await?;
    let modern = greeting.revision.is_some_and(|revision| revision.era() == Era::Modern);
    let headed =
        if modern && peer.sends_headers() { Headed::judge(tools) } else { Headed::unheard(tools) };
    let runs_code = documents::run_code(&headed);
    let documents = documents::read(peer, runs_code).await;
    if documents::are_missing(&documents) {
        reading.ttl = Some(reading.ttl.unwrap_or(CATALOG_AGAIN).min(CATALOG_AGAIN));
    }
    let prompts = reading.list(&PROMPTS).await?;
    let resources = reading.list(&RESOURCES).await?;
    let templates = reading.list(&TEMPLATES).await?;
    let offering = Offering {
        server_name: Arc::clone(&greeting.server_name),
        revision: greeting.revision,
        capabilities: Arc::clone(&greeting.capabilities),
        instructions: greeting.instructions.clone(),
        runs_code,
        tools: headed.tools,
        prompts,
        resources,
        templates,
        documents,
        caching: reading.caching,
        mirrored: headed.mirrored,
        left_out: headed.left_out,
        held: Arc::default(),
        veiled: None,
    };
    Ok(Catalogue { offering, ttl: reading.ttl })
}

struct Reading<'a, P> {
    peer: &'a P,
    name: &'a str,
    declared: &'a BTreeMap<String, &'a RawValue>,
    ttl: Option<Duration>,
    caching: [Option<Caching>; 4],
}

impl<P: Lists> Reading<'_, P> {
    async fn list(&mut self, list: &List) -> Result<Vec<Arc<str>>, Failure> {
        if self.declared.get(list.capability).is_none_or(|raw| raw.get() == "null") {
            return Ok(Vec::new());
        }
        let mut read = Read::default();
        let mut cursor: Option<String> = None;
        for _ in 0..PAGES {
            let asked = self.peer.list(list.method, cursor.as_deref());
            let page = tokio::time::timeout(PAGE, asked)
                .await
                .unwrap_or_else(|_| Err(Failure::timeout(self.name, PAGE)))?;
            let Some(result) = page.result() else {
                // Servers declare `resources` without templates, for example.
                let error = page.error().unwrap_or_default();
                if is_unknown_method(error) {
                    tracing::debug!(upstream = self.name, method = list.method, "no such list");
                    return Ok(read.items);
                }
                // A server that does not list its tools now is asked again; nobody is helped by an empty list.
                if list.member == TOOLS.member {
                    let what = "declares tools and refused to list them";
                    return Err(Failure::broken(self.name, what).because(error.to_owned()));
                }
                tracing::warn!(upstream = self.name, method = list.method, error, "list refused");
                return Ok(read.items);
            };
            self.ttl = [self.ttl, ttl(result)].into_iter().flatten().min();
            let page = Caching::of(result);
            if let Some(list) = self.caching.get_mut(list.kind as usize) {
                *list = Some(list.map_or(page, |before| before.and(page)));
            }
            match read.page(result, list.member) {
                Ok(Next::End) => return Ok(read.items),
                Ok(Next::Cursor(next)) => cursor = Some(next),
                Ok(Next::Stop(why)) => {
                    tracing::warn!(
                        upstream = self.name,
                        method = list.method,
                        why,
                        "list cut short"
                    );
                    return Ok(read.items);
                }
                Err(error) => {
                    let what = "answered a list that cannot be read";
                    return Err(Failure::broken(self.name, what).because(error));
                }
            }
        }
        tracing::warn!(
            upstream = self.name,
            method = list.method,
            why = "too many pages",
            "list cut short"
        );
        Ok(read.items)
    }
}

/// Whether an error says that the method does not exist (JSON-RPC 2.0, section 5.1).
pub(super) fn is_unknown_method(error: &str) -> bool {
    let code = scan::member(error, "code").and_then(|span| error.get(span.range()));
    code == Some("-32601")
}

/// The lifetime that a list names.
fn ttl(result: &str) -> Option<Duration> {
    let span = scan::member(result, "ttlMs")?;
    let ms: f64 = result.get(span.range())?.parse().ok()?;
    Duration::try_from_secs_f64(ms / 1_000.0).ok()
}

enum Next {
    End,
    Cursor(String),
    Stop(&'static str),
}

#[derive(Default)]
struct Read {
    items: Vec<Arc<str>>,
    bytes: usize,
    seen: HashSet<String>,
}

impl Read {
    fn page(&mut self, result: &str, member: &str) -> Result<Next, serde_json::Error> {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(result)?;
        let items: Vec<&RawValue> = match members.get(member) {
            Some(list) => serde_json::from_str(list.get())?,
            None => Vec::new(),
        };
        for item in items {
            self.bytes += item.get().len();
            if self.items.len() >= ITEMS {
                return Ok(Next::Stop("too many entries"));
            }
            if self.bytes > LIST {
                return Ok(Next::Stop("too many bytes"));
            }
            self.items.push(item.get().into());
        }
        let next = members.get("nextCursor").map(|next| next.get());
        match next {
            Some(next) if next.starts_with('"') => {
                if self.seen.insert(next.to_owned()) {
                    Ok(Next::Cursor(next.to_owned()))
                } else {
                    Ok(Next::Stop("the server gives a cursor that it gave before"))
                }
            }
            _ => Ok(Next::End),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_read_where_there_is_one() {
        assert_eq!(ttl(r#"{"tools":[],"ttlMs":1500}"#), Some(Duration::from_millis(1_500)));
        assert_eq!(ttl(r#"{"tools":[],"ttlMs":-1}"#), None);
        assert_eq!(ttl(r#"{"tools":[{"ttlMs":1}]}"#), None);
    }

    #[test]
    fn pages_are_followed_until_the_end_or_a_repeated_cursor() {
        let mut read = Read::default();
        let page = r#"{"tools":[{"name":"a"},{ "name":"b" }],"nextCursor":"1"}"#;
        assert!(
            matches!(read.page(page, "tools").unwrap(), Next::Cursor(cursor) if cursor == "\"1\"")
        );
        assert!(matches!(read.page(page, "tools").unwrap(), Next::Stop(_)));
        assert!(matches!(read.page(r#"{"nextCursor":null}"#, "tools").unwrap(), Next::End));
        assert_eq!(read.items.len(), 4);
        assert_eq!(&*read.items[1], r#"{ "name":"b" }"#);
        assert!(read.page("[", "tools").is_err());
    }
}
