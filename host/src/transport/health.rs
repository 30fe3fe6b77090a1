//! `GET /health` (alive) and `GET /ready` (can serve).

use std::time::Instant;

use serde_json::{Map, Value, json};

use super::plain;
use super::reply::Reply;
use super::site::Site;
use crate::pipeline::Connector;
use crate::pipeline::status;

/// 200 while the process lives. The members are those that monitors of the reference read.
pub fn health(site: &Site) -> Reply {
    let connectors: Vec<_> = site.connectors().collect();
    let body = match connectors.as_slice() {
        [only] => describe(only, "healthy"),
        many => {
            let all: Map<String, Value> = many
                .iter()
                .map(|connector| (connector.name.to_string(), upstreams(connector)))
                .collect();
            let details: Map<String, Value> = many
                .iter()
                .map(|connector| (connector.name.to_string(), details(connector)))
                .collect();
            json!({
                "status": "healthy", "server": "plugway", "type": "router", "upstreams": {},
                "connectors": all, "upstream_details": details,
            })
        }
    };
    plain::health(true, body.to_string())
}

/// 200 when every connector can serve calls, else 503.
pub async fn ready(site: &Site) -> Reply {
    let mut all = Map::new();
    let mut good = true;
    for connector in site.connectors() {
        let mut problems = Vec::new();
        problems.extend(connector.unserved().map(str::to_owned));
        let mut plugins = Map::new();
        for (name, state) in connector.plugins_ready().await {
            let (word, said) = match state {
                Ok(said) => ("ready", said),
                Err(said) => {
                    problems.push(format!("the plugin {name} is not ready: {said}"));
                    ("not ready", said)
                }
            };
            plugins.insert(name, json!({ "state": word, "says": said }));
        }
        good &= problems.is_empty();
        let state = json!({
            "ready": problems.is_empty(), "problems": problems,
            "upstreams": upstreams(connector), "upstream_details": details(connector),
            "plugins": plugins,
        });
        all.insert(connector.name.to_string(), state);
    }
    let mut degraded = (site.degraded)();
    degraded.extend(
        site.connectors()
            .filter_map(|connector| Some(format!("{}: {}", connector.name, connector.trouble()?))),
    );
    degraded.extend(site.connectors().flat_map(|connector| {
        let problems = connector.problems();
        let said = problems.iter().map(|problem| format!("{}: {problem}", connector.name));
        said.collect::<Vec<_>>()
    }));
    let body = json!({ "ready": good, "degraded": degraded, "connectors": all });
    plain::health(good, body.to_string())
}

fn describe(connector: &Connector, status: &str) -> Value {
    json!({
        "status": status, "server": &*connector.name, "type": "router",
        "upstreams": upstreams(connector), "upstream_details": details(connector),
    })
}

/// Of each upstream: state, since when, failed attempts, next attempt, and whether clients see its entries.
fn details(connector: &Connector) -> Value {
    let now = Instant::now();
    let details = connector.upstreams.iter();
    let details = details
        .map(|served| (served.upstream.name().to_string(), status::details(served, now).into()));
    Value::Object(details.collect())
}

fn upstreams(connector: &Connector) -> Value {
    let phases: Map<String, Value> =
        connector.phases().map(|(name, phase)| (name.to_string(), phase.as_str().into())).collect();
    Value::Object(phases)
}
