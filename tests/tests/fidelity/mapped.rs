//! What has another name behind plugway: ids of requests of servers, their tokens, ids of tasks, names with a prefix. A
//! client learns them as they come, and sends what it was given.

use std::collections::BTreeMap;

use plugway_tests::exact::Exact;

const META: &str = "_meta";
/// Members of `_meta` that every request of the modern era has.
const ALWAYS: &str = "io.modelcontextprotocol/";

/// Recorded things and what stands for them.
#[derive(Debug, Default)]
pub(crate) struct Mapped {
    /// The name of the server, with which its names begin.
    prefix: Option<String>,
    /// Ids of requests of the server.
    ids: BTreeMap<Exact, Exact>,
    /// Progress tokens of the server.
    tokens: BTreeMap<Exact, Exact>,
    /// Ids of tasks.
    tasks: BTreeMap<Exact, Exact>,
    /// `_meta` of the first request, where it is one of the modern era.
    meta: Vec<(String, Exact)>,
}

fn back(map: &BTreeMap<Exact, Exact>, value: &Exact) -> Option<Exact> {
    map.iter().find(|(_, shown)| *shown == value).map(|(recorded, _)| recorded.clone())
}

impl Mapped {
    /// Nothing is known yet.
    pub(crate) fn new(prefix: Option<&str>) -> Self {
        Self { prefix: prefix.map(str::to_owned), ..Self::default() }
    }

    /// The first request of the recording.
    pub(crate) fn opens_with(&mut self, opening: &Exact) {
        if let Some(Exact::Object(meta)) = opening.at(&["params", META]) {
            let always = meta.iter().filter(|(key, _)| key.starts_with(ALWAYS));
            self.meta = always.map(|(key, value)| (key.clone(), value.clone())).collect();
        }
    }

    /// The name of the server; none without plugway.
    pub(crate) fn prefix(&self) -> Option<&str> {
        self.prefix.as_deref()
    }

    /// What a message shows that was recorded otherwise.
    pub(crate) fn learn(&mut self, recorded: &Exact, shown: &Exact) {
        let token: &[&str] = &["params", META, "progressToken"];
        if recorded.is_request() {
            for (map, path) in [(&mut self.ids, &["id"][..]), (&mut self.tokens, token)] {
                if let (Some(recorded), Some(shown)) = (recorded.at(path), shown.at(path)) {
                    map.insert(recorded.clone(), shown.clone());
                }
            }
        }
        self.learn_tasks(recorded, shown);
    }

    fn learn_tasks(&mut self, recorded: &Exact, shown: &Exact) {
        match (recorded, shown) {
            (Exact::Object(recorded), Exact::Object(shown)) => {
                for (key, value) in recorded {
                    let Some(shown) = shown.get(key) else { continue };
                    if key == "taskId" {
                        self.tasks.insert(value.clone(), shown.clone());
                    }
                    self.learn_tasks(value, shown);
                }
            }
            (Exact::Array(recorded), Exact::Array(shown)) => {
                for (recorded, shown) in recorded.iter().zip(shown) {
                    self.learn_tasks(recorded, shown);
                }
            }
            _ => {}
        }
    }

    /// A recorded message as this client has to send it.
    pub(crate) fn outgoing(&self, recorded: &Exact) -> Exact {
        let mut message = recorded.clone();
        let replace = |value: Option<&mut Exact>, map: &BTreeMap<Exact, Exact>| {
            if let Some(value) = value
                && let Some(shown) = map.get(value)
            {
                *value = shown.clone();
            }
        };
        match message.method().map(str::to_owned).as_deref() {
            None => replace(message.at_mut(&["id"]), &self.ids),
            Some("notifications/progress") => {
                replace(message.at_mut(&["params", "progressToken"]), &self.tokens);
            }
            Some("tools/call" | "prompts/get") => {
                self.prefixed(message.at_mut(&["params", "name"]));
            }
            Some("completion/complete") => {
                self.prefixed(message.at_mut(&["params", "ref", "name"]));
            }
            Some("subscriptions/listen") => {
                if let Some(Exact::Array(ids)) =
                    message.at_mut(&["params", "notifications", "taskIds"])
                {
                    for id in ids {
                        replace(Some(id), &self.tasks);
                    }
                }
            }
            Some(_) => replace(message.at_mut(&["params", "taskId"]), &self.tasks),
        }
        if message.is_request() && !self.meta.is_empty() {
            let empty = || Exact::Object(BTreeMap::new());
            if message.at(&["params", META]).is_none()
                && let Some(params) = message.at_mut(&["params"])
            {
                params.set(META, empty());
            }
            if let Some(meta) = message.at_mut(&["params", META]) {
                for (key, value) in &self.meta {
                    meta.set(key, value.clone());
                }
            }
        }
        message
    }

    fn prefixed(&self, name: Option<&mut Exact>) {
        if let (Some(prefix), Some(Exact::Text(name))) = (&self.prefix, name) {
            *name = format!("{prefix}_{name}");
        }
    }

    /// The recorded thing in the place of what stands for it: an id of a request of the server.
    pub(crate) fn id(&self, shown: &Exact) -> Option<Exact> {
        back(&self.ids, shown)
    }

    /// A progress token of the server.
    pub(crate) fn token(&self, shown: &Exact) -> Option<Exact> {
        back(&self.tokens, shown)
    }

    /// The id of a task.
    pub(crate) fn task(&self, shown: &Exact) -> Option<Exact> {
        back(&self.tasks, shown)
    }
}
