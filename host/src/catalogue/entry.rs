//! One tool, prompt, resource or resource template.

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
}

impl EntryKind {
    /// Every kind, in the order of the lists.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Prompt, Self::Resource, Self::Template];

    /// The word of the plugin contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "template",
        }
    }

    /// The kind that a word of the plugin contract names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The member of a definition that identifies the entry.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
            Self::Template => "uriTemplate",
        }
    }

    /// The member of a list result that holds the entries.
    pub fn list_member(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Template => "resourceTemplates",
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
    /// Name, URI or URI template as clients see it.
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

impl Entry {
    /// The place of the upstream that serves it, where that is fixed.
    pub fn upstream(&self) -> Option<usize> {
        match self.target {
            Target::Fixed { upstream, .. } => Some(upstream),
            Target::Dynamic | Target::Local => None,
        }
    }
}
