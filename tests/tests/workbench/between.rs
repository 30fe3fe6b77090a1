//! What a server hands to its user piece by piece, or to another server, behind plugway.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    workbench::{Domain, Door, Mode, Speaks, Workbench},
};
use serde_json::json;

#[tokio::test]
async fn peer_workbench_code_of_a_server_with_jobs_alone_is_asked_for() -> Result<()> {
    let workbench = Workbench::find()?;
    let gis = workbench.server(Domain::Gis, Mode::AsyncOnly, Door::Open).await?;
    let config = format!("name: hub\nupstreams: [{{name: gis, url: '{}'}}]\n", gis.url());
    let plugway = Plugway::start(config).await?;
    for speaks in [Speaks::LEGACY, Speaks::MODERN] {
        let mut client = workbench.client(speaks, &plugway.mcp_url(), None).await?;
        // The shortest code is a job, too.
        let code = json!({"code": "print(load_points(count=3)['points'])"});
        let begun = client.json("execute_gis_code", code).await?;
        ensure!(begun.get("stdout").is_none(), "{speaks:?}: it ran at once: {begun}");
        let job = begun.get("job_id").with_context(|| format!("{speaks:?}: {begun}"))?;
        let is_over = |said: &serde_json::Value| {
            said.get("status").is_some_and(|status| status != "running" && status != "pending")
        };
        let ended = client.until("gis_check_job", &json!({"job_id": job}), is_over).await?;
        ensure!(ended.get("job_id") == Some(job), "{speaks:?}: {ended}");
        let said = ended.to_string();
        ensure!(said.contains("[[0, 0], [1, 1], [2, 4]]"), "{speaks:?}: {ended}");
    }
    Ok(())
}

#[tokio::test]
async fn peer_workbench_servers_send_to_each_other() -> Result<()> {
    let workbench = Workbench::find()?;
    let gis = workbench.server(Domain::Gis, Mode::Sync, Door::Open).await?;
    let peers = json!({"gis": gis.base()});
    let chem = workbench.server_among(&peers, Domain::Chem, Mode::Sync, Door::Open).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: chem, url: '{}'}}, {{name: gis, url: '{}'}}]\n",
        chem.url(),
        gis.url()
    ))
    .await?;
    // Without a session each call has variables of its own, and there is nothing to send.
    for speaks in Speaks::ALL.into_iter().filter(|speaks| !speaks.is_modern) {
        let mut client = workbench.client(speaks, &plugway.mcp_url(), None).await?;
        // What is received goes to a session that is there.
        let there = client.json("execute_gis_code", json!({"code": "weight = None"})).await?;
        ensure!(there.get("success").is_some_and(|success| success == true), "{there}");
        let code = json!({"code": "weight = compute_descriptors(atoms=2)"});
        let made = client.json("execute_chem_code", code).await?;
        ensure!(made.get("success").is_some_and(|success| success == true), "{made}");
        let sent = client.json("chem_send", json!({"data_ref": "weight", "to": "gis"})).await?;
        ensure!(sent.get("success").is_some_and(|success| success == true), "{sent}");
        ensure!(sent.get("destination").is_some_and(|to| to == "gis"), "{sent}");
        let said = client.json("execute_gis_code", json!({"code": "print(weight)"})).await?;
        ensure!(said.get("stdout").is_some_and(|out| out == "{'weight': 24}\n"), "{said}");
        // The next one finds no session of this one: what is received goes to the first that there is.
        for server in ["chem", "gis"] {
            let listed = client.json(&format!("{server}_list_sessions"), json!({})).await?;
            let sessions = listed.get("sessions").and_then(|all| all.as_array());
            for session in sessions.with_context(|| format!("{listed}"))? {
                let own = json!({"session_id": session.get("session_id")});
                client.json(&format!("{server}_close_session"), own).await?;
            }
        }
    }
    Ok(())
}
