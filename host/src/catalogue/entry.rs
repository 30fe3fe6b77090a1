//! One tool, prompt, resource or resource template, or one function that the code of a server can call.

use std::sync::Arc;

use crate::protocol::Mirrored;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// `tools/list`, called by `tools/call`.
    Tool,
    /// `prompts/list`, read by `prompts/get`.
    Prompt,
    /// `resources/list`, read by `resources/read`.
    Resource,
    /// `resources/templates/list`.
    Template,
    /// What the code that a server runs can call. It stands in no list of MCP and no method calls it: policies judge it, and
    /// the router tells of it.
    Function,
}

impl EntryKind {
    /// Every kind, those with a list first.
    pub const ALL: [Self; 5] =
        [Self::Tool, Self::Prompt, Self::Resource, Self::Template, Self::Function];
    /// The kinds that clients list, in the order of the lists.
    pub const LISTS: [Self; 4] = [Self::Tool, Self::Prompt, Self::Resource, Self::Template];

    /// Whether clients list such entries.
    pub fn is_listed(self) -> bool {
        self != Self::Function
    }

    /// The word of the plugin contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "template",
            Self::Function => "function",
        }
    }

    /// The kind that a word of the plugin contract names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The member of a definition that identifies the entry.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt | Self::Function => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    /// The member of a list result that holds the entries; of functions there is no such result.
    pub fn list_member(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
            Self::Function => "functions",
        }
    }
}

/// Who serves an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// This upstream, under its own name for the thing.
    Fixed {
        /// Place of the upstream in the connector's configuration.
        upstream: usize,
        /// The upstream's own name or URI.
        name: Arc<str>,
        /// Whether the router plugin's `route` judges each call; otherwise no plugin is asked.
        guarded: bool,
    },
    /// The router plugin's `route` decides for each call.
    Dynamic,
    /// The router plugin's `answer` serves it.
    Local,
}

/// What a tool's annotations say, unless the operator's trust says otherwise. None = the server does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

/// One entry of a catalogue.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Name, URI or URI template as clients see it; of a function what [`function_key`] makes of its names.
    pub key: Arc<str>,
    /// JSON text as clients see it.
    pub definition: Arc<str>,
    /// Who serves it.
    pub target: Target,
    /// JSON object that is merged into the arguments of each call; none leaves them.
    pub arguments: Option<Arc<str>>,
    /// What its annotations say.
    pub hints: Hints,
    /// Arguments of a tool that travel in a header, too; none where an annotation is invalid.
    pub mirrored: Box<[Mirrored]>,
}

/// What a function is known by, since servers may have functions of the same name, and a connector of several servers may show
/// two under one: the upstream, a full stop (which no upstream has in its name) and the shown name; behind a tab the name in
/// the code where that is another one.
pub fn function_key(upstream: &str, shown: &str, own: &str) -> String {
    if shown == own {
        [upstream, ".", shown].concat()
    } else {
        [upstream, ".", shown, "\t", own].concat()
    }
}

impl Entry {
    /// The name that policies judge: of a function the shown name alone, of anything else the key.
    pub fn name(&self) -> &str {
        if self.kind != EntryKind::Function {
            return &self.key;
        }
        let shown = self.key.split_once('.').map_or(&*self.key, |(_, shown)| shown);
        shown.split_once('\t').map_or(shown, |(shown, _)| shown)
    }

    /// The place of the upstream that serves it, where that is fixed.
    pub fn upstream(&self) -> Option<usize> {
        match self.target {
            Target::Fixed { upstream, .. } => Some(upstream),
            Target::Dynamic | Target::Local => None,
        }
    }
}
