//! How a connector introduces itself, and what a server may ask of clients.

use serde_json::{Map, Value};

/// MCP's `Implementation`: how a connector introduces itself to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// Name for programs.
    pub name: String,
    /// Name for people.
    pub title: Option<String>,
    /// Version.
    pub version: String,
    /// What it is, for people.
    pub description: Option<String>,
    /// A page about it.
    pub website_url: Option<String>,
    /// Pictures.
    pub icons: Vec<Icon>,
}

/// MCP's `Icon`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    /// An address of http or https, or `data:image/..`.
    pub src: String,
    /// Its type.
    pub mime_type: Option<String>,
    /// Its sizes; empty where nobody said.
    pub sizes: Vec<String>,
    /// `light` or `dark`.
    pub theme: Option<&'static str>,
}

impl ServerInfo {
    /// A name, and the version of plugway.
    pub fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: None,
            website_url: None,
            icons: Vec::new(),
        }
    }

    /// JSON text as clients get it.
    pub fn to_json(&self) -> String {
        let mut info = members([
            ("name", Some(&*self.name)),
            ("title", self.title.as_deref()),
            ("version", Some(&self.version)),
            ("description", self.description.as_deref()),
            ("websiteUrl", self.website_url.as_deref()),
        ]);
        if !self.icons.is_empty() {
            let icons = self.icons.iter().map(Icon::to_value);
            info.insert("icons".to_owned(), icons.collect());
        }
        Value::Object(info).to_string()
    }
}

impl Icon {
    fn to_value(&self) -> Value {
        let mut icon = members([
            ("src", Some(&*self.src)),
            ("mimeType", self.mime_type.as_deref()),
            ("theme", self.theme),
        ]);
        if !self.sizes.is_empty() {
            icon.insert("sizes".to_owned(), self.sizes.clone().into());
        }
        Value::Object(icon)
    }
}

/// The members that are there.
fn members<const N: usize>(all: [(&str, Option<&str>); N]) -> Map<String, Value> {
    let there = all.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
    there.collect()
}

/// What a server may ask of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one switch for each word of the operator")]
pub struct Asks {
    /// `elicitation/create`.
    pub elicitation: bool,
    /// `sampling/createMessage`.
    pub sampling: bool,
    /// `roots/list`.
    pub roots: bool,
    /// Whether `includeContext` of a request for sampling is passed on; else it becomes `none`.
    pub include_context: bool,
}

impl Asks {
    /// Nothing.
    pub const NOTHING: Self =
        Self { elicitation: false, sampling: false, roots: false, include_context: false };

    /// Each word with whether it was said.
    pub fn words(self) -> [(&'static str, bool); 4] {
        [
            ("elicitation", self.elicitation),
            ("sampling", self.sampling),
            ("roots", self.roots),
            ("include_context", self.include_context),
        ]
    }
}

impl Default for Asks {
    fn default() -> Self {
        Self { elicitation: true, ..Self::NOTHING }
    }
}
