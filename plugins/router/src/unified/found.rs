//! What can be found at a server: the functions and skills of its catalogue, or its tools.

use std::collections::{HashMap, HashSet};

use super::catalogue::{self, Catalogue, Function, Skill};
use super::cut;
use super::gather::Source;
use crate::warning::Warning;

/// A tool of a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own<'a> {
    /// The server's own name for it.
    pub(super) name: &'a str,
    /// As clients see it.
    pub(super) definition: &'a str,
    /// Its place among the entries: tools that are made of one tool of the server have the same name.
    pub(super) entry: usize,
}

/// Something that can be found.
pub(super) enum Found<'a> {
    /// A tool.
    Tool(Own<'a>),
    /// A function, the tool that runs it, and the text of the JSON object that it was read from.
    Function(Function, Own<'a>, &'a str),
    /// A skill, and the tool that loads it.
    Skill(Skill, Own<'a>, &'a str),
}

/// What the code of a server can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Callable {
    /// The name under which it is shown.
    pub(super) name: String,
    /// Its name in the code, where that is another one.
    pub(super) own: Option<String>,
    /// The beginning of what it does.
    pub(super) description: String,
}

/// So many bytes of what it does are kept of it.
const CALLABLE_MAX: usize = 200;

/// All that can be found at a server.
#[derive(Default)]
pub(super) struct Contents<'a> {
    /// Every function, whatever the operator exposes and whoever runs it; of the same names the first one.
    pub(super) callable: Vec<Callable>,
    /// In the order of its lists.
    pub(super) things: Vec<Found<'a>>,
    /// What it says of the limits of tools that run code: texts of JSON objects.
    pub(super) limits: Vec<(Own<'a>, &'a str)>,
}

/// Tools of a server that runs code, besides those that carry its name in the middle: `{name}_{one of these}`.
const MACHINERY: [&str; 9] = [
    "list_sessions",
    "inspect_session",
    "get_session_info",
    "close_session",
    "check_job",
    "parallel_execute",
    "check_batch",
    "cancel_batch",
    "send",
];

/// A code-execution server has what its catalogue says, any other server its tools; a connector that stands before both has
/// both. `tools` says whether tools are wanted.
pub(super) fn found<'a>(
    source: &'a Source,
    own: &[Own<'a>],
    tools: bool,
    warnings: &mut Vec<Warning>,
) -> Contents<'a> {
    let catalogue = read(source, warnings);
    let is_connector = catalogue.is_a_connectors();
    let Catalogue { server_name, functions, skills, execution, executions, .. } = catalogue;
    let runs = By::of(own, server_name.as_deref(), ("execute_", "_code"));
    let loads = By::of(own, server_name.as_deref(), ("load_", "_skill"));
    let mut contents = Contents::default();
    for one in own.iter().filter(|one| parts(one.name, "execute_", "_code").is_some()) {
        let said = match executions.get(one.name) {
            None if executions.is_empty() => execution,
            said => said.copied(),
        };
        contents.limits.extend(said.map(|said| (*one, said)));
    }
    let mut known = HashSet::new();
    for (function, text) in functions {
        let exposed = source.settings.exposes(&function.name);
        let function = named(function, source);
        if known.insert((function.name.clone(), function.own_name.clone())) {
            contents.callable.push(Callable {
                name: function.name.clone(),
                own: function.own_name.clone(),
                description: cut(&function.description, CALLABLE_MAX),
            });
        }
        let tool = runs.tool(function.via.as_deref(), function.server_name.as_deref());
        if let Some(tool) = tool.filter(|_| exposed) {
            contents.things.push(Found::Function(function, tool, text));
        }
    }
    warn_of_aliases(source, &contents, warnings);
    for (skill, text) in skills {
        if let Some(tool) = loads.tool(skill.via.as_deref(), skill.server_name.as_deref()) {
            contents.things.push(Found::Skill(skill, tool, text));
        }
    }
    if source.every_tool {
        contents.things.extend(own.iter().copied().map(Found::Tool));
    } else if tools && (contents.things.is_empty() || is_connector) {
        let only_others = !contents.things.is_empty();
        let engines: HashSet<String> = own
            .iter()
            .filter_map(|one| parts(one.name, "execute_", "_code"))
            .map(|(prefix, of)| [prefix, of].concat())
            .collect();
        let others = own.iter().filter(|one| !(only_others && is_machinery(one.name, &engines)));
        contents.things.extend(others.copied().map(Found::Tool));
    }
    contents
}

