//! Everything that may be different through plugway, and nothing else may.
//!
//! What a client gets: the id and the progress token of a server's request, and the request that a server gives up; ids of
//! tasks; names in lists, and entries of other servers and of plugway there; cursors, since plugway pages by itself; `ttlMs` and
//! `cacheScope`; the server's name before the message of an elicitation; `includeContext`. What a connector says of itself
//! is its own: `serverInfo`, `instructions` (under the server's name), `supportedVersions`.
//!
//! Where plugway answers for all servers, there is one answer of plugway's own: pings, `logging/setLevel`, and what a list says
//! besides its entries. That plugway reads lists again when a server says that they changed is why `list_changed` says
//! nothing else. The recordings have nothing more to say there.
//!
//! What a server gets: ids and progress tokens of requests, and the request that a client gives up. Lists, pings, probes and
//! subscriptions to changes are plugway's own at each end, and a session is opened more than once.

use std::collections::BTreeMap;

use plugway_tests::exact::Exact;

use super::mapped::Mapped;

/// The entries of the list that a request asks for, if plugway merges that list.
pub(crate) fn list_of(request: &Exact) -> Option<&'static str> {
    Some(match request.method()? {
        "tools/list" => "tools",
        "prompts/list" => "prompts",
        "resources/list" => "resources",
        "resources/templates/list" => "resourceTemplates",
        _ => return None,
    })
}

/// A message to the client without what may be different.
pub(crate) fn seen_by_client(message: &Exact, mapped: &Mapped) -> Exact {
    let mut message = message.clone();
    if message.is_request() {
        replace(message.at_mut(&["id"]), |id| mapped.id(id));
        replace(message.at_mut(&["params", "_meta", "progressToken"]), |token| mapped.token(token));
        question(&mut message, mapped);
    }
    if message.method() == Some("notifications/cancelled") {
        replace(message.at_mut(&["params", "requestId"]), |id| mapped.id(id));
    }
    if let Some(result) = message.at_mut(&["result"]) {
        for list in ["tools", "prompts"] {
            unprefixed(result.at_mut(&[list]), mapped);
        }
        if let Some(Exact::Array(entries)) = result.at_mut(&["resources"]) {
            // plugway tells of its servers in resources of its own.
            let is_own = |uri: &str| uri.starts_with("plugway://");
            entries.retain(|entry| !entry.str_at(&["uri"]).is_some_and(is_own));
        }
        for member in ["ttlMs", "cacheScope"] {
            result.remove(member);
        }
        if result.at(&["capabilities"]).is_some() {
            for member in ["serverInfo", "instructions", "supportedVersions"] {
                result.remove(member);
            }
            if let Some(meta) = result.at_mut(&["_meta"]) {
                meta.remove("io.modelcontextprotocol/serverInfo");
            }
        }
        if let Some(Exact::Object(questions)) = result.at_mut(&["inputRequests"]) {
            for asked in questions.values_mut() {
                question(asked, mapped);
            }
        }
    }
    tasks(&mut message, mapped);
    message
}

fn replace(value: Option<&mut Exact>, recorded: impl Fn(&Exact) -> Option<Exact>) {
    if let Some(value) = value
        && let Some(recorded) = recorded(value)
    {
        *value = recorded;
    }
}

/// What a server asks: whose question it is stands before it.
fn question(asked: &mut Exact, mapped: &Mapped) {
    let method = asked.method().map(str::to_owned);
    let Some(params) = asked.at_mut(&["params"]) else { return };
    if method.as_deref() == Some("elicitation/create")
        && let (Some(prefix), Some(Exact::Text(text))) =
            (mapped.prefix(), params.at_mut(&["message"]))
    {
        // Without the name it is not equal.
        *text = match text.strip_prefix(&format!("[{prefix}] ")) {
            Some(own) => own.to_owned(),
            None => format!("without the name of its server: {text}"),
        };
    }
    params.remove("includeContext");
}

/// The entries of this server under its own names.
fn unprefixed(list: Option<&mut Exact>, mapped: &Mapped) {
    let (Some(prefix), Some(Exact::Array(entries))) = (mapped.prefix(), list) else { return };
    let prefix = format!("{prefix}_");
    entries.retain(|entry| entry.str_at(&["name"]).is_some_and(|name| name.starts_with(&prefix)));
    for entry in entries {
        if let Some(Exact::Text(name)) = entry.at_mut(&["name"]) {
            // A prefix that stands there twice is a difference.
            *name = name.strip_prefix(&prefix).unwrap_or(name).to_owned();
        }
    }
}

/// Ids of tasks, wherever they stand.
fn tasks(value: &mut Exact, mapped: &Mapped) {
    match value {
        Exact::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "taskId" => replace(Some(value), |id| mapped.task(id)),
                    "taskIds" => {
                        if let Exact::Array(ids) = value {
                            for id in ids {
                                replace(Some(id), |id| mapped.task(id));
                            }
                        }
                    }
                    _ => tasks(value, mapped),
                }
            }
        }
        Exact::Array(items) => items.iter_mut().for_each(|item| tasks(item, mapped)),
        _ => {}
    }
}

/// What a server got, without what may be different.
#[derive(Debug)]
pub(crate) struct Seen(Vec<Exact>);

/// Messages that plugway sends by itself, or answers by itself.
const OWN: [&str; 9] = [
    "ping",
    "initialize",
    "notifications/initialized",
    "server/discover",
    "subscriptions/listen",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
];

/// The messages that a server got, in any order: they came in several sessions.
pub(crate) fn seen_by_server(messages: Vec<Exact>) -> Seen {
    let mut requests: BTreeMap<Exact, Exact> = BTreeMap::new();
    let mut seen = Vec::new();
    // The end of a session is a request of HTTP, and no message.
    for mut message in messages.into_iter().filter(|one| one.method() != Some("replay/ended")) {
        let id = message.is_request().then(|| message.remove("id")).flatten();
        let token = message.at_mut(&["params", "_meta", "progressToken"]);
        if let (Some(token), Some(_)) = (token, &id) {
            *token = Exact::text("a token");
        }
        if message.method() == Some("notifications/cancelled") {
            replace(message.at_mut(&["params", "requestId"]), |id| requests.get(id).cloned());
        }
        if let Some(id) = id {
            requests.insert(id, message.clone());
        }
        seen.push(message);
    }
    Seen(seen)
}

impl Seen {
    /// What is here and not there. Of what plugway sends by itself, what the client sent has to be there, too, where it is
    /// about the session.
    pub(crate) fn missing_in(&self, other: &Self) -> Vec<&Exact> {
        let is_own = |message: &Exact| message.method().is_some_and(|method| OWN.contains(&method));
        let mut left: Vec<&Exact> = other.0.iter().collect();
        let mut missing = Vec::new();
        for message in self.0.iter().filter(|message| !is_own(message)) {
            match left.iter().position(|one| *one == message) {
                Some(place) => drop(left.swap_remove(place)),
                None => missing.push(message),
            }
        }
        missing
    }

    /// How the client introduced itself.
    pub(crate) fn introductions(&self) -> impl Iterator<Item = &Exact> {
        self.0.iter().filter(|message| message.method() == Some("initialize"))
    }
}
