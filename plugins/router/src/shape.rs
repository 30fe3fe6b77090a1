//! The pure core: upstreams in, entries out.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use plugway_sdk::Failure;
use plugway_sdk::prelude::{ConnectorView, Entry, Shaped, UpstreamView};

use crate::actions::{Part, Split};
use crate::config::{Options, Settings, Unified};
use crate::execution::OwnName;
use crate::head::Head;
use crate::lazy::offers as lazy;
use crate::names::Namer;
use crate::ownership::guards::Guards;
use crate::unified::gather::{self, Gathered, Source};
use crate::unified::offers::Names;
use crate::unified::published;
use crate::warning::Warning;
use crate::{hidden, status, tags};

/// Shapes a connector. Fails only on settings that cannot be read.
pub fn shape(
    connector: ConnectorView,
    options: &Options,
) -> Result<(Shaped, Vec<Warning>), Failure> {
    let mut shaping = Shaping::default();
    let mut upstreams = Vec::with_capacity(connector.upstreams.len());
    for upstream in connector.upstreams {
        let settings = Settings::parse(&upstream.settings)
            .map_err(|error| Failure::new(format!("settings of {}: {error}", upstream.name)))?;
        upstreams.push((upstream, settings));
    }
    let name = &connector.name;
    let says = |wanted: (&str, &str)| {
        connector.attributes.iter().any(|(key, value)| (key.as_str(), value.as_str()) == wanted)
    };
    let wanted = says((status::WANTED, "true"));
    let lazy = says((lazy::WANTED, lazy::LAZY));
    if wanted {
        // First of all: its names must not depend on which servers were reached.
        let winner = format!("the status of {name}");
        shaping.take("tool", status::tool_name(name), &winner);
        shaping.take("resource", status::uri(name), &winner);
    }
    let winner = format!("the catalogue of {name}");
    shaping.take("resource", published::uri(name), &winner);
    let winner = format!("a tool of {name} itself");
    for own in Names::of(name).taken(options.unified_tools) {
        shaping.take("tool", own, &winner);
    }
    if lazy {
        for own in lazy::NAMES {
            shaping.take("tool", own.to_owned(), &winner);
        }
    }
    let mut sources = Vec::with_capacity(upstreams.len());
    for (mut upstream, settings) in upstreams {
        let source = Source {
            name: upstream.name.clone(),
            up: upstream.up,
            reached: !upstream.server_name.is_empty(),
            documents: std::mem::take(&mut upstream.documents),
            settings,
            every_tool: lazy,
        };
        shaping.add(upstream, &source.settings);
        sources.push(source);
    }
    let Shaping { mut entries, mut warnings, .. } = shaping;
    if wanted {
        entries.extend([status::tool(name), status::resource(name)]);
    }
    if lazy {
        entries.extend(lazy::of(name));
    }
    let mut gathered = Gathered::default();
    let unified = options.unified_tools != Unified::None;
    if unified || lazy || sources.iter().any(Source::has_catalogue) {
        gathered = gather::add(name, &mut entries, &sources, options, &gather::ROOM);
    }
    let Gathered { document, warnings: more, problems, pending, .. } = gathered;
    warnings.extend(more);
    Ok((Shaped { entries, document, problems, pending }, warnings))
}

#[derive(Default)]
struct Shaping {
    entries: Vec<Entry>,
    warnings: Vec<Warning>,
    /// Kind and shown name (or URI), to the upstream that has it.
    taken: HashMap<(&'static str, String), String>,
}

impl Shaping {
    fn add(&mut self, upstream: UpstreamView, settings: &Settings) {
        let UpstreamView { name, server_name, tools, prompts, resources, templates, .. } = upstream;
        let guards = Guards::of(&tools);
        let tools = self.read("tool", "name", &name, tools);
        let own_name = OwnName::detect(&server_name, |wanted| {
            tools.iter().any(|(_, head)| head.text == wanted)
        });
        let of_tools = own_name.map(|_| settings.for_code_execution());
        let settings = of_tools.as_ref().unwrap_or(settings);
        let namer = Namer { upstream: &name, settings, own_name };
        self.named("tool", &namer, &guards, tools);
        let prompts = self.read("prompt", "name", &name, prompts);
        self.named("prompt", &namer, &Guards::default(), prompts);
        self.unchanged("resource", "uri", &name, resources);
        self.unchanged("template", "uriTemplate", &name, templates);
    }

