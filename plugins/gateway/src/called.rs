//! The call in hand, as far as it was looked at.

use std::cell::{Cell, OnceCell};

use plugway_sdk::host::call;
use serde::de::IgnoredAny;

use crate::names::{self, Names};
use crate::own;
use crate::refusal::Kind;

/// Methods of which the host asks a person.
const CONFIRMABLE: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

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
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                Some(Subject::Resource)
            }
            "completion/complete" => None,
            _ => return None,
        };
        let (name, target) = (call::name(), call::target());
        // A completion names a prompt, or the URI of a template.
        let of_name = || if is_uri(&name) { Subject::Resource } else { Subject::Prompt };
        let subject = subject.unwrap_or_else(of_name);
        let mut called = Self {
            subject,
            name,
            target,
            can_be_confirmed: CONFIRMABLE.contains(&method.as_str()),
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

    /// The names of all functions of its server, each on a line; none where it has none, as far as is known.
    pub fn functions(&self) -> Option<&str> {
        let read = || call::attribute("functions").filter(|names| !names.trim().is_empty());
        self.functions.get_or_init(read).as_deref()
    }

    /// The code that it hands to its server; none where it has no text in that argument.
    pub fn code(&self) -> Option<String> {
        serde_json::from_str(&self.argument("/code")?).ok()
    }

    /// For how many calls it counts.
    pub fn cost(&self) -> u32 {
        if !self.counts_inputs() {
            return 1;
        }
        let inputs = self.argument("/inputs");
        let inputs = inputs.and_then(|text| serde_json::from_str::<Vec<IgnoredAny>>(&text).ok());
        inputs.map_or(1, |inputs| u32::try_from(inputs.len()).unwrap_or(u32::MAX).max(1))
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
