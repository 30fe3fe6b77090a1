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
