//! `plugway policy explain`.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::arguments::{Explain, PolicyCommand};
use super::exit::{Exit, Failure};
use super::print::say;
use super::{application, serve};
use crate::auth::claims;
use crate::catalogue::{EntryKind, Hints, Sight};
use crate::config::{self, ConnectorSettings, Environment, Flags, Problems, Settings};
use crate::pipeline::explain::{Explanation, Question, Said, Step, Verdict};
use crate::protocol::Message;

/// Keeps callers of files apart from all others.
const REALM: &str = "explain";

/// A call as somebody wrote it down.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// Name as clients see it; the name of a prompt or the URI of a resource for those methods.
    tool: String,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    upstream: Option<String>,
    #[serde(default)]
    own_name: Option<String>,
    /// Whether the server runs code; where functions are named it does.
    #[serde(default)]
    runs_code: Option<bool>,
    /// The functions that code at the server can call.
    #[serde(default)]
    functions: Option<Vec<String>>,
    #[serde(default)]
    arguments: Map<String, Value>,
    #[serde(default)]
    hints: WrittenHints,
    #[serde(default)]
    session: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are MCP's")]
struct WrittenHints {
    read_only_hint: Option<bool>,
    destructive_hint: Option<bool>,
    idempotent_hint: Option<bool>,
    open_world_hint: Option<bool>,
}

/// Runs a subcommand of `plugway policy`.
pub(super) fn run(command: &PolicyCommand, environment: &Environment) -> Result<(), Failure> {
    match command {
        PolicyCommand::Explain(command) => explain(command, environment),
    }
}

fn explain(command: &Explain, environment: &Environment) -> Result<(), Failure> {
    // Nothing listens: whatever the file says of a listener means nothing here.
    let flags = Flags { listen: Some("127.0.0.1:0".to_owned()), ..Flags::default() };
    let settings = command.source(environment).load(&flags, environment)?;
    let connector = choose(&settings, command.connector.as_deref())?;
    let (question, unsaid) = question(command)?;
    let asked = application::explain(&settings, connector, question);
    let Explanation { steps, verdict } = serve::runtime()?.block_on(asked)?;
    for step in &steps {
        say(&line(step));
    }
    say(match &verdict {
        Verdict::Allowed => "the call is allowed",
        Verdict::Confirmed => "the call is allowed once a person has confirmed it",
        Verdict::Answered => "the call is answered by a policy, no server is asked",
        Verdict::Refused(_) => "the call is refused",
        Verdict::Unknown => "the call is refused: to this caller there is no such thing",
    });
    if let Some(note) = unsaid {
        say(note);
    }
    match verdict {
        Verdict::Allowed | Verdict::Confirmed | Verdict::Answered => Ok(()),
        Verdict::Refused(sentence) => Err(denied(&sentence)),
        Verdict::Unknown => Err(denied("To this caller there is no such thing.")),
    }
}

/// The call may not be made: what its caller would read.
fn denied(sentence: &str) -> Failure {
    Failure { exit: Exit::Denied, text: format!("denied: {sentence}") }
}

/// One answer in words.
fn line(step: &Step) -> String {
    let said = match &step.said {
        Said::Sees(Sight::Shown) => "shows it".to_owned(),
        Said::Sees(Sight::Unlisted) => "does not list it".to_owned(),
        Said::Sees(Sight::Hidden) => "hides it".to_owned(),
        Said::Passes => "lets it pass".to_owned(),
        Said::Changes => "lets it pass with changes".to_owned(),
        Said::Refuses(sentence) => format!("refuses it: {sentence}"),
        Said::Asks(sentence) => format!("wants a person to confirm it: {sentence}"),
        Said::Answers => "answers it".to_owned(),
        Said::Fails(sentence) => format!("gives no decision: {sentence}"),
    };
    let by = step.by.as_ref().map(|by| format!(" [{by}]")).unwrap_or_default();
    format!("policy {} {said}{by}", step.policy)
}

