//! The call in hand, as far as it was looked at.

use std::cell::{Cell, OnceCell};

use plugway_sdk::host::call;
use serde::de::IgnoredAny;

use crate::names::{self, Names};
use crate::own;
use crate::refusal::Kind;

/// Methods of which the host asks a person.
const CONFIRMABLE: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];
/// Ends a subscription.
const ENDS: &str = "resources/unsubscribe";

/// What the call is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// `tools/call`.
    Tool,
    /// `prompts/get`, or a completion for a prompt.
    Prompt,
    /// `resources/read` and subscriptions, or a completion for a template.
    Resource,
}

/// What was read of the call. Each look into the host costs, so most is read when it is needed.
#[derive(Debug)]
pub struct Called {
    /// What it is of.
    pub subject: Subject,
    /// As the client calls it.
    pub name: String,
    /// Server and its own name; none for what the router decides or answers.
    pub target: Option<(String, String)>,
    /// Whether a person can be asked about it.
    pub can_be_confirmed: bool,
    /// Whether it does nothing but end what was begun before: that is let pass whatever became of the lists since.
    pub ends: bool,
    short: Option<&'static str>,
    is_own: OnceCell<bool>,
    functions: OnceCell<Option<String>>,
    reads: Cell<bool>,
}

impl Called {
    /// The call in hand; none where it is of nothing that this plugin judges.
    pub fn read() -> Option<Self> {
        let method = call::method();
        let subject = match method.as_str() {
            "tools/call" => Some(Subject::Tool),
            "prompts/get" => Some(Subject::Prompt),
            "resources/read" | "resources/subscribe" | ENDS => Some(Subject::Resource),
            "completion/complete" => None,
            _ => return None,
        };
        let (name, target) = (call::name(), call::target());
        // A completion names a prompt, or the URI of a template. What a host does not say, the name has to.
        let of_reference = || match call::attribute("reference").as_deref() {
            Some("prompt") => Subject::Prompt,
            Some(_) => Subject::Resource,
            None if is_uri(&name) => Subject::Resource,
            None => Subject::Prompt,
        };
        let subject = subject.unwrap_or_else(of_reference);
        let mut called = Self {
            subject,
            name,
            target,
            can_be_confirmed: CONFIRMABLE.contains(&method.as_str()),
            ends: method == ENDS,
            short: None,
            is_own: OnceCell::new(),
            functions: OnceCell::new(),
            reads: Cell::new(false),
        };
        called.short = called.read_short();
        Some(called)
    }

    fn read_short(&self) -> Option<&'static str> {
        if self.subject != Subject::Tool {
            return None;
        }
        match &self.target {
            Some((_, own)) => names::short(own)
                .filter(|_| call::attribute("runs-code").is_some_and(|runs| runs == "true")),
            None => names::short(&self.name).filter(|_| self.is_own()),
        }
    }

    /// All of its names.
    pub fn names(&self) -> Names<'_> {
        let own = self.target.as_ref().map_or(self.name.as_str(), |(_, own)| own);
        Names { shown: &self.name, own, short: self.short }
    }

    /// The URI of a resource as everybody reads it, where the client wrote it otherwise.
    pub fn normalised(&self) -> Option<String> {
        let read = || call::attribute("uri-normalised").filter(|uri| *uri != self.name);
        if self.subject == Subject::Resource { read() } else { None }
    }

    /// What refusals call it.
    pub fn kind(&self) -> Kind {
        match self.subject {
            Subject::Tool => Kind::Tool,
            Subject::Prompt => Kind::Prompt,
            Subject::Resource => Kind::Resource,
        }
    }

    /// Whether the connector's own router offers it, to find things by.
    pub fn is_own(&self) -> bool {
        *self.is_own.get_or_init(|| {
            self.target.is_none()
                && call::attribute("connector").is_some_and(|name| own::is(&self.name, &name))
        })
    }

    /// All functions of its server, each on a line, as [`Functions`](crate::functions::Functions) reads them; none where it has none, as far as is known.
    pub fn functions(&self) -> Option<&str> {
        let read = || call::attribute("functions").filter(|names| !names.trim().is_empty());
        self.functions.get_or_init(read).as_deref()
    }

    /// The code that it hands to its server, as JSON; none where it has nothing in that argument.
    pub fn code(&self) -> Option<String> {
        self.argument("/code")
    }

    /// For how many calls it counts; none where nobody can tell.
    pub fn cost(&self) -> Option<u32> {
        if !self.counts_inputs() {
            return Some(1);
        }
        let Some(inputs) = self.argument("/inputs").filter(|inputs| inputs != "null") else {
            return Some(1);
        };
        let count = |text: &str| serde_json::from_str::<Vec<IgnoredAny>>(text).ok();
        // Many servers read a text as the list that stands in it.
        let inside = || count(&serde_json::from_str::<String>(&inputs).ok()?);
        let inputs = count(&inputs).or_else(inside)?;
        Some(u32::try_from(inputs.len()).unwrap_or(u32::MAX).max(1))
    }

    /// Whether it counts as one call for each of its inputs.
    pub fn counts_inputs(&self) -> bool {
        self.subject == Subject::Tool && names::counts_inputs(self.names().own)
    }

    /// JSON text at a pointer into the arguments.
    pub fn argument(&self, pointer: &str) -> Option<String> {
        self.reads.set(true);
        call::argument_json(pointer)
    }

    /// Whether anything was read of its arguments: the call is then judged again when somebody changes them.
    pub fn was_read(&self) -> bool {
        self.reads.get()
    }
}

/// `{scheme}:`, as RFC 3986 has it, and more than one letter of it.
fn is_uri(name: &str) -> bool {
    let Some((scheme, _)) = name.split_once(':') else { return false };
    scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
}
