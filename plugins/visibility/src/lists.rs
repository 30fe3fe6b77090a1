//! What is enabled and what is disabled.

use plugway_sdk::glob;

/// Two lists of globs: `*` stands for any text, `?` for one character.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lists {
    /// Nothing but what one of these matches; none = everything.
    pub enabled: Option<Vec<String>>,
    /// Nothing that one of these matches.
    pub disabled: Vec<String>,
}

impl Lists {
    /// Whether these lists say nothing.
    pub fn is_empty(&self) -> bool {
        self.enabled.is_none() && self.disabled.is_empty()
    }

    /// Whether a name is enabled; it is where nothing is listed.
    pub fn enables(&self, name: &str) -> bool {
        self.enabled.as_ref().is_none_or(|globs| any(globs, name))
    }

    /// Whether a name is disabled.
    pub fn disables(&self, name: &str) -> bool {
        any(&self.disabled, name)
    }
}

fn any(globs: &[String], name: &str) -> bool {
    globs.iter().any(|glob| glob::matches(glob, name))
}

/// What lists are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Tools, functions of code-execution servers, and whatever else is no prompt and no resource.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources and resource templates.
    Resources,
}

impl About {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];

    /// What a kind of the plugin contract is.
    pub fn of(kind: &str) -> Self {
        match kind {
            "prompt" => Self::Prompts,
            "resource" | "template" => Self::Resources,
            _ => Self::Tools,
        }
    }
}

/// Lists that hold at once. What is to be seen passes each set of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    /// Of the names of tools and functions.
    pub tools: Lists,
    /// Of the names of prompts.
    pub prompts: Lists,
    /// Of the names and URIs of resources and templates.
    pub resources: Lists,
    /// Of tags, whatever carries them.
    pub tags: Lists,
}

impl Set {
    /// The lists of names.
    pub fn of(&self, about: About) -> &Lists {
        match about {
            About::Tools => &self.tools,
            About::Prompts => &self.prompts,
            About::Resources => &self.resources,
        }
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, about: About) -> &mut Lists {
        match about {
            About::Tools => &mut self.tools,
            About::Prompts => &mut self.prompts,
            About::Resources => &mut self.resources,
        }
    }

    /// Whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && About::ALL.into_iter().all(|about| self.of(about).is_empty())
    }
}
