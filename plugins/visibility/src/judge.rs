//! Whether one thing is to be seen.

use crate::lists::{About, Set};

/// The kind of what code calls.
pub const FUNCTION: &str = "function";

/// Whether one of the names of a thing fulfils something.
type Named<'a> = &'a dyn Fn(&dyn Fn(&str) -> bool) -> bool;

/// One thing of a connector.
#[derive(Debug, Clone, Copy)]
pub struct Thing<'a> {
    /// `tool`, `prompt`, `resource`, `template` or `function`.
    pub kind: &'a str,
    /// As clients see it; the URI of a resource.
    pub name: &'a str,
    /// Tags that its server gave it.
    pub tags: &'a [String],
    /// Whether no server is fixed behind it.
    pub serverless: bool,
}

/// What has to be asked for; it seldom is.
pub trait Details {
    /// The name of a resource or template; of a function its name in the code.
    fn name(&self) -> Option<String>;
    /// What its server knows it by: of a resource that is read through a template that template.
    fn origin(&self) -> String;
    /// Whether the connector answers it itself.
    fn is_local(&self) -> bool;
}

/// Lists of an operator and of a request.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// The operator's.
    pub rules: &'a [Set],
    /// The request's.
    pub asked: &'a [Set],
}

impl Judge<'_> {
    /// Whether everything is to be seen.
    pub fn shows_all(&self) -> bool {
        self.rules.is_empty() && self.asked.is_empty()
    }

    /// Whether a thing is to be seen: every set of lists has to agree.
    ///
    /// What the connector answers itself is no server's, so the operator's enabled lists are not about it: a connector whose
    /// tools are named keeps its status and the tools that find others. A client gets exactly what it names, but for the
    /// resource behind `GET PATH/catalog`, which shows of the functions those that are to be seen.
    pub fn shows(&self, thing: &Thing<'_>, details: &impl Details) -> bool {
        let about = About::of(thing.kind);
        let all = || self.rules.iter().chain(self.asked);
        let is_function = thing.kind == FUNCTION;
        let has_two = is_function || about == About::Resources;
        let is_listed = has_two && all().any(|set| !set.of(about).is_empty());
        let own = is_listed.then(|| details.name()).flatten();
        let origin = (is_listed && thing.kind == "resource").then(|| details.origin());
        let asked_by = |matches: &dyn Fn(&str) -> bool| {
            let others = [own.as_deref(), origin.as_deref()];
            matches(thing.name) || others.into_iter().flatten().any(matches)
        };
        // Code calls functions by one name alone, whatever clients see: lists are locks, so they go by that one.
        let ruled_by = |matches: &dyn Fn(&str) -> bool| match own.as_deref() {
            Some(name) if is_function => matches(name),
            _ => asked_by(matches),
        };
        let disables = |set: &Set, named: Named<'_>| {
            named(&|name| set.of(about).disables(name))
                || thing.tags.iter().any(|tag| set.tags.disables(tag))
        };
        if self.rules.iter().any(|set| disables(set, &ruled_by))
            || self.asked.iter().any(|set| disables(set, &asked_by))
        {
            return false;
        }
        let is_own = thing.serverless && details.is_local();
        let rules = if is_own { &[][..] } else { self.rules };
        let asked = if is_own && is_catalogue(thing) { &[][..] } else { self.asked };
        let enabling: Vec<&Set> = rules.iter().chain(asked).collect();
        rules.iter().all(|set| ruled_by(&|name| set.of(about).enables(name)))
            && asked.iter().all(|set| asked_by(&|name| set.of(about).enables(name)))
            && tagged(thing.tags, &enabling)
    }
}

/// Whether a tag is enabled by all of these sets; without any tags, whether none of them enables only some.
fn tagged(tags: &[String], sets: &[&Set]) -> bool {
    sets.iter().all(|set| set.tags.enabled.is_none())
        || tags.iter().any(|tag| sets.iter().all(|set| set.tags.enables(tag)))
}

/// The resource that `GET PATH/catalog` shows.
fn is_catalogue(thing: &Thing<'_>) -> bool {
    thing.kind == "resource"
        && thing.name.strip_prefix("plugway://").is_some_and(|rest| rest.ends_with("/catalog"))
}
