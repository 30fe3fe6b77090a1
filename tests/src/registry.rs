//! Servers that register themselves at `/registry/v1/servers`.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::{
    Plugway, http as web,
    plugway::Setup,
    tokens::{auth, identified},
    wait,
};

/// A token of the client `lab`, which may register servers.
pub const LAB: &str = "lab-0123456789abcdef";
/// A token of the client `rival`, which may, too.
pub const RIVAL: &str = "rival-0123456789abcdef";

const PATH: &str = "/registry/v1/servers";
const BOUND: Duration = Duration::from_secs(30);

/// A lone connector `hub` with callers and a registry for servers of this machine, and these keys besides.
pub fn hub(upstreams: &Value, more: &Value) -> Value {
    let registry = json!({"names": ["w*"], "hosts": ["127.0.0.1"]});
    let mut hub = json!({
        "name": "hub", "auth": auth(), "registry": registry, "upstreams": upstreams,
    });
    if let (Some(hub), Some(more)) = (hub.as_object_mut(), more.as_object()) {
        hub.extend(more.clone());
    }
    hub
}

/// The start of such a plugway.
pub fn setup(configuration: &Value) -> Setup {
    let scopes = ["plugway:registry"];
    let more = json!({
        (LAB): {"client_id": "lab", "scopes": scopes},
        (RIVAL): {"client_id": "rival", "scopes": scopes},
    });
    identified(Setup::new(configuration.to_string()), &more)
}

/// Who registers servers, and where.
#[derive(Debug, Clone)]
pub struct Registry {
    address: SocketAddr,
    token: Option<String>,
}

impl Registry {
    /// The registry of a lone connector, with this token.
    pub fn of(plugway: &Plugway, token: &str) -> Self {
        Self { address: plugway.address(), token: Some(token.to_owned()) }
    }

    /// The same without a token.
    pub fn unknown(plugway: &Plugway) -> Self {
        Self { address: plugway.address(), token: None }
    }

    /// Any request; `item` is what stands behind the path.
    pub async fn ask(
        &self,
        method: Method,
        item: &str,
        body: impl Into<Bytes>,
    ) -> Result<web::Answer> {
        let request = Request::builder().method(method).uri(format!("{PATH}{item}"));
        let mut request = request.header("host", self.address.to_string());
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        web::send(self.address, request.body(Full::from(body.into()))?).await
    }

    /// Registers a server for the shortest time, or renews its lease, whatever becomes of it.
    pub async fn register(&self, name: &str, url: &str) -> Result<web::Answer> {
        let body = json!({"name": name, "url": url, "ttl": 60}).to_string();
        self.ask(Method::POST, "", body).await
    }

    /// Registers a server, which must succeed.
    pub async fn registered(&self, name: &str, url: &str) -> Result<Value> {
        let answer = self.register(name, url).await?;
        anyhow::ensure!([200, 201].contains(&answer.status), "{}", answer.text());
        answer.json()
    }

    /// Ends a lease, whatever becomes of it.
    pub async fn remove(&self, name: &str) -> Result<web::Answer> {
        self.ask(Method::DELETE, &format!("/{name}"), "").await
    }

    /// The lease of that name.
    pub async fn lease(&self, name: &str) -> Result<Value> {
        let answer = self.ask(Method::GET, &format!("/{name}"), "").await?;
        anyhow::ensure!(answer.status == 200, "{}", answer.text());
        answer.json()
    }

    /// Waits until a lease is in this state.
    pub async fn until(&self, name: &str, state: &str) -> Result<Value> {
        let what = format!("the lease {name} is {state}");
        wait::until(&what, BOUND, async || {
            let lease = self.lease(name).await?;
            Ok((lease.get("state").and_then(Value::as_str) == Some(state)).then_some(lease))
        })
        .await
        .with_context(|| format!("{self:?}"))
    }
}

/// The lines of the audit about leases: who, what, of which, how it ended.
pub fn audited(plugway: &Plugway) -> Vec<String> {
    let lines = plugway.stderr();
    let lines = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let word =
        |line: &Value, key: &str| line.get(key).and_then(Value::as_str).unwrap_or("?").to_owned();
    lines
        .filter(|line| {
            word(line, "target") == "audit" && word(line, "action").starts_with("lease-")
        })
        .map(|line| ["who", "action", "object", "result"].map(|key| word(&line, key)).join(" "))
        .collect()
}
