//! The forms of agora-workbench before its own servers.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use plugway_tests::{
    plugway::Setup,
    workbench::{Speaks, Workbench, text_of},
};
use serde_json::{Value, json};

/// All calls of a test must be over before the first leaves its window.
const MINUTE: Duration = Duration::from_mins(1);

#[tokio::test]
async fn peer_workbench_forms_are_served_before_its_servers() -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, gis) = workbench.pair().await?;
    let config = json!({
        "name": "hub",
        "description": "Chemistry and maps",
        "upstreams": [
            {"name": "chem", "url": chem.base(), "expose_tools": ["parse_*"]},
            {"name": "gis", "url": gis.base(), "tool_aliases": {"map_points": "draw"}},
        ],
    });
    let yaml = format!(
        "name: hub\ndescription: Chemistry and maps\nupstreams:\n- {{name: chem, url: '{}', expose_tools: [parse_*]}}\n- {{name: gis, url: '{}/', tool_aliases: {{map_points: draw}}, stale_for: 10s}}\n",
        chem.base(),
        gis.base()
    );
    for form in [workbench.printed(&config).await?, yaml] {
        let plugway = Setup::new(form).start().await?;
        for speaks in [Speaks::LEGACY, Speaks::MODERN] {
            let mut client = workbench.client(speaks, &plugway.mcp_url(), None).await?;
            let about = client.about().await?;
            ensure!(about.to_string().contains("Chemistry and maps"), "{about}");
            let names = client.tool_names().await?;
            // Globs and aliases are of functions: the servers' own tools stay as they are.
            for server in ["chem", "gis"] {
                let own = names.iter().filter(|name| name.split('_').any(|word| word == server));
                ensure!(own.count() == 13, "{server}: {names:?}");
            }
            for (tool, code, printed) in [
                ("execute_chem_code", "print(parse_molecule(smiles='CO'))", "{'atoms': 2}"),
                ("execute_gis_code", "print(map_points(points=[1, 2]))", "{'map': '2 points'}"),
            ] {
                let result = client.call(tool, json!({"code": code})).await?;
                ensure!(text_of(&result)?.contains(printed), "{tool}: {result}");
            }
        }
        ensure!(plugway.stop().await?.success());
    }
    Ok(())
}

#[tokio::test]
async fn peer_workbench_gateways_are_served_before_its_servers() -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, _gis) = workbench.pair().await?;
    let config = json!({
        "name": "gate", "description": "Chemistry", "upstream": {"name": "lab", "url": chem.base()},
    });
    let plugway = Setup::new(workbench.printed_gateway(&config).await?).start().await?;
    for speaks in [Speaks::LEGACY, Speaks::MODERN] {
        let mut client = workbench.client(speaks, &plugway.mcp_url(), None).await?;
        let about = client.about().await?;
        ensure!(about.to_string().contains("Chemistry"), "{about}");
        let names = client.tool_names().await?;
        for name in ["execute_lab_code", "search_gate_tools", "lab_check_job"] {
            ensure!(names.iter().any(|known| known == name), "no {name} in {names:?}");
        }
        for name in ["plan_gate_workflow", "load_gate_skill"] {
            ensure!(names.iter().all(|known| known != name), "{name} in {names:?}");
        }
        let code = "print(parse_molecule(smiles='CO'))";
        let result = client.call("execute_lab_code", json!({"code": code})).await?;
        ensure!(text_of(&result)?.contains("{'atoms': 2}"), "{result}");
        let found = client.call("search_gate_tools", json!({"query": "molecule"})).await?;
        ensure!(text_of(&found)?.contains("parse_molecule"), "{found}");
    }
    ensure!(plugway.stop().await?.success());
    Ok(())
}

/// The policy of the reference's own example, as written: sixty calls within a minute, and no `parallel_execute`.
#[tokio::test]
async fn peer_workbench_policies_of_gateways_hold() -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, _gis) = workbench.pair().await?;
    let config = json!({
        "name": "gate", "upstream": {"name": "chem", "url": chem.base()},
        "policy": {"max_calls_per_minute": 60, "blocked_tools": ["parallel_execute"]},
    });
    let plugway = Setup::new(workbench.printed_gateway(&config).await?).start().await?;
    for speaks in [Speaks::LEGACY, Speaks::MODERN] {
        let mut client = workbench.client(speaks, &plugway.mcp_url(), None).await?;
        let names = client.tool_names().await?;
        for name in ["chem_parallel_execute", "chem_check_batch", "chem_cancel_batch"] {
            ensure!(names.iter().all(|known| known != name), "{name}: {names:?}");
        }
        let inputs = json!({"code": "result = 1", "inputs": [{"x": 1}]});
        let blocked = client.call("chem_parallel_execute", inputs).await?;
        let sentence = "Tool 'chem_parallel_execute' is blocked by gateway policy.";
        ensure!(is_refused(&blocked, sentence)?, "{blocked}");

        let start = Instant::now();
        let code = json!({"code": "print(parse_molecule(smiles='CO'))"});
        let result = client.call("execute_chem_code", code.clone()).await?;
        ensure!(text_of(&result)?.contains("{'atoms': 2}"), "{result}");
        for number in 2..=60 {
            let result = client.call("chem_list_sessions", json!({})).await?;
            ensure!(text_of(&result)?.contains("sessions"), "call {number}: {result}");
        }
        let sentence =
            "Rate limit exceeded: maximum 60 calls per minute. Please wait and try again.";
        for (tool, arguments) in [("chem_list_sessions", json!({})), ("execute_chem_code", code)] {
            let limited = client.call(tool, arguments).await?;
            ensure!(is_refused(&limited, sentence)?, "{tool}: {limited}");
        }
        ensure!(start.elapsed() < MINUTE, "this machine is too slow for what is to be shown");
    }
    ensure!(plugway.stop().await?.success());
    Ok(())
}

/// Whether a result is an error whose text is the reference's, with this sentence.
fn is_refused(result: &Value, sentence: &str) -> Result<bool> {
    let said: Value = serde_json::from_str(text_of(result)?)?;
    let is_it = |key: &str, value: Value| said.get(key) == Some(&value);
    let is_error = result.get("isError") == Some(&json!(true));
    Ok(is_error && is_it("success", json!(false)) && is_it("error", json!(sentence)))
}
