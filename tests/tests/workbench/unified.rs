//! Search, plan, skills and bridges of the connector itself, and catalogues above catalogues.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway, http,
    plugway::Setup,
    workbench::{CodeServer, Domain, Door, Driven, Mode, Speaks, Workbench, text_of},
};
use serde_json::{Value, json};

/// What is asked, and whether the reference's own router answers it right.
fn asks() -> Vec<(&'static str, Value)> {
    let plan = |mode: &str, more: Value| {
        let mut arguments = json!({"mode": mode});
        if let (Some(arguments), Value::Object(more)) = (arguments.as_object_mut(), more) {
            arguments.extend(more);
        }
        ("plan_hub_workflow", arguments)
    };
    let way = |from: &str, to: &str| json!({"current_state": from, "target_state": to});
    vec![
        ("search_hub_tools", json!({"query": "molecule descriptors"})),
        ("search_hub_tools", json!({"query": "points on a map", "top": 1})),
        ("search_hub_tools", json!({"query": "screen survey", "category": "skills"})),
        ("search_hub_tools", json!({"query": "", "category": "tools", "top": 3})),
        ("search_hub_tools", json!({"query": "x", "category": "bad"})),
        plan("overview", json!({})),
        plan("overview", json!({"domain": "gis"})),
        plan("overview", json!({"domain": "mars"})),
        plan("next_steps", json!({"current_state": "chem.molecule_parsed"})),
        plan("next_steps", json!({"current_state": "gis.map_rendered"})),
        plan("next_steps", json!({})),
        // Over the bridge.
        plan("path", way("chem.molecule_parsed", "gis.map_rendered")),
        plan("path", way("chem.molecule_parsed", "chem.molecule_parsed")),
        plan("path", way("gis.map_rendered", "chem.molecule_parsed")),
        plan("path", json!({})),
        plan("tool", json!({"tool_name": "map_points"})),
        plan("tool", json!({"tool_name": "zz"})),
        plan("zz", json!({})),
        ("load_hub_skill", json!({"skill_name": "drug-screening"})),
        ("load_hub_skill", json!({"skill_name": "survey-map", "upstream": "gis"})),
        ("load_hub_skill", json!({"skill_name": "zz"})),
        ("load_hub_skill", json!({"skill_name": "survey-map", "upstream": "mars"})),
    ]
}

fn config(chem: &CodeServer, gis: &CodeServer, from: &str) -> Value {
    json!({
        "name": "hub",
        "upstreams": [
            {"name": "chem", "url": chem.base()},
            {"name": "gis", "url": gis.base()},
        ],
        "bridges": [{
            "from_state": from, "to_state": "gis.points_loaded", "description": "Draw them",
        }],
    })
}

/// The text as JSON where it is JSON. A hit of the reference's router does not say how to call it, or whether that can
/// be done; here it does (docs/compatibility.md).
fn said(result: &Value) -> Result<Value> {
    let text = text_of(result)?;
    let Ok(mut said) = serde_json::from_str::<Value>(text) else { return Ok(json!(text)) };
    for kind in ["tools", "skills"] {
        for hit in said.get_mut(kind).and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(hit) = hit.as_object_mut() else { continue };
            for more in ["to_access", "available", "parameters", "title", "server_name"] {
                hit.remove(more);
            }
        }
    }
    Ok(said)
}

async fn names_of_the_connector(client: &mut Driven) -> Result<Vec<String>> {
    let mut names = client.tool_names().await?;
    names.retain(|name| name.contains("_hub_"));
    names.sort();
    Ok(names)
}

#[tokio::test]
async fn peer_workbench_router_searches_plans_and_loads_the_same() -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, gis) = workbench.pair().await?;
    let config = config(&chem, &gis, "chem.descriptors_computed");
    let theirs = workbench.router(&config).await?;
    let plugway = Setup::new(workbench.printed(&config).await?).start().await?;
    let mut theirs = workbench.client(Speaks::LEGACY, &theirs.url(), None).await?;
    let wanted = names_of_the_connector(&mut theirs).await?;
    ensure!(wanted == ["load_hub_skill", "plan_hub_workflow", "search_hub_tools"], "{wanted:?}");
    for speaks in [Speaks::LEGACY, Speaks::MODERN] {
        let mut ours = workbench.client(speaks, &plugway.mcp_url(), None).await?;
        let names = names_of_the_connector(&mut ours).await?;
        ensure!(wanted.iter().all(|name| names.contains(name)), "{names:?}");
        for (tool, arguments) in asks() {
            let left = said(&theirs.call(tool, arguments.clone()).await?)?;
            let right = said(&ours.call(tool, arguments.clone()).await?)?;
            ensure!(left == right, "{speaks:?}: {tool} {arguments}\n{left}\nand\n{right}");
        }
        // How to call what was found.
        let found = ours.json("search_hub_tools", json!({"query": "screen molecule"})).await?;
        let how = found.pointer("/tools/0/to_access");
        ensure!(how == Some(&json!("Call via execute_chem_code")), "{found}");
        let how = found.pointer("/skills/0/to_access");
        let load = r#"Load with load_hub_skill(skill_name="drug-screening")"#;
        ensure!(how == Some(&json!(load)), "{found}");
    }
    Ok(())
}

