//! What an operator writes about an upstream's names.

use std::collections::BTreeMap;

use plugway_sdk::{BadConfig, config, glob};
use serde::Deserialize;

/// Settings of one upstream; unknown keys are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Whether names begin with the upstream's configured name.
    #[serde(default)]
    pub prefix: Prefix,
    /// The upstream's own name for a tool or prompt, to the name that clients see; no prefix is added.
    #[serde(default)]
    pub aliases: BTreeMap<String, String>,
    /// Globs over the upstream's own names of tools and prompts: what matches none is not served. None = all.
    #[serde(default)]
    pub expose: Option<Vec<String>>,
    /// Globs over the same names: what matches one is not served, whatever `expose` says.
    #[serde(default)]
    pub hide: Vec<String>,
    /// Whether `aliases` and `expose` mean the functions of a code-execution server rather than its tools.
    #[serde(default)]
    pub of_functions: bool,
}

/// `prefix: always | never`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prefix {
    /// `weather_forecast`
    #[default]
    Always,
    /// `forecast`
    Never,
}

impl Settings {
    /// Reads the JSON that the host hands over; no text at all is the default.
    pub fn parse(json: &str) -> Result<Self, BadConfig> {
        let settings: Self = config::parse(json)?;
        match settings.aliases.iter().find(|(_, shown)| shown.is_empty()) {
            Some((own, _)) => Err(BadConfig::at(format!("aliases.{own}"), "a name is needed")),
            None => Ok(settings),
        }
    }

    /// These settings for the tools of a code-execution server: words that mean its functions leave its tools alone.
    #[must_use]
    pub fn for_code_execution(&self) -> Self {
        if !self.of_functions {
            return self.clone();
        }
        Self { aliases: BTreeMap::new(), expose: None, ..self.clone() }
    }

    /// Whether a tool or prompt with this own name is served.
    pub fn exposes(&self, own: &str) -> bool {
        let matches = |globs: &[String]| globs.iter().any(|glob| glob::matches(glob, own));
        self.expose.as_deref().is_none_or(matches) && !matches(&self.hide)
    }
}
