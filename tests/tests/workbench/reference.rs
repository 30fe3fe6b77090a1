//! The same tours through the reference's own `RouterServer`, and through plugway in its place.

use anyhow::{Result, ensure};
use plugway_tests::{
    plugway::Setup,
    workbench::{Domain, Speaks, Workbench, text_of},
};
use serde_json::{Value, json};

use crate::{
    alike::alike,
    tour::{Step, tour},
};

/// Steps that its answer leaves out, and why; docs/compatibility.md says so too.
const OTHERWISE: [(&str, &str); 7] = [
    ("no session to tell of", "it has no `get_session_info`"),
    ("the session", "it has no `get_session_info`"),
    ("a search", "it has no search of one server"),
    ("everything", "it has no search of one server"),
    ("nothing found", "it has no search of one server"),
    ("no argument", "it judges arguments itself, by its own schema"),
    ("unknown argument", "it judges arguments itself, by its own schema"),
];

/// The texts alone: a `RouterServer` passes nothing else on.
fn texts(steps: Vec<Step>) -> Result<Vec<Step>> {
    let is_compared = |(step, _): &Step| OTHERWISE.iter().all(|(other, _)| other != step);
    let text = |(step, answer): Step| match answer.get("content") {
        Some(_) => Ok((step, Value::from(text_of(&answer)?))),
        None => Ok((step, answer)),
    };
    steps.into_iter().filter(is_compared).map(text).collect()
}

#[tokio::test]
async fn peer_workbench_router_says_the_same() -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, gis) = workbench.pair().await?;
    let config = json!({
        "name": "hub",
        "upstreams": [
            {"name": "chem", "url": chem.base()},
            {"name": "gis", "url": gis.base()},
        ],
    });
    let theirs = workbench.router(&config).await?;
    let plugway = Setup::new(workbench.printed(&config).await?).start().await?;
    let mut theirs = workbench.client(Speaks::LEGACY, &theirs.url(), None).await?;
    let mut ours = workbench.client(Speaks::LEGACY, &plugway.mcp_url(), None).await?;
    let (their_names, our_names) = (theirs.tool_names().await?, ours.tool_names().await?);
    ensure!(their_names.len() == 25, "{their_names:?}");
    // Those of the connector itself are another test's.
    let of_servers = their_names.iter().filter(|name| !name.contains("_hub_"));
    for name in of_servers {
        ensure!(our_names.contains(name), "no {name} in {our_names:?}");
    }
    for domain in [Domain::Chem, Domain::Gis] {
        let left = tour(&mut theirs, domain, domain.name()).await?;
        let right = tour(&mut ours, domain, domain.name()).await?;
        alike(&format!("{domain:?}"), &texts(left)?, &texts(right)?)?;
    }
    Ok(())
}
