//! The forms of agora-workbench before its own servers.

use anyhow::{Result, ensure};
use plugway_tests::{
    plugway::Setup,
    workbench::{Speaks, Workbench, text_of},
};
use serde_json::json;

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

/// The policy of the reference's own example: whoever calls `parallel_execute` or calls too often is told so.
#[tokio::test]
async fn peer_workbench_policies_of_gateways_hold() -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, _gis) = workbench.pair().await?;
    let config = json!({
        "name": "gate", "upstream": {"name": "chem", "url": chem.base()},
        "policy": {"max_calls_per_minute": 2, "blocked_tools": ["parallel_execute"]},
    });
    let plugway = Setup::new(workbench.printed_gateway(&config).await?).start().await?;
    let mut client = workbench.client(Speaks::LEGACY, &plugway.mcp_url(), None).await?;
    let names = client.tool_names().await?;
    ensure!(names.iter().all(|name| !name.contains("parallel_execute")), "{names:?}");
    let code = json!({"code": "print(parse_molecule(smiles='CO'))"});
    for _ in 0..2 {
        let result = client.call("execute_chem_code", code.clone()).await?;
        ensure!(text_of(&result)?.contains("{'atoms': 2}"), "{result}");
    }
    let limited = client.call("execute_chem_code", code).await?;
    ensure!(
        text_of(&limited)?.contains("Rate limit exceeded: maximum 2 calls per minute"),
        "{limited}"
    );
    ensure!(plugway.stop().await?.success());
    Ok(())
}
