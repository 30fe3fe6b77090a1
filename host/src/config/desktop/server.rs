//! One server of a desktop file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::variables::{Expanded, Surroundings, Wanted};
use super::{env_file, fields, ignored, login, suspicion};
use crate::config::check::{Findings, belongs_to_plugway};
use crate::config::file::{
    CredentialMode, CredentialUse, SecretText, Span, Text, Timeouts, TransportWord, Upstream,
};
use crate::config::key::KeyPath;
use crate::config::nearest::nearest;
use crate::config::reference::Reference;
use crate::config::tree::{Node, Value};

/// What is said of a secret that stands in the file; it is taken all the same.
const EXPOSED: &str = "holds what looks like a secret";
/// Keys of an address.
pub(super) const ADDRESSES: &[&str] = &["url", "serverUrl", "httpUrl"];

/// Reads a server; what is wrong with it is in the findings.
pub(super) fn read(
    node: &Node,
    key: &KeyPath,
    surroundings: &Surroundings<'_>,
    findings: &mut Findings,
) -> Upstream {
    let Some(members) = fields::members(node) else {
        let hint = "write `{\"command\": .., \"args\": [..]}` or `{\"url\": ..}`";
        findings.problem(key, "must be a set of keys", hint);
        return Upstream { disabled: true, ..Upstream::default() };
    };
    let disabled = is_disabled(node, key, findings);
    if disabled && surroundings.wanted == Wanted::Serving {
        return Upstream { disabled, ..Upstream::default() };
    }
    let before = findings.problems.len();
    let upstream = Upstream { disabled, ..Upstream::default() };
    let (own, is_program) = (BTreeSet::new(), true);
    let mut reader = Reader { node, key, surroundings, findings, own, is_program, upstream };
    reader.environment();
    reader.program();
    reader.address();
    reader.headers();
    reader.login();
    reader.bounds();
    reader.settle();
    let upstream = reader.upstream;
    if disabled {
        // It is not started, so what is wrong with it keeps nobody from serving.
        let problems = findings.problems.split_off(before);
        findings.warnings.extend(problems);
    }
    for member in members {
        look_at_key(&member.key, &member.node, key, findings);
    }
    upstream
}

fn is_disabled(node: &Node, key: &KeyPath, findings: &mut Findings) -> bool {
    let mut flag = |name: &str| {
        node.value_of(name).and_then(|value| fields::flag(value, &key.key(name), findings))
    };
    flag("disabled") == Some(true) || flag("enabled") == Some(false)
}

/// Says what is not honoured; nothing where the value says nothing either.
fn look_at_key(name: &str, node: &Node, key: &KeyPath, findings: &mut Findings) {
    let says_nothing = match &node.value {
        Value::Null | Value::Bool(false) => true,
        Value::List(items) => items.is_empty(),
        Value::Map(members) => members.is_empty(),
        Value::Text(text) => text.is_empty(),
        _ => false,
    };
    if ignored::HONOURED.contains(&name) || says_nothing {
        return;
    }
    let key = key.key(name);
    match ignored::meaning(name) {
        Some("") => {}
        Some(sentence) => {
            findings.warning(&key, sentence, "take it out, or leave it to the client");
        }
        None => {
            let hint = match nearest(name, ignored::known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "plugway leaves it alone".to_owned(),
            };
            findings.warning(&key, "is not a key that plugway knows", &hint);
        }
    }
}

struct Reader<'a> {
    node: &'a Node,
    key: &'a KeyPath,
    surroundings: &'a Surroundings<'a>,
    findings: &'a mut Findings,
    /// Names in the server's own environment.
    own: BTreeSet<String>,
    /// Whether the file says that it is a program, or says nothing.
    is_program: bool,
    upstream: Upstream,
}