#[tokio::test]
async fn peer_workbench_bridge_that_cannot_be_keeps_both_from_starting() -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, gis) = workbench.pair().await?;
    let bad = config(&chem, &gis, "chem.nope");
    let sentence = "Invalid bridge edge in 'hub' config: from_state 'chem.nope' not found in any \
                    upstream's state_produces";
    let theirs = workbench.router_to_its_end(&bad).await?;
    ensure!(!theirs.status.success(), "{theirs:?}");
    let said = String::from_utf8(theirs.stderr)?;
    ensure!(said.contains(sentence), "{said}");
    let ours = Setup::new(workbench.printed(&bad).await?).serve_to_its_end().await?;
    ensure!(!ours.status.success(), "{ours:?}");
    ensure!(ours.stderr.contains(sentence), "{}", ours.stderr);
    Ok(())
}

/// What a connector publishes, without the words that only plugway has.
async fn published(plugway: &Plugway) -> Result<Value> {
    let answer = http::get(plugway.address(), "/catalog").await?;
    ensure!(answer.status == 200, "{} {}", answer.status, answer.text());
    answer.json()
}

#[tokio::test]
async fn peer_workbench_functions_are_found_through_two_connectors() -> Result<()> {
    let workbench = Workbench::find()?;
    let chem = workbench.server(Domain::Chem, Mode::Sync, Door::Open).await?;
    let config = json!({"name": "child", "upstreams": [{"name": "chem", "url": chem.base()}]});
    let child = Setup::new(workbench.printed(&config).await?).start().await?;
    // The reference's own connector finds the functions there, too.
    let config = json!({"name": "hub", "upstreams": [{"name": "child", "url": child.base_url()}]});
    let theirs = workbench.router(&config).await?;
    let parent = Setup::new(workbench.printed(&config).await?).start().await?;
    let own = http::get(chem.address(), "/catalog").await?.json()?;
    for plugway in [&child, &parent] {
        let catalogue = published(plugway).await?;
        for kind in ["tools", "skills"] {
            let names = |catalogue: &Value| -> Result<Vec<Value>> {
                let items = catalogue.get(kind).and_then(Value::as_array).context("no list")?;
                Ok(items.iter().filter_map(|item| item.get("name").cloned()).collect())
            };
            ensure!(names(&own)? == names(&catalogue)?, "{kind}: {catalogue}");
        }
    }
    for url in [theirs.url(), parent.mcp_url()] {
        let mut client = workbench.client(Speaks::LEGACY, &url, None).await?;
        let query = json!({"query": "molecular descriptors", "category": "tools"});
        let found = client.json("search_hub_tools", query).await?;
        let first = found.pointer("/tools/0/name");
        ensure!(first == Some(&json!("compute_descriptors")), "{url}: {found}");
        let step = json!({"mode": "next_steps", "current_state": "chem.molecule_parsed"});
        let plan = client.json("plan_hub_workflow", step).await?;
        let next = plan.pointer("/next_states/0");
        ensure!(next == Some(&json!("chem.descriptors_computed")), "{url}: {plan}");
    }
    // What a parent says of calling it is so.
    let mut client = workbench.client(Speaks::LEGACY, &parent.mcp_url(), None).await?;
    let found = client.json("search_hub_tools", json!({"query": "compute_descriptors"})).await?;
    let how = found.pointer("/tools/0/to_access").and_then(Value::as_str).context("no way")?;
    let tool = how.strip_prefix("Call via ").with_context(|| how.to_owned())?;
    let code = json!({"code": "print(compute_descriptors(atoms=2))"});
    let said = client.json(tool, code).await?;
    ensure!(said.get("stdout").is_some_and(|out| out == "{'weight': 24}\n"), "{said}");
    Ok(())
}