/// The connector of that name, or the only one.
fn choose<'a>(
    settings: &'a Settings,
    name: Option<&str>,
) -> Result<&'a ConnectorSettings, Failure> {
    let found = match (name, &*settings.connectors) {
        (None, [only]) => Some(only),
        (None, _) => None,
        (Some(name), all) => all.iter().find(|connector| *connector.name == *name),
    };
    found.ok_or_else(|| {
        let known: Vec<&str> = settings.connectors.iter().map(|one| &*one.name).collect();
        let sentence = match name {
            Some(name) => format!("there is no connector `{name}`"),
            None => "there are several connectors".to_owned(),
        };
        let hint = format!("name one with --connector: {}", known.join(", "));
        Failure::new(Exit::Refused, sentence, &hint)
    })
}

/// What nobody said and policies may look at: their answers may be others where plugway serves.
const UNSAID: &str = "note: short names and functions were not considered; say `runs_code` and `functions` of the call's server";
const UNSAID_FUNCTIONS: &str =
    "note: functions were not considered; say `functions` of the call's server";

/// The call, and a note where policies know less of it than they will.
fn question(command: &Explain) -> Result<(Question, Option<&'static str>), Failure> {
    let wrong = |path: &Path, sentence: &dyn std::fmt::Display, hint: &str| {
        Failure::new(Exit::Refused, format!("{}: {sentence}", path.display()), hint)
    };
    let claims: Map<String, Value> = read(&command.caller, CALLER)?;
    let caller =
        claims::caller(REALM, &claims).map_err(|error| wrong(&command.caller, &error, CALLER))?;
    let written: Written = read(&command.call, CALL)?;
    let Written { tool, method, upstream, own_name, runs_code, functions, .. } = written;
    let Written { arguments, hints, session, .. } = written;
    let method = method.as_deref().unwrap_or("tools/call");
    let (kind, params) = match method {
        "tools/call" => (EntryKind::Tool, json!({"name": tool, "arguments": arguments})),
        "prompts/get" => (EntryKind::Prompt, json!({"name": tool, "arguments": arguments})),
        "resources/read" => (EntryKind::Resource, json!({"uri": tool})),
        _ => {
            let sentence = "`method` is none of tools/call, prompts/get, resources/read";
            return Err(wrong(&command.call, &sentence, CALL));
        }
    };
    let unsaid = match (&upstream, kind, runs_code, &functions) {
        (None, ..) => None,
        (_, EntryKind::Tool, None, None) => Some(UNSAID),
        (_, EntryKind::Tool, Some(true), None) => Some(UNSAID_FUNCTIONS),
        _ => None,
    };
    let functions = functions.unwrap_or_default();
    let is_name = |name: &String| !name.is_empty() && !name.contains(char::is_control);
    if !functions.iter().all(is_name) || (!functions.is_empty() && runs_code == Some(false)) {
        let sentence = "`functions` are names of functions that a server which runs code has";
        return Err(wrong(&command.call, &sentence, CALL));
    }
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let message = Message::parse(Bytes::from(message.to_string()))
        .map_err(|error| wrong(&command.call, &error, CALL))?;
    let name: Arc<str> = tool.into();
    let own = own_name.map_or_else(|| name.clone(), Arc::from);
    let hints = Hints {
        read_only: hints.read_only_hint,
        destructive: hints.destructive_hint,
        idempotent: hints.idempotent_hint,
        open_world: hints.open_world_hint,
    };
    let question = Question {
        caller: Arc::new(caller),
        message,
        kind,
        name,
        target: upstream.map(|upstream| (upstream.into(), own)),
        runs_code: runs_code.unwrap_or(!functions.is_empty()),
        functions,
        hints,
        session: session.map(Arc::from),
    };
    Ok((question, unsaid))
}

const CALLER: &str = "write claims as JSON: {\"sub\": \"ann\", \"client_id\": \"cli\", \"tenant\": \"acme\", \
     \"scope\": \"read write\"}; {} is nobody";
const CALL: &str = "write a call as JSON: {\"tool\": \"files_delete\", \"upstream\": \"files\", \
     \"own_name\": \"delete\", \"arguments\": {}, \"hints\": {\"readOnlyHint\": false}}";

fn read<T: serde::de::DeserializeOwned>(path: &Path, hint: &str) -> Result<T, Failure> {
    config::read_json(path).map_err(|problem| Failure::from(Problems::one(problem.hint(hint))))
}
