//! `${..}` in texts of a desktop file.
//!
//! Known forms: `${env:NAME}` (VS Code, Cursor, Windsurf), `${NAME}` and `${NAME:-default}` (Claude Code),
//! `${workspaceFolder}`, `${workspaceFolderBasename}`, `${userHome}`, `${pathSeparator}` and `${/}` (VS Code, Cursor),
//! `${input:ID}` (VS Code), `${file:PATH}` (Windsurf). Anything else stays as it is: another program may know it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::config::environment::Environment;
use crate::config::reference::Reference;

/// Names that stand for places and signs, not for variables of an environment.
const PLACES: &[&str] =
    &["workspaceFolder", "workspaceRoot", "workspaceFolderBasename", "pathSeparator", "/"];

/// What a file is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To be served as it is.
    Serving,
    /// To be written as a configuration of plugway, in which a text that is nothing but a variable stays one.
    Importing,
}

/// What variables stand for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    pub(super) environment: &'a Environment,
    /// The folder that relative paths start at.
    pub(super) workspace: &'a Path,
    pub(super) wanted: Wanted,
}

/// A text in which every variable was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expanded {
    /// The text, and whether variables of an environment gave a part of it.
    Text(String, bool),
    /// For an import: the text was one variable, and this is plugway's reference to it.
    Reference(String),
}

/// A variable that stands for nothing: a sentence, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unset {
    pub(super) sentence: String,
    pub(super) hint: String,
}

impl Surroundings<'_> {
    /// Replaces every variable. `own` are names that the server's own environment gives a meaning to: `${NAME}` of
    /// those, and of unknown ones where `lenient`, is left to the program.
    pub(super) fn expand(
        &self,
        text: &str,
        own: &BTreeSet<String>,
        lenient: bool,
    ) -> Result<Expanded, Unset> {
        if self.wanted == Wanted::Importing
            && let Some(reference) = self.reference(text)
        {
            return Ok(Expanded::Reference(reference));
        }
        let (mut expanded, mut rest, mut from_environment) = (String::new(), text, false);
        while let Some((before, after)) = rest.split_once("${") {
            expanded.push_str(before);
            let Some((name, behind)) = after.split_once('}') else {
                expanded.push_str("${");
                rest = after;
                continue;
            };
            match self.value(name, own, lenient)? {
                Some(value) => {
                    expanded.push_str(&value);
                    from_environment |= !PLACES.contains(&name);
                }
                None => expanded.extend(["${", name, "}"]),
            }
            rest = behind;
        }
        expanded.push_str(rest);
        Ok(Expanded::Text(expanded, from_environment))
    }

    /// The value of what stands between the braces; none for what is left as it is.
    fn value(
        &self,
        name: &str,
        own: &BTreeSet<String>,
        lenient: bool,
    ) -> Result<Option<String>, Unset> {
        let workspace = || self.workspace.display().to_string();
        if let Some(variable) = name.strip_prefix("env:") {
            return self.variable(variable).map(Some);
        }
        if let Some(id) = name.strip_prefix("input:") {
            return self.input(id).map(Some);
        }
        if let Some(path) = name.strip_prefix("file:") {
            let resolved = Reference::File(path).resolve(self.workspace, self.environment);
            let unset = |unresolved: crate::config::reference::Unresolved| Unset {
                sentence: unresolved.sentence,
                hint: unresolved.hint.to_owned(),
            };
            return resolved
                .map(|resolved| Some(resolved.secret.reveal().to_owned()))
                .map_err(unset);
        }
        match name {
            "workspaceFolder" | "workspaceRoot" => return Ok(Some(workspace())),
            "workspaceFolderBasename" => {
                let name = self.workspace.file_name().unwrap_or_default();
                return Ok(Some(name.to_string_lossy().into_owned()));
            }
            "userHome" => return self.variable("HOME").map(Some),
            "pathSeparator" | "/" => return Ok(Some(std::path::MAIN_SEPARATOR.to_string())),
            _ => {}
        }
        let (variable, default) = match name.split_once(":-") {
            Some((variable, default)) => (variable, Some(default)),
            None => (name, None),
        };
        if !is_variable(variable) {
            return Ok(None);
        }
        match (self.environment.get(variable), default) {
            _ if own.contains(variable) => Ok(None),
            (Some(value), _) => Ok(Some(value.to_owned())),
            (None, Some(default)) => Ok(Some(default.to_owned())),
            (None, None) if lenient => Ok(None),
            (None, None) => self.variable(variable).map(Some),
        }
    }

    fn variable(&self, name: &str) -> Result<String, Unset> {
        self.environment.get(name).map(str::to_owned).ok_or_else(|| Unset {
            sentence: format!("refers to the variable `{name}`, which is not set"),
            hint: format!("set {name} where plugway is started"),
        })
    }

    /// plugway has nobody to ask: a variable of its own environment answers.
    fn input(&self, id: &str) -> Result<String, Unset> {
        let variable = input_variable(id);
        self.environment.get(&variable).map(str::to_owned).ok_or_else(|| Unset {
            sentence: format!("asks the user for `{id}`, and plugway has nobody to ask"),
            hint: format!(
                "set {variable} where plugway is started, or write `${{env:NAME}}` in its place"
            ),
        })
    }

    /// plugway's own reference for a text that is one variable and nothing else.
    fn reference(&self, text: &str) -> Option<String> {
        let name = text.strip_prefix("${")?.strip_suffix('}')?;
        if let Some(id) = name.strip_prefix("input:") {
            return Some(format!("env://{}", input_variable(id)));
        }
        if let Some(path) = name.strip_prefix("file:") {
            return Some(format!("file://{}", self.workspace.join(path).display()));
        }
        let variable = name.strip_prefix("env:").unwrap_or(name);
        is_variable(variable).then(|| format!("env://{variable}"))
    }
}

fn is_variable(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.bytes().all(plain) && name.starts_with(|first: char| !first.is_ascii_digit())
}

/// `github-token` is answered by `PLUGWAY_INPUT_GITHUB_TOKEN`.
fn input_variable(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("PLUGWAY_INPUT_{}", id.chars().map(plain).collect::<String>())
}