    /// The definitions that can be read, each with what names it.
    fn read(
        &mut self,
        kind: &'static str,
        key: &'static str,
        upstream: &str,
        definitions: Vec<String>,
    ) -> Vec<(String, Head)> {
        let mut read = Vec::with_capacity(definitions.len());
        for (index, definition) in definitions.into_iter().enumerate() {
            let reason = match (Head::of(&definition, key), hidden::first(&definition)) {
                (Ok(head), None) => {
                    read.push((definition, head));
                    continue;
                }
                (Ok(_), Some(letter)) => {
                    format!("its text has {letter:?}, which hides what it says")
                }
                (Err(error), _) => error.to_string(),
            };
            let upstream = upstream.to_owned();
            self.warnings.push(Warning::Malformed { kind, index, reason, upstream });
        }
        read
    }

    /// Tools and prompts: renamed, and only those that the operator exposes.
    fn named(
        &mut self,
        kind: &'static str,
        namer: &Namer<'_>,
        guards: &Guards,
        definitions: Vec<(String, Head)>,
    ) {
        let mut split = Split::of(kind, namer, guards, &definitions);
        for (definition, head) in definitions {
            if !is_served(kind, namer.settings, &definition, &head.text) {
                continue;
            }
            match split.take(&head.text) {
                None => {}
                Some(None) => {
                    let (tool, upstream) = (head.text.clone(), namer.upstream.to_owned());
                    self.warnings.push(Warning::Whole { tool, upstream });
                }
                Some(Some(parts)) => {
                    self.parts(namer, &head.text, parts);
                    continue;
                }
            }
            let name = namer.shown(kind, &head.text);
            let renamed = if head.text == name { None } else { head.replaced(&definition, &name) };
            if self.take(kind, name, namer.upstream) {
                let definition = renamed.unwrap_or(definition);
                let entry = if guards.has(&head.text) {
                    Entry::guarded_tool(definition, namer.upstream, head.text)
                } else {
                    Entry::fixed(kind, definition, namer.upstream, head.text)
                };
                self.entries.push(entry);
            }
        }
    }

    /// The tools that a tool is split into.
    fn parts(&mut self, namer: &Namer<'_>, own: &str, parts: Vec<(String, Part)>) {
        for (name, part) in parts {
            let head = Head::of(&part.definition, "name").ok();
            let definition = head.and_then(|head| head.replaced(&part.definition, &name));
            if let Some(definition) = definition
                && self.take("tool", name, namer.upstream)
            {
                let entry = Entry::bound("tool", definition, namer.upstream, own, part.arguments);
                self.entries.push(entry);
            }
        }
    }

    /// Resources and templates: as they are, by their URI.
    fn unchanged(
        &mut self,
        kind: &'static str,
        key: &'static str,
        upstream: &str,
        definitions: Vec<String>,
    ) {
        for (definition, head) in self.read(kind, key, upstream, definitions) {
            if self.take(kind, head.text.clone(), upstream) {
                self.entries.push(Entry::fixed(kind, definition, upstream, head.text));
            }
        }
    }

    /// Whether the name was free.
    fn take(&mut self, kind: &'static str, name: String, upstream: &str) -> bool {
        match self.taken.entry((kind, name)) {
            Slot::Vacant(free) => {
                free.insert(upstream.to_owned());
                true
            }
            Slot::Occupied(taken) => {
                let winner = taken.get().clone();
                let (_, name) = taken.key().clone();
                self.warnings.push(Warning::Clash {
                    kind,
                    name,
                    winner,
                    upstream: upstream.to_owned(),
                });
                false
            }
        }
    }
}

/// Whether the operator lets clients see a tool or prompt of this own name.
fn is_served(kind: &str, settings: &Settings, definition: &str, own: &str) -> bool {
    settings.exposes(own) && !(kind == "tool" && tags::has(definition, &settings.hide_tags))
}
