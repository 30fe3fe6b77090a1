//! What a caller sees. What lists or rules are against is left out of lists, but known: a call of it hears why.

use std::collections::BTreeMap;

use plugway_sdk::Failure;
use plugway_sdk::hooks::visibility::{Item, Page, Sight, View};
use plugway_sdk::host::listing;

use crate::facts::OfItem;
use crate::functions::Functions;
use crate::gateway::Gateway;
use crate::lists::is_brought;
use crate::names::{self, Names};
use crate::own;
use crate::rules::Outlook;

/// What is known of the servers on a page.
#[derive(Default)]
pub(crate) struct Servers<'a> {
    by_name: BTreeMap<&'a str, Server>,
    connector: Option<String>,
}

#[derive(Default)]
struct Server {
    runs_code: Option<bool>,
    /// Whether the allow-list names a function of it.
    restricted: Option<bool>,
    /// Names of functions that stand on this page, each on a line.
    functions: String,
}

impl Gateway {
    /// Judges a page.
    pub fn view(&self, page: &Page) -> Result<View, Failure> {
        let items = page.items()?;
        let lists = [&self.tools, &self.prompts, &self.resources];
        let lists_matter = !self.observes && lists.iter().any(|lists| !lists.are_empty());
        if self.rules.is_empty() && !lists_matter {
            return Ok(View {
                sights: vec![Sight::Shown; items.len()],
                valid_ms: None,
                notice: None,
            });
        }
        let mut servers = Servers::default();
        for item in items.iter().filter(|item| item.kind == "function") {
            let functions = &mut servers.by_name.entry(item.upstream).or_default().functions;
            functions.push_str(&listing::upstream_name(item.index));
            functions.push('\t');
            functions.push_str(item.name);
            functions.push('\n');
        }
        let mut valid_ms: Option<u32> = None;
        let sights = items.iter().map(|item| {
            let own = listing::upstream_name(item.index);
            let names = Names { shown: item.name, own: &own, short: servers.short(item, &own) };
            if lists_matter && !self.lists_show(item, &names, &mut servers) {
                return Sight::Unlisted;
            }
            // Rules do not judge functions: no call of one is seen, and the router shows it with the tool that runs it only.
            if self.rules.is_empty() || item.kind == "function" {
                return Sight::Shown;
            }
            let (outlook, valid) = self.rules.sight(&OfItem::new(item, &names));
            valid_ms = match (valid_ms, valid) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
            if outlook == Outlook::Denied { Sight::Unlisted } else { Sight::Shown }
        });
        let sights = sights.collect();
        Ok(View { sights, valid_ms, notice: None })
    }

    fn lists_show<'a>(
        &self,
        item: &Item<'a>,
        names: &Names<'_>,
        servers: &mut Servers<'a>,
    ) -> bool {
        match item.kind {
            "prompt" => self.prompts.judge(names, || false).is_ok(),
            "resource" | "template" => self.resources.judge(names, || servers.is_own(item)).is_ok(),
            "function" => {
                let restricts = self.restricts(item, servers);
                self.tools.judge_function(names.own, names.shown, restricts).is_ok()
            }
            _ => {
                let brought = || {
                    servers.is_own(item)
                        || (is_brought(names.short) && self.restricts(item, servers))
                };
                self.tools.judge(names, brought).is_ok()
            }
        }
    }

    /// Whether the allow-list names a function of the item's server.
    fn restricts<'a>(&self, item: &Item<'a>, servers: &mut Servers<'a>) -> bool {
        let Some(allowed) = &self.tools.allowed else { return false };
        let server = servers.by_name.entry(item.upstream).or_default();
        *server.restricted.get_or_insert_with(|| {
            let told = listing::attribute(item.index, "functions").unwrap_or_default();
            Functions(&server.functions).are_named_by(allowed)
                || Functions(&told).are_named_by(allowed)
        })
    }
}

impl<'a> Servers<'a> {
    pub(crate) fn short(&mut self, item: &Item<'a>, own: &str) -> Option<&'static str> {
        if item.kind != "tool" {
            return None;
        }
        let short = names::short(own)?;
        if item.upstream.is_empty() {
            return self.is_own(item).then_some(short);
        }
        let server = self.by_name.entry(item.upstream).or_default();
        let runs = *server.runs_code.get_or_insert_with(|| {
            listing::attribute(item.index, "runs-code").is_some_and(|runs| runs == "true")
        });
        runs.then_some(short)
    }

    fn is_own(&mut self, item: &Item<'_>) -> bool {
        if !item.upstream.is_empty() {
            return false;
        }
        let read = || listing::attribute(item.index, "connector").unwrap_or_default();
        own::is(item.name, self.connector.get_or_insert_with(read))
    }
}
