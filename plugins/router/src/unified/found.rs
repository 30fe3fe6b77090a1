//! What can be found at a server: the functions and skills of its catalogue, or its tools.

use serde_json::Value;

use super::catalogue::{self, Catalogue, Function, Skill};
use super::gather::Source;
use crate::warning::Warning;

/// A tool of a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Own<'a> {
    /// The server's own name for it.
    pub(super) name: &'a str,
    /// As clients see it.
    pub(super) definition: &'a str,
    /// Its place in lists from which nothing is hidden.
    pub(super) place: u32,
}

/// Something that can be found.
pub(super) enum Found<'a> {
    /// A tool.
    Tool(Own<'a>),
    /// A function, the tool that runs it, and the JSON object that it was read from.
    Function(Function, Own<'a>, Value),
    /// A skill, and the tool that loads it.
    Skill(Skill, Own<'a>, Value),
}

/// All that can be found at a server.
#[derive(Default)]
pub(super) struct Contents<'a> {
    /// In the order of its lists.
    pub(super) things: Vec<Found<'a>>,
    /// What it says of the limits of tools that run code.
    pub(super) limits: Vec<(Own<'a>, Value)>,
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
    source: &Source,
    own: &[Own<'a>],
    tools: bool,
    warnings: &mut Vec<Warning>,
) -> Contents<'a> {
    let catalogue = read(source, warnings);
    let by = By { own, catalogue: &catalogue };
    let mut contents = Contents::default();
    for one in own.iter().filter(|one| parts(one.name, "execute_", "_code").is_some()) {
        let said = match catalogue.executions.get(one.name) {
            None if catalogue.executions.is_empty() => catalogue.execution.as_ref(),
            said => said,
        };
        contents
            .limits
            .extend(said.filter(|said| said.is_object()).map(|said| (*one, said.clone())));
    }
    let is_connector = catalogue.is_a_connectors();
    let mut functions = Vec::new();
    for (function, value) in &catalogue.functions {
        if !source.settings.exposes(&function.name) {
            continue;
        }
        let Some(tool) = by.tool(
            function.via.as_deref(),
            function.server_name.as_deref(),
            ("execute_", "_code"),
        ) else {
            continue;
        };
        functions.push(Found::Function(named(function.clone(), source), tool, value.clone()));
    }
    let skills = catalogue.skills.iter().filter_map(|(skill, value)| {
        let tool =
            by.tool(skill.via.as_deref(), skill.server_name.as_deref(), ("load_", "_skill"))?;
        Some(Found::Skill(skill.clone(), tool, value.clone()))
    });
    contents.things = functions;
    contents.things.extend(skills);
    if source.every_tool {
        contents.things.extend(own.iter().copied().map(Found::Tool));
    } else if tools && (contents.things.is_empty() || is_connector) {
        let only_others = !contents.things.is_empty();
        let engines: Vec<(&str, &str)> =
            own.iter().filter_map(|one| parts(one.name, "execute_", "_code")).collect();
        let others = own.iter().filter(|one| !(only_others && is_machinery(one.name, &engines)));
        contents.things.extend(others.copied().map(Found::Tool));
    }
    contents
}

fn read(source: &Source, warnings: &mut Vec<Warning>) -> Catalogue {
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
    own: &'c [Own<'a>],
    catalogue: &'c Catalogue,
}

impl<'a> By<'a, '_> {
    /// The tool that is named; else that of the server that is named; else the first of its sort.
    fn tool(
        &self,
        via: Option<&str>,
        server: Option<&str>,
        (before, after): (&str, &str),
    ) -> Option<Own<'a>> {
        let named = |name: &str| self.own.iter().find(|one| one.name == name).copied();
        if let Some(via) = via {
            return named(via);
        }
        if let Some(server) = server {
            let own = named(&[before, server, after].concat());
            if own.is_some() || self.catalogue.server_name.as_deref() != Some(server) {
                return own;
            }
        }
        let mut sort = self
            .own
            .iter()
            .filter(|one| one.name.strip_prefix(before).is_some_and(|rest| rest.ends_with(after)));
        sort.next().copied()
    }
}

/// What stands before and inside of a name that ends so: `("mid_", "chem")` of `mid_execute_chem_code`.
fn parts<'a>(name: &'a str, before: &str, after: &str) -> Option<(&'a str, &'a str)> {
    name.strip_suffix(after)?.split_once(before)
}

/// Whether a tool belongs to running code, be it that of one of these servers or of the connector that stands before them.
fn is_machinery(name: &str, engines: &[(&str, &str)]) -> bool {
    let around =
        [("execute_", "_code"), ("search_", "_tools"), ("plan_", "_workflow"), ("load_", "_skill")];
    around.into_iter().any(|(before, after)| parts(name, before, after).is_some())
        || engines.iter().any(|(prefix, of)| {
            let rest = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix(of));
            rest.and_then(|rest| rest.strip_prefix('_'))
                .is_some_and(|noun| MACHINERY.contains(&noun))
        })
}
