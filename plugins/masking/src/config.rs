//! What an operator writes.

use plugway_sdk::{BadConfig, glob};
use serde::Deserialize;

use crate::find::find;
use crate::kind::{Kind, Kinds};

/// Globs of one list.
const GLOBS_MAX: usize = 200;
/// Longest `replace`.
const REPLACE_MAX: usize = 128;
/// What stands in the place of what was masked, unless the operator wrote something else.
const REPLACE: &str = "[masked {kind}]";
/// What `replace` begins and ends with: characters that are part of nothing that is looked for, so that what stands beside it
/// does not become something else.
const EDGES: [char; 9] = ['[', ']', '{', '}', '<', '>', '*', '#', '|'];

/// JSON Schema of [`Config`].
pub const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"properties":{
"detect":{"type":"array","items":{"enum":["all","secrets","personal","aws","azure","github","gitlab","google","slack","stripe","openai","anthropic","npm","jwt","private_key","card","iban","email","phone"]},"description":"What is looked for. Default: all but phone."},
"action":{"enum":["mask","refuse"],"default":"mask","description":"Whether it is replaced, or the whole answer refused."},
"replace":{"type":"string","minLength":1,"maxLength":128,"default":"[masked {kind}]","description":"What stands in its place; {kind} is its name."},
"allow":{"type":"array","maxItems":200,"items":{"type":"string","minLength":1},"description":"Globs: what matches one as a whole is left alone."},
"only":{"type":"object","additionalProperties":false,"properties":{
"tools":{"type":"array","maxItems":200,"items":{"type":"string","minLength":1},"description":"Globs over shown and own names: the answers of other tools are left alone."},
"upstreams":{"type":"array","maxItems":200,"items":{"type":"string","minLength":1},"description":"Globs: what other servers send is left alone."}}}}}"#;

/// The configuration; unknown keys are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Names of kinds, or `all`, `secrets`, `personal`. Default: all but `phone`.
    pub detect: Option<Vec<String>>,
    /// What is done. Default: `mask`.
    pub action: Action,
    /// What stands in the place of what was found; `{kind}` is its name.
    pub replace: Option<String>,
    /// Globs over what was found: it is left alone.
    pub allow: Vec<String>,
    /// What is looked at.
    pub only: Only,
}

/// `action: mask | refuse`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Something else is put in its place.
    #[default]
    Mask,
    /// The whole answer or message is refused.
    Refuse,
}

/// What is looked at; an empty list is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Only {
    /// Globs over names of tools, as shown or as the server has them.
    pub tools: Vec<String>,
    /// Globs over names of upstreams.
    pub upstreams: Vec<String>,
}

/// A checked configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What is looked for.
    pub kinds: Kinds,
    /// What is done.
    pub action: Action,
    /// What is left alone.
    pub allow: Vec<String>,
    /// What is looked at.
    pub only: Only,
    /// By the place of each kind.
    replacements: Vec<String>,
}

impl Config {
    /// Refuses what means nothing, or would not mask.
    pub fn checked(self) -> Result<Settings, BadConfig> {
        let kinds = self.detect.as_deref().map_or_else(|| Ok(Kinds::usual()), kinds)?;
        let lists = [
            ("allow", &self.allow),
            ("only.tools", &self.only.tools),
            ("only.upstreams", &self.only.upstreams),
        ];
        for (key, list) in lists {
            if list.len() > GLOBS_MAX {
                return Err(BadConfig::at(key, format!("more than {GLOBS_MAX}")));
            }
            if let Some(place) = list.iter().position(String::is_empty) {
                return Err(BadConfig::at(
                    format!("{key}[{place}]"),
                    "an empty glob matches nothing",
                ));
            }
        }
        let replacements = replacements(self.replace.as_deref().unwrap_or(REPLACE))?;
        let Self { action, allow, only, .. } = self;
        Ok(Settings { kinds, action, allow, only, replacements })
    }
}

impl Settings {
    /// What stands in the place of something of this kind.
    pub fn replacement(&self, kind: Kind) -> String {
        self.replacements.get(kind as usize).cloned().unwrap_or_default()
    }

    /// Whether an answer is looked at: of a tool where a name is given, of a server where one gave it.
    pub fn covers(&self, tool: Option<&str>, target: Option<(&str, &str)>) -> bool {
        let any = |globs: &[String], names: &[&str]| {
            globs.is_empty()
                || globs.iter().any(|glob| names.iter().any(|name| glob::matches(glob, name)))
        };
        let upstream: &[&str] =
            target.as_ref().map_or(&[], |(upstream, _)| std::slice::from_ref(upstream));
        let own = target.map_or("", |(_, own)| own);
        // Who is not known to be another one is one of them.
        (target.is_none() || any(&self.only.upstreams, upstream))
            && tool.is_none_or(|shown| any(&self.only.tools, &[shown, own]))
    }
}

fn kinds(names: &[String]) -> Result<Kinds, BadConfig> {
    let mut wanted = Vec::new();
    for (place, name) in names.iter().enumerate() {
        match (name.as_str(), Kind::named(name)) {
            (_, Some(kind)) => wanted.push(kind),
            ("all", _) => wanted.extend(Kind::ALL),
            ("secrets", _) => {
                wanted.extend(Kind::ALL.into_iter().filter(|kind| !kind.is_personal()));
            }
            ("personal", _) => {
                wanted.extend(Kind::ALL.into_iter().filter(|kind| kind.is_personal()));
            }
            _ => {
                let known: Vec<_> = Kind::ALL.into_iter().map(Kind::name).collect();
                let message = format!(
                    "is `{name}`, but can only be all, secrets, personal, {}",
                    known.join(", ")
                );
                return Err(BadConfig::at(format!("detect[{place}]"), message));
            }
        }
    }
    if wanted.is_empty() {
        return Err(BadConfig::at("detect", "with nothing to look for, take the plugin out"));
    }
    Ok(wanted.into_iter().collect())
}

fn replacements(template: &str) -> Result<Vec<String>, BadConfig> {
    let wrong = |message: String| Err(BadConfig::at("replace", message));
    if template.len() > REPLACE_MAX {
        return wrong(format!("longer than {REPLACE_MAX} bytes"));
    }
    let mut made = Vec::new();
    for kind in Kind::ALL {
        let text = template.replace("{kind}", kind.name());
        if !text.starts_with(EDGES) || !text.ends_with(EDGES) {
            let edges: Vec<_> = EDGES.iter().map(char::to_string).collect();
            return wrong(format!(
                "has to begin and end with one of {}, so that it makes nothing else of what stands beside it",
                edges.join(" ")
            ));
        }
        if !find(text.as_bytes(), None, Kinds::all()).is_empty() {
            return wrong("is itself something that is masked".to_owned());
        }
        made.push(text);
    }
    Ok(made)
}
