//! What rules may look at: of the call in hand, and of an item of a list.

use plugway_sdk::hooks::visibility::Item;
use plugway_sdk::host::{call, caller, clock};

use crate::called::{Called, Subject};
use crate::names::{Names, PARALLEL};
use crate::rules::Facts;

/// Every name once. The short name of the parallel tool covers its batches.
fn all_of(names: &Names<'_>) -> Vec<String> {
    let mut all = vec![names.shown.to_owned()];
    let short = names.short.into_iter();
    let covering = names.any(|name| name == PARALLEL).then_some(PARALLEL);
    for name in std::iter::once(names.own).chain(short).chain(covering) {
        if !all.iter().any(|known| known == name) {
            all.push(name.to_owned());
        }
    }
    all
}

/// The call in hand.
#[derive(Debug)]
pub struct OfCall<'a> {
    called: &'a Called,
    names: Vec<String>,
}

impl<'a> OfCall<'a> {
    /// The facts of a call.
    pub fn new(called: &'a Called) -> Self {
        Self { called, names: all_of(&called.names()) }
    }
}

impl Facts for OfCall<'_> {
    fn has_scope(&self, scope: &str) -> bool {
        caller::has_scope(scope)
    }

    fn claim(&self, name: &str) -> Option<String> {
        caller::claim_json(name)
    }

    fn tenant(&self) -> Option<String> {
        caller::tenant()
    }

    fn client(&self) -> Option<String> {
        caller::client()
    }

    fn caller(&self) -> String {
        caller::id()
    }

    fn tool_names(&self) -> &[String] {
        &self.names
    }

    fn kind(&self) -> &str {
        match self.called.subject {
            Subject::Tool => "tool",
            Subject::Prompt => "prompt",
            Subject::Resource => "resource",
        }
    }

    fn upstream(&self) -> Option<String> {
        self.called.target.as_ref().map(|(upstream, _)| upstream.clone())
    }

    fn hint(&self, name: &str) -> Option<bool> {
        call::hint(name)
    }

    fn argument(&self, pointer: &str) -> Option<Option<String>> {
        Some(self.called.argument(pointer))
    }

    fn now_ms(&self) -> f64 {
        clock::unix_ms()
    }
}

/// An item of a list, of which no arguments are known.
#[derive(Debug)]
pub struct OfItem<'a> {
    item: &'a Item<'a>,
    names: Vec<String>,
}

impl<'a> OfItem<'a> {
    /// The facts of an item with these names.
    pub fn new(item: &'a Item<'a>, names: &Names<'_>) -> Self {
        Self { item, names: all_of(names) }
    }
}

impl Facts for OfItem<'_> {
    fn has_scope(&self, scope: &str) -> bool {
        caller::has_scope(scope)
    }

    fn claim(&self, name: &str) -> Option<String> {
        caller::claim_json(name)
    }

    fn tenant(&self) -> Option<String> {
        caller::tenant()
    }

    fn client(&self) -> Option<String> {
        caller::client()
    }

    fn caller(&self) -> String {
        caller::id()
    }

    fn tool_names(&self) -> &[String] {
        &self.names
    }

    fn kind(&self) -> &str {
        // A call of a resource does not say by which template it was found.
        if self.item.kind == "template" { "resource" } else { self.item.kind }
    }

    fn upstream(&self) -> Option<String> {
        (!self.item.upstream.is_empty()).then(|| self.item.upstream.to_owned())
    }

    fn hint(&self, name: &str) -> Option<bool> {
        self.item.hint(name).map(|value| value == "true")
    }

    fn argument(&self, _pointer: &str) -> Option<Option<String>> {
        None
    }

    fn now_ms(&self) -> f64 {
        clock::unix_ms()
    }
}
