//! The policy with its parts, made of what an operator wrote.

use plugway_sdk::BadConfig;
use serde_json::{Map, Value};

use crate::config::{self, Confirm, Options};
use crate::confirm::Destructive;
use crate::limits::{Limit, digest};
use crate::lists::{Lists, Patterns};
use crate::rules::{Rules, tool_globs};
use crate::understood::{About, Does, List};

/// The policy.
#[derive(Debug)]
pub struct Gateway {
    /// The lists, and what else names things, as they were written.
    pub(crate) written: Vec<List>,
    /// Of tools, and of the functions that code calls.
    pub(crate) tools: Lists,
    pub(crate) prompts: Lists,
    pub(crate) resources: Lists,
    pub(crate) limits: Vec<Limit>,
    pub(crate) rules: Rules,
    pub(crate) destructive: Option<Destructive>,
    /// `mode: observe`: what lists and rules would refuse passes, and is told to the audit.
    pub(crate) observes: bool,
    /// The attribute with what a call was charged, for when it is judged again. It names the configuration: another gateway
    /// in the same connector charges for itself.
    pub(crate) charged: Box<str>,
}

impl Gateway {
    /// Of this configuration.
    pub fn of(written: Map<String, Value>) -> Result<Self, BadConfig> {
        let text = Value::Object(written.clone()).to_string();
        let (options, rules) = config::parts(written)?;
        let observes = rules.mode == "observe";
        let of_rules = tool_globs(&rules.rules);
        let rules =
            Rules::checked(rules).map_err(|(path, sentence)| BadConfig::at(path, sentence))?;
        let limits = Limit::checked(&options)?;
        let not = Patterns::checked("not_destructive", options.not_destructive.clone())?;
        let destructive = match options.confirm {
            Confirm::Destructive => Some(Destructive { not }),
            Confirm::Off if not.is_empty() => None,
            Confirm::Off => {
                let sentence = "is a part of `confirm: destructive`";
                return Err(BadConfig::at("not_destructive", sentence));
            }
        };
        Ok(Self {
            written: written_lists(&options, of_rules),
            tools: Lists::checked("tools", options.blocked_tools, options.allowed_tools)?,
            prompts: Lists::checked("prompts", options.blocked_prompts, options.allowed_prompts)?,
            resources: Lists::checked(
                "resources",
                options.blocked_resources,
                options.allowed_resources,
            )?,
            limits,
            rules,
            destructive,
            observes,
            charged: ["gateway/charged/", &digest(text.as_bytes(), 16)].concat().into(),
        })
    }
}

/// Everything that names tools, prompts or resources, in the order of the documentation.
fn written_lists(options: &Options, of_rules: Vec<(String, Vec<String>)>) -> Vec<List> {
    let blocked = |key: &str, about, entries: &Vec<String>| List {
        key: key.to_owned(),
        does: Does::Blocks,
        about,
        entries: entries.clone(),
    };
    let allowed = |key: &str, about, entries: &Option<Vec<String>>| List {
        key: key.to_owned(),
        does: Does::Allows,
        about,
        entries: entries.clone().unwrap_or_default(),
    };
    let of_calls = |key: String, does, entries| List { key, does, about: About::Calls, entries };
    let mut lists = vec![
        blocked("blocked_tools", About::Tools, &options.blocked_tools),
        allowed("allowed_tools", About::Tools, &options.allowed_tools),
        blocked("blocked_prompts", About::Prompts, &options.blocked_prompts),
        allowed("allowed_prompts", About::Prompts, &options.allowed_prompts),
        blocked("blocked_resources", About::Resources, &options.blocked_resources),
        allowed("allowed_resources", About::Resources, &options.allowed_resources),
        of_calls("not_destructive".to_owned(), Does::Spares, options.not_destructive.clone()),
    ];
    lists.extend(options.limits.iter().enumerate().filter_map(|(at, limit)| {
        Some(of_calls(format!("limits[{at}].tools"), Does::Limits, limit.tools.clone()?))
    }));
    lists.extend(of_rules.into_iter().map(|(key, globs)| of_calls(key, Does::Selects, globs)));
    lists
}
