//! The tools that the router answers itself, over a connector like that of the reference's captured runs.

use plugway_sdk::prelude::*;
use plugway_sdk::testing::{Host, plugin};
use serde_json::{Value, json};

use super::{connector, list, shown, upstream};
use crate::component::DefaultRouter;
use crate::config::{Bridge, Options, Unified};
use crate::shape::shape;
use crate::unified::prepared::Prepared;
use crate::unified::wire;
use crate::warning::Warning;

mod functions;
mod gather;
mod greedy;
mod plan;
mod published;
mod ranking;
mod search;
mod skills;

fn bridge(from: &str, to: &str) -> Bridge {
    let description = "Pass descriptors to map".to_owned();
    Bridge { from_state: from.to_owned(), to_state: to.to_owned(), description }
}

fn on(bridges: Vec<Bridge>) -> Options {
    Options { unified_tools: Unified::All, bridges }
}

fn function(name: &str, description: &str, requires: &[&str], produces: &[&str]) -> Value {
    json!({
        "name": name, "description": description,
        "required_parameters": [{"name": "x", "type": "rdkit.Chem.Mol", "description": "The x.", "default": null}],
        "optional_parameters": [{"name": "deep", "type": "builtins.bool", "description": null, "default": false}],
        "return_spec": [], "module": "m", "server_name": null,
        "state_transition": {"requires": requires, "produces": produces},
        "affordances": if name == "parse_molecule" { json!(["validate a SMILES string"]) } else { json!([]) },
        "id": 0,
    })
}

/// A code-execution server with this catalogue.
fn executing(name: &str, tools: &[Value], skills: &[Value]) -> UpstreamView {
    let run = format!("execute_{name}_code");
    let load = format!("load_{name}_skill");
    let mut made = upstream(name, &[&run, &load]);
    let catalogue = json!({"server_name": name, "tools": tools, "skills": skills, "execution": {}});
    made.documents = vec![("catalog".to_owned(), catalogue.to_string())];
    made
}

fn screening(domain: &str) -> Value {
    json!({
        "name": "drug-screening", "description": "Screen molecules by descriptors",
        "domain": domain, "states": ["chem.molecule_parsed"],
    })
}

fn chem() -> UpstreamView {
    let parse = function(
        "parse_molecule",
        "Parse and validate a SMILES string into a molecule",
        &[],
        &["chem.molecule_parsed"],
    );
    let compute = function(
        "compute_descriptors",
        "Compute molecular descriptors such as weight",
        &["chem.molecule_parsed"],
        &["chem.descriptors_computed"],
    );
    executing("chem", &[parse, compute], &[screening("chem")])
}

fn gis() -> UpstreamView {
    let map = function(
        "map_points",
        "Render points on a map",
        &["gis.points_loaded"],
        &["gis.map_rendered"],
    );
    executing("gis", &[map], &[])
}

/// What the router says is wrong with its configuration, and whether it waits for servers to say so.
fn problems(view: ConnectorView, options: &Options) -> (Vec<String>, bool) {
    let (shaped, _) = shape(view, options).unwrap();
    (shaped.problems, shaped.pending)
}

fn prepared(view: ConnectorView, options: &Options) -> (Prepared, Vec<Warning>) {
    let (shaped, warnings) = shape(view, options).unwrap();
    (wire::read(&shaped.document).unwrap(), warnings)
}

/// A router with its connector behind a host, some of whose entries are hidden from the caller.
struct Served {
    router: DefaultRouter,
    host: Host,
}

impl Served {
    fn of(config: &Value, upstreams: Vec<UpstreamView>, hidden: &[&str]) -> Self {
        let router: DefaultRouter = plugin(&config.to_string()).unwrap();
        let host = Host::new();
        let served = Self { router, host };
        served.again(upstreams, hidden);
        served
    }

    /// Shapes and lists as the host does. A fake host's entries are only ever added to: once for each `Served`.
    fn again(&self, upstreams: Vec<UpstreamView>, hidden: &[&str]) {
        let up: Vec<String> =
            upstreams.iter().filter(|one| one.up).map(|one| one.name.clone()).collect();
        let shaped = self.host.run(|| self.router.shape(connector(upstreams))).unwrap();
        self.host.document(&shaped.document);
        list(&self.host, &shaped.entries, &up, hidden);
    }

    fn reply(&self, tool: &str, arguments: Value) -> Reply {
        self.host.call("tools/call", tool).attribute("connector", "hub").arguments(arguments);
        self.host.run(|| self.router.answer()).unwrap()
    }

    /// The JSON in the text of the answer.
    fn ask(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.reply(tool, arguments);
        let Reply::Answer(result) = reply else { panic!("refused: {reply:?}") };
        let result: Value = serde_json::from_str(&result).unwrap();
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    fn refusal(&self, tool: &str, arguments: Value) -> String {
        match self.reply(tool, arguments) {
            Reply::Reject(rejection) => rejection.message,
            Reply::Answer(answer) => panic!("answered: {answer}"),
        }
    }
}

fn hub() -> Served {
    let bridges = json!([{
        "from_state": "chem.descriptors_computed", "to_state": "gis.points_loaded",
        "description": "Pass descriptors to map",
    }]);
    Served::of(&json!({"unified_tools": true, "bridges": bridges}), vec![chem(), gis()], &[])
}

/// The catalogue that other connectors read, as a caller sees it from whom nothing is hidden but what is hidden of `served`.
fn published(served: &Served) -> Value {
    let uri = "plugway://hub/catalog";
    served.host.call("resources/read", uri).attribute("connector", "hub");
    let reply = served.host.run(|| served.router.answer()).unwrap();
    let Reply::Answer(result) = reply else { panic!("refused: {reply:?}") };
    let result: Value = serde_json::from_str(&result).unwrap();
    assert_eq!(result["contents"][0]["mimeType"], "application/json");
    serde_json::from_str(result["contents"][0]["text"].as_str().unwrap()).unwrap()
}