impl Reader<'_> {
    /// `envFile`, then `env`, which comes first.
    fn environment(&mut self) {
        let mut variables = BTreeMap::new();
        if let Some((key, path)) = self.one_of(&["envFile"])
            && let Some(path) = self.plain(&path, &key, false)
        {
            for (name, value) in self.variables_of(&path, &key) {
                variables.insert(name, SecretText::literal(&value));
            }
        }
        let key = self.key.key("env");
        let written = self.node.value_of("env");
        let written = written.map(|node| fields::map(node, &key, self.findings));
        let written = written.unwrap_or_default();
        self.own = written.iter().map(|(name, _, _)| name.clone()).collect();
        for (name, key, text) in written {
            let value = self.secret(&name, &text, &key);
            variables.extend(value.map(|value| (name, value)));
        }
        self.own.extend(variables.keys().cloned());
        if !variables.is_empty() {
            self.upstream.env = Some(variables);
        }
    }

    fn variables_of(&mut self, path: &str, key: &KeyPath) -> Vec<(String, String)> {
        let Surroundings { workspace, environment, .. } = *self.surroundings;
        let reference = Reference::File(path);
        self.findings.source(reference.file(workspace));
        match reference.resolve(workspace, environment) {
            Ok(resolved) => env_file::parse(resolved.secret.reveal()).unwrap_or_else(|line| {
                let sentence = format!("names a file whose line {line} is no `NAME=value`");
                self.findings.problem(key, sentence, "write one variable on each line");
                Vec::new()
            }),
            Err(unresolved) => {
                self.findings.problem(key, unresolved.sentence, "name a file, or take it out");
                Vec::new()
            }
        }
    }

    fn program(&mut self) {
        if let Some((key, text)) = self.one_of(&["command"]) {
            self.upstream.command = self.plain(&text, &key, false);
        }
        if let Some((key, text)) = self.one_of(&["cwd"]) {
            self.upstream.cwd = self.plain(&text, &key, false);
        }
        let key = self.key.key("args");
        let Some(node) = self.node.value_of("args") else { return };
        let mut args = Vec::new();
        let mut before = String::new();
        for (key, text) in fields::texts(node, &key, self.findings) {
            if is_exposed(&before, &text) {
                let hint = "programs of this machine can read arguments: give it in `env`";
                self.findings.warning(&key, EXPOSED, hint);
            }
            args.extend(self.plain(&text, &key, true).map(Text));
            before = text;
        }
        self.upstream.args = Some(args);
    }

    fn address(&mut self) {
        let kind = self.one_of(&["type", "transport", "transportType"]);
        let word = kind.as_ref().map(|(_, word)| word.to_ascii_lowercase().replace(['-', '_'], ""));
        if let Some((key, text)) = self.one_of(ADDRESSES) {
            self.upstream.url = self.plain(&text, &key, false);
            if is_exposed("", &text) {
                let hint = "give it in `headers`: addresses stand in logs";
                self.findings.warning(&key, EXPOSED, hint);
            }
            self.upstream.transport = match word.as_deref() {
                Some("sse") => Some(TransportWord::Sse),
                Some("http" | "streamablehttp") => None,
                // Many files say nothing but the address.
                _ => text.trim_end_matches('/').ends_with("/sse").then_some(TransportWord::Sse),
            };
        }
        match word.as_deref() {
            None | Some("stdio" | "local") => {}
            Some("http" | "streamablehttp" | "sse" | "remote") => self.is_program = false,
            Some(_) => {
                if let Some((key, text)) = kind {
                    let sentence = format!("is `{text}`, but can only be stdio, http or sse");
                    self.findings.problem(&key, sentence, "write `\"type\": \"http\"`");
                }
            }
        }
    }

    fn headers(&mut self) {
        let key = self.key.key("headers");
        let Some(node) = self.node.value_of("headers") else { return };
        let mut headers = BTreeMap::new();
        for (name, key, text) in fields::map(node, &key, self.findings) {
            if belongs_to_plugway(&name) {
                let sentence = "is left out: plugway sets this header itself";
                self.findings.warning(&key, sentence, "take it out");
                continue;
            }
            let is_bearer = name.eq_ignore_ascii_case("authorization")
                && text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer "));
            if is_bearer && self.surroundings.wanted == Wanted::Importing {
                let token = self.secret(&name, text.get(7..).unwrap_or_default().trim(), &key);
                let mode = Some(CredentialMode::Bearer);
                self.upstream.auth =
                    Some(CredentialUse { mode, token, ..CredentialUse::default() });
                continue;
            }
            let value = self.secret(&name, &text, &key);
            headers.extend(value.map(|value| (name, value)));
        }
        if !headers.is_empty() {
            self.upstream.headers = Some(headers);
        }
    }

    /// What stands before the host of the address is a header instead.
    fn login(&mut self) {
        let Some((url, header)) = self.upstream.url.as_deref().and_then(login::apart) else {
            return;
        };
        self.upstream.url = Some(url);
        let key = self.key.key("url");
        let headers = self.upstream.headers.get_or_insert_default();
        let has_one = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        if !has_one && self.upstream.auth.is_none() {
            let value = self.secret("Authorization", &header, &key);
            let headers = self.upstream.headers.get_or_insert_default();
            headers.extend(value.map(|value| ("Authorization".to_owned(), value)));
        }
    }

    /// `timeout` is in seconds where Cline and Roo Code wrote it, which take at most an hour, and in milliseconds
    /// where Gemini CLI did.
    fn bounds(&mut self) {
        let key = self.key.key("timeout");
        let timeout = self.node.value_of("timeout");
        let timeout = timeout.and_then(|node| fields::number(node, &key, self.findings));
        if let Some(timeout) = timeout {
            let answer = if timeout <= 3_600 {
                Duration::from_secs(timeout)
            } else {
                Duration::from_millis(timeout)
            };
            self.upstream.timeouts = Timeouts { answer: Some(Span(answer)), ..Timeouts::default() };
        }
        // Windsurf, Roo Code; Gemini CLI.
        let hide = self.tools(&["disabledTools", "excludeTools"]);
        // Copilot CLI; Gemini CLI.
        let expose = self.tools(&["tools", "includeTools"]);
        self.upstream.hide = Some(hide).filter(|tools| !tools.is_empty());
        self.upstream.expose =
            Some(expose).filter(|tools| !tools.is_empty() && !tools.iter().any(|tool| tool == "*"));
    }

    /// The names of tools in lists.
    fn tools(&mut self, lists: &[&str]) -> Vec<String> {
        let mut tools = Vec::new();
        for name in lists {
            if let Some(node) = self.node.value_of(name) {
                let read = fields::texts(node, &self.key.key(name), self.findings);
                tools.extend(read.into_iter().map(|(_, tool)| tool));
            }
        }
        tools
    }

    /// Takes out what does not go with the way that the server is reached: clients leave such keys alone.
    fn settle(&mut self) {
        let upstream = &mut self.upstream;
        if upstream.url.is_some() && upstream.command.is_some() {
            if self.is_program {
                upstream.url = None;
                upstream.transport = None;
            } else {
                upstream.command = None;
            }
        }
        let (is_program, is_address) = (upstream.command.is_some(), upstream.url.is_some());
        let mut left_out = Vec::new();
        if is_address {
            left_out.extend(upstream.env.take().map(|_| "env"));
            left_out.extend(upstream.cwd.take().map(|_| "cwd"));
            left_out.extend(upstream.args.take().filter(|args| !args.is_empty()).map(|_| "args"));
        }
        if is_program {
            left_out.extend(upstream.headers.take().map(|_| "headers"));
            left_out.extend(upstream.auth.take().map(|_| "headers"));
        }
        for name in left_out {
            let sentence = "is left out: it does not go with the way this server is reached";
            self.findings.warning(&self.key.key(name), sentence, "take it out");
        }
    }

    /// The first of these keys that stands here.
    fn one_of(&mut self, names: &[&str]) -> Option<(KeyPath, String)> {
        names.iter().find_map(|name| {
            let (node, key) = (self.node.value_of(name)?, self.key.key(name));
            let text = fields::text(node, &key, self.findings)?;
            Some((key, text))
        })
    }

    fn expanded(&mut self, text: &str, key: &KeyPath, lenient: bool) -> Option<Expanded> {
        match self.surroundings.expand(text, &self.own, lenient) {
            Ok(expanded) => Some(expanded),
            Err(unset) => {
                self.findings.problem(key, unset.sentence, &unset.hint);
                None
            }
        }
    }

    /// A text that no reference can stand for.
    fn plain(&mut self, text: &str, key: &KeyPath, lenient: bool) -> Option<String> {
        let serving = Surroundings { wanted: Wanted::Serving, ..*self.surroundings };
        let expanded = serving.expand(text, &self.own, lenient).map_err(|unset| {
            self.findings.problem(key, unset.sentence, &unset.hint);
        });
        match expanded.ok()? {
            Expanded::Text(text, from_environment) => {
                if from_environment && self.surroundings.wanted == Wanted::Importing {
                    let hint = "import again when they change; only values of `env` and `headers` \
                                can be references";
                    self.findings.warning(key, "holds what its variables are now", hint);
                }
                Some(text)
            }
            Expanded::Reference(text) => Some(text),
        }
    }

    /// A text that may be a secret.
    fn secret(&mut self, name: &str, text: &str, key: &KeyPath) -> Option<SecretText> {
        Some(match self.expanded(text, key, false)? {
            Expanded::Reference(reference) => SecretText::new(&reference),
            Expanded::Text(value, from_environment) => {
                let is_serving = self.surroundings.wanted == Wanted::Serving;
                if is_serving && !from_environment && suspicion::is_secret(name, &value) {
                    let hint = "`plugway import` moves it into a file of its own";
                    self.findings.warning(key, EXPOSED, hint);
                }
                SecretText::literal(&value)
            }
        })
    }
}

/// Whether a text holds a secret itself: by its own form, or because of the option before it, `--api-key abc`.
fn is_exposed(before: &str, text: &str) -> bool {
    if text.contains("${") {
        return false;
    }
    let is_value = before.starts_with("--") && !before.contains('=') && !text.starts_with('-');
    suspicion::looks_secret(text) || (is_value && suspicion::is_secret(before, text))
}
