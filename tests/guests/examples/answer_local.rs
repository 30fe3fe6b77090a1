//! A router with a tool of its own, `report`, that reads its document and the caller's catalogue.

#![cfg(target_family = "wasm")]

use plugway_sdk::prelude::*;
use serde_json::json;

/// Keeps the servers' names and adds one tool.
struct Guest;

impl Plugin for Guest {
    type Config = NoConfig;

    fn configure(_config: NoConfig) -> Result<Self, BadConfig> {
        Ok(Self)
    }
}

const REPORT: &str =
    r#"{"name":"report","description":"What you may see.","inputSchema":{"type":"object"}}"#;

impl Router for Guest {
    fn shape(&self, connector: ConnectorView) -> Result<Shaped, Failure> {
        let document = format!("{} with {} upstreams", connector.name, connector.upstreams.len());
        let mut entries = vec![Entry::local_tool(REPORT)];
        for UpstreamView { name, tools, .. } in connector.upstreams {
            for definition in tools {
                let own = name_of(&definition)?;
                entries.push(Entry::tool(definition, name.as_str(), own));
            }
        }
        Ok(Shaped { entries, document, ..Shaped::default() })
    }
}

impl Answering for Guest {
    fn answer(&self) -> Result<Reply, Failure> {
        if call::argument("/refuse")? == Some(true) {
            return Ok(Reply::Reject(Rejection::new("No report was wanted.")));
        }
        let names: Result<Vec<_>, _> = catalogue::entries().map(|entry| name_of(&entry)).collect();
        let report = json!({
            "tool": call::name(),
            "caller": caller::display(),
            "document": catalogue::document(),
            "generation": catalogue::generation(),
            "count": catalogue::count(),
            "names": names?,
            "place_of_report": catalogue::find("tool", "report"),
            "place_of_nothing": catalogue::find("tool", "nothing"),
        });
        plugway_sdk::answer::structured(&report).map(Reply::Answer)
    }
}

/// The name in a tool's definition.
fn name_of(definition: &str) -> Result<String, Failure> {
    #[derive(serde::Deserialize)]
    struct Named {
        name: String,
    }
    Ok(serde_json::from_str::<Named>(definition)?.name)
}

plugway_sdk::export!(Guest: router, answering);
