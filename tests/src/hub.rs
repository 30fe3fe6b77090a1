//! Configurations with guests, written as a table of what a test is about.

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::{Plugway, binary, plugway::Setup};

/// Guests get more time than the default of 10 ms: a machine that runs many tests at once is not what most are about.
const TIME_MS: u32 = 2_000;

/// A guest as an entry under `plugins`, and the bytes of its component.
#[derive(Debug, Clone)]
pub struct Guest {
    component: String,
    name: String,
    entry: Map<String, Value>,
}

impl Guest {
    /// The guest of that name in `tests/guests/examples`, under its own name.
    pub fn new(component: &str) -> Self {
        let mut entry = Map::new();
        entry.insert("limits".to_owned(), json!({"time_ms": TIME_MS}));
        Self { component: component.to_owned(), name: component.to_owned(), entry }
    }

    /// Under another name, as a guest that is used twice needs.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// With one more key of the entry.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.entry.insert(key.to_owned(), value);
        self
    }

    /// With this configuration.
    #[must_use]
    pub fn config(self, config: Value) -> Self {
        self.with("config", config)
    }

    /// With these grants.
    #[must_use]
    pub fn grants(self, grants: Value) -> Self {
        self.with("grants", grants)
    }

    /// Whose failures let calls pass.
    #[must_use]
    pub fn passing(self) -> Self {
        self.with("on_error", json!("pass"))
    }

    /// Its component.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        Ok(std::fs::read(binary::component(&self.component)?)?)
    }

    /// The name of its file beside the configuration.
    pub fn file(&self) -> String {
        format!("{}.wasm", self.name)
    }
}

/// One connector with its upstreams and guests.
#[derive(Debug, Clone)]
pub struct Hub {
    name: String,
    upstreams: Vec<Value>,
    guests: Vec<Guest>,
    policies: Vec<Value>,
    router: Option<Value>,
    keys: Map<String, Value>,
    top: Map<String, Value>,
}

impl Hub {
    /// A connector without anything.
    pub fn new(name: &str) -> Self {
        let (upstreams, guests, policies) = (Vec::new(), Vec::new(), Vec::new());
        let (keys, top) = (Map::new(), Map::new());
        Self { name: name.to_owned(), upstreams, guests, policies, router: None, keys, top }
    }

    /// A connector before the server at this URL, which is called `clock`.
    pub fn before(url: &str) -> Self {
        Self::new("hub").upstream("clock", url)
    }

    /// With one more upstream.
    #[must_use]
    pub fn upstream(mut self, name: &str, url: &str) -> Self {
        self.upstreams.push(json!({"name": name, "url": url}));
        self
    }

    /// With one more upstream, with these keys of its own.
    #[must_use]
    pub fn upstream_with(mut self, name: &str, url: &str, keys: Value) -> Self {
        let mut upstream = json!({"name": name, "url": url});
        if let (Some(upstream), Value::Object(keys)) = (upstream.as_object_mut(), keys) {
            upstream.extend(keys);
        }
        self.upstreams.push(upstream);
        self
    }

    /// Under another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// With one more policy, behind the others.
    #[must_use]
    pub fn policy(mut self, guest: Guest) -> Self {
        self.policies.push(json!(guest.name));
        self.guests.push(guest);
        self
    }

    /// With one more policy, a bundled plugin with this configuration, behind the others.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "it is written in place")]
    pub fn bundled(mut self, plugin: &str, config: Value) -> Self {
        self.policies.push(json!({"use": plugin, "config": config}));
        self
    }

    /// With this router instead of the bundled one.
    #[must_use]
    pub fn router(mut self, guest: Guest) -> Self {
        self.router = Some(json!(guest.name));
        self.guests.push(guest);
        self
    }

    /// With this configuration of the bundled router.
    #[must_use]
    pub fn router_config(mut self, config: &Value) -> Self {
        self.router = Some(json!({"use": "router", "config": config}));
        self
    }

    /// With one more key of the connector.
    #[must_use]
    pub fn key(mut self, key: &str, value: Value) -> Self {
        self.keys.insert(key.to_owned(), value);
        self
    }

    /// With one more key at the top of the configuration.
    #[must_use]
    pub fn top(mut self, key: &str, value: Value) -> Self {
        self.top.insert(key.to_owned(), value);
        self
    }

    /// The start of a plugway with this connector alone.
    pub fn setup(&self) -> Result<Setup> {
        setup(std::slice::from_ref(self))
    }

    /// The configuration with this connector alone, for a plugway that runs already and has its guests.
    pub fn configuration(&self) -> String {
        configuration(std::slice::from_ref(self))
    }

    /// Starts a plugway with this connector alone.
    pub async fn start(&self) -> Result<Plugway> {
        self.setup()?.start().await
    }

    fn connector(&self, path: &str) -> Value {
        let mut connector = json!({
            "name": self.name, "path": path, "upstreams": self.upstreams, "policies": self.policies,
        });
        if let Some(connector) = connector.as_object_mut() {
            connector.extend(self.keys.clone());
            connector.extend(self.router.clone().map(|router| ("router".to_owned(), router)));
        }
        connector
    }
}

/// The start of a plugway with these connectors: one owns `/mcp`, several have `/NAME/mcp`.
pub fn setup(hubs: &[Hub]) -> Result<Setup> {
    let mut setup = Setup::new(configuration(hubs));
    for guest in hubs.iter().flat_map(|hub| &hub.guests) {
        setup = setup.file(&guest.file(), guest.bytes()?);
    }
    Ok(setup)
}

fn configuration(hubs: &[Hub]) -> String {
    let connectors: Vec<Value> = match hubs {
        [only] => vec![only.connector("/")],
        many => many.iter().map(|hub| hub.connector(&format!("/{}", hub.name))).collect(),
    };
    let mut plugins = Map::new();
    for guest in hubs.iter().flat_map(|hub| &hub.guests) {
        let mut entry = guest.entry.clone();
        entry.entry("file").or_insert_with(|| json!(guest.file()));
        plugins.insert(guest.name.clone(), entry.into());
    }
    // JSON is YAML.
    let mut configuration = json!({"plugins": plugins, "connectors": connectors});
    if let Some(top) = configuration.as_object_mut() {
        top.extend(hubs.iter().flat_map(|hub| hub.top.clone()));
    }
    configuration.to_string()
}
