//! Plugway before the reference's own `RouterServer`.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    plugway::Setup,
    tokens::{ANN, BOB, auth_yaml, identified},
    workbench::{Domain, Door, Driven, Mode, Speaks, Workbench, text_of},
};
use serde_json::{Value, json};

/// What is found can be called as it is said.
async fn found_and_called(client: &mut Driven) -> Result<()> {
    let query = json!({"query": "molecular descriptors", "category": "tools"});
    let found = client.json("search_hub_tools", query).await?;
    let first = found.pointer("/tools/0").with_context(|| format!("{found}"))?;
    ensure!(first.get("name").is_some_and(|name| name == "compute_descriptors"), "{found}");
    let how = first.get("to_access").and_then(Value::as_str).context("no way")?;
    let tool = how.strip_prefix("Call via ").with_context(|| how.to_owned())?;
    ensure!(tool == "below_execute_chem_code", "{tool}");
    let step = json!({"mode": "next_steps", "current_state": "chem.molecule_parsed"});
    let plan = client.json("plan_hub_workflow", step).await?;
    let next = plan.pointer("/next_states/0");
    ensure!(next == Some(&json!("chem.descriptors_computed")), "{plan}");
    let code = json!({"code": "print(compute_descriptors(atoms=2))"});
    let said = client.json(tool, code).await?;
    ensure!(said.get("stdout").is_some_and(|out| out == "{'weight': 24}\n"), "{said}");
    Ok(())
}

/// The text about an id, with another word for the id.
async fn about(client: &mut Driven, tool: &str, key: &str, id: &str) -> Result<String> {
    let result = client.call(tool, json!({key: id})).await?;
    Ok(text_of(&result)?.replace(id, "<id>"))
}

async fn listed(client: &mut Driven) -> Result<Vec<Value>> {
    let list = client.json("below_chem_list_sessions", json!({})).await?;
    let sessions = list.get("sessions").and_then(Value::as_array).context("no list")?;
    ensure!(list.get("count") == Some(&json!(sessions.len())), "{list}");
    Ok(sessions.iter().filter_map(|one| one.get("session_id").cloned()).collect())
}

fn member<'a>(said: &'a Value, place: &str) -> Result<&'a str> {
    let member = said.pointer(place).and_then(Value::as_str);
    member.with_context(|| format!("no {place} in {said}"))
}

#[tokio::test]
async fn peer_workbench_callers_behind_its_router_have_their_own() -> Result<()> {
    let workbench = Workbench::find()?;
    let chem = workbench.server(Domain::Chem, Mode::Sync, Door::Open).await?;
    let config = json!({"name": "child", "upstreams": [{"name": "chem", "url": chem.base()}]});
    let router = workbench.router(&config).await?;
    let text = format!(
        "name: hub\n{}router: {{use: router, config: {{unified_tools: true}}}}\nupstreams: [{{name: below, url: '{}'}}]\n",
        auth_yaml(),
        router.url()
    );
    let plugway = identified(Setup::new(text), &json!({})).start().await?;
    for speaks in [Speaks::LEGACY, Speaks::MODERN] {
        let mut ann = workbench.client(speaks, &plugway.mcp_url(), Some(ANN)).await?;
        let mut bob = workbench.client(speaks, &plugway.mcp_url(), Some(BOB)).await?;
        found_and_called(&mut ann).await?;
        let slow = json!({"code": "import time\ntime.sleep(90)", "inputs": [{"n": 1}]});
        let batch = ann.json("below_chem_parallel_execute", slow).await?;
        let session = member(&batch, "/jobs/0/session_id")?;
        ensure!(listed(&mut ann).await?.contains(&json!(session)), "{batch}");
        ensure!(listed(&mut bob).await?.is_empty(), "somebody else's sessions are listed");
        for (tool, key, id, nobodys) in [
            ("below_chem_inspect_session", "session_id", session, "0-0"),
            ("below_chem_check_batch", "batch_id", member(&batch, "/batch_id")?, "b_0"),
            ("below_chem_cancel_batch", "batch_id", member(&batch, "/batch_id")?, "b_0"),
            ("below_chem_close_session", "session_id", session, "0-0"),
        ] {
            let theirs = about(&mut bob, tool, key, id).await?;
            let none = about(&mut bob, tool, key, nobodys).await?;
            ensure!(theirs == none, "{tool}: {theirs}\nand of nobody's\n{none}");
        }
        // Nothing happened to any of it.
        let info = about(&mut ann, "below_chem_inspect_session", "session_id", session).await?;
        ensure!(info.contains("namespace"), "{info}");
        let batch = json!({"batch_id": member(&batch, "/batch_id")?});
        let running = ann.json("below_chem_check_batch", batch.clone()).await?;
        ensure!(running.get("running").is_some_and(|count| count == 1), "{running}");
        let cancelled = ann.json("below_chem_cancel_batch", batch).await?;
        ensure!(cancelled.get("batch_id").is_some(), "{cancelled}");
    }
    Ok(())
}