fn read<'a>(source: &'a Source, warnings: &mut Vec<Warning>) -> Catalogue<'a> {
    let document = source.documents.iter().find(|(name, _)| name == catalogue::DOCUMENT);
    let upstream = || source.name.clone();
    match document.map(|(_, text)| Catalogue::read(text)) {
        None => Catalogue::default(),
        Some(Ok(catalogue)) => {
            if catalogue.odd > 0 {
                warnings.push(Warning::Odd { count: catalogue.odd, upstream: upstream() });
            }
            catalogue
        }
        Some(Err(error)) => {
            let reason = error.to_string();
            warnings.push(Warning::Catalogue { reason, upstream: upstream() });
            Catalogue::default()
        }
    }
}

/// Says where the operator gave a function the name that another one has.
fn warn_of_aliases(source: &Source, contents: &Contents<'_>, warnings: &mut Vec<Warning>) {
    let functions = || {
        contents.things.iter().filter_map(|one| match one {
            Found::Function(function, ..) => Some(function),
            _ => None,
        })
    };
    for (own, name) in &source.settings.aliases {
        let is_this = |one: &Function| one.own_name.as_deref() == Some(own);
        let mut same = functions().filter(|one| one.name == *name);
        if functions().any(is_this) && same.any(|one| !is_this(one)) {
            warnings.push(Warning::Alias {
                own: own.clone(),
                name: name.clone(),
                upstream: source.name.clone(),
            });
        }
    }
}

/// The function under the name that the operator gave it.
fn named(mut function: Function, source: &Source) -> Function {
    if let Some(shown) = source.settings.aliases.get(&function.name) {
        let own = std::mem::replace(&mut function.name, shown.clone());
        function.own_name.get_or_insert(own);
    }
    function.own_name = function.own_name.filter(|own| *own != function.name);
    function
}

/// Finds the tool by which something is reached.
struct By<'a, 'c> {
    /// By the server's own names; of tools with the same one the first.
    own: HashMap<&'a str, Own<'a>>,
    /// The first tool of the sort.
    first: Option<Own<'a>>,
    /// The name that the server gives itself.
    server: Option<&'c str>,
    /// What stands before and behind the server's name in that of the tool.
    around: (&'static str, &'static str),
}

impl<'a, 'c> By<'a, 'c> {
    fn of(
        own: &[Own<'a>],
        server: Option<&'c str>,
        (before, after): (&'static str, &'static str),
    ) -> Self {
        let is_of_sort = |one: &&Own<'_>| {
            one.name.strip_prefix(before).is_some_and(|rest| rest.ends_with(after))
        };
        let first = own.iter().find(is_of_sort).copied();
        // The first of a name comes last, and stays.
        let own = own.iter().rev().map(|one| (one.name, *one)).collect();
        Self { own, first, server, around: (before, after) }
    }

    /// The tool that is named; else that of the server that is named; else the first of its sort.
    fn tool(&self, via: Option<&str>, server: Option<&str>) -> Option<Own<'a>> {
        if let Some(via) = via {
            return self.own.get(via).copied();
        }
        if let Some(server) = server {
            let own = self.own.get(&*[self.around.0, server, self.around.1].concat());
            if own.is_some() || self.server != Some(server) {
                return own.copied();
            }
        }
        self.first
    }
}

/// What stands before and inside of a name that ends so: `("mid_", "chem")` of `mid_execute_chem_code`.
fn parts<'a>(name: &'a str, before: &str, after: &str) -> Option<(&'a str, &'a str)> {
    name.strip_suffix(after)?.split_once(before)
}

/// Whether a tool belongs to running code, be it that of one of these servers or of the connector that stands before them.
fn is_machinery(name: &str, engines: &HashSet<String>) -> bool {
    let around =
        [("execute_", "_code"), ("search_", "_tools"), ("plan_", "_workflow"), ("load_", "_skill")];
    around.into_iter().any(|(before, after)| parts(name, before, after).is_some())
        || MACHINERY.into_iter().any(|noun| {
            let engine = name.strip_suffix(noun).and_then(|rest| rest.strip_suffix('_'));
            engine.is_some_and(|engine| engines.contains(engine))
        })
}
