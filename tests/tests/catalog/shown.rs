//! `GET PATH/catalog` of plugway's own connectors, and connectors before connectors.

use anyhow::{Result, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use plugway_tests::tokens::{ANN, ANN_TOO, auth, identified};
use plugway_tests::{DemoHttp, Guest, Hub, Plugway, http as web, rpc::Client};
use serde_json::{Value, json};

use super::{ask, chem, gis, hub, names, search};

#[tokio::test]
async fn a_connector_shows_the_functions_skills_and_limits_of_its_servers() -> Result<()> {
    let (chem, gis) = (chem().await?, gis().await?);
    let plugway =
        Hub::new("hub").upstream("lab", &chem.url()).upstream("gis", &gis.url()).start().await?;
    let answer = plugway.get("/catalog").await?;
    ensure!(
        answer.status == 200 && answer.header("content-type") == Some("application/json"),
        "{answer:?}"
    );
    ensure!(answer.header("cache-control") == Some("no-store"), "{answer:?}");
    let shown = answer.json()?;
    ensure!(shown["server_name"] == "hub", "{shown}");
    ensure!(
        names(&shown["tools"]) == ["parse_molecule", "compute_descriptors", "map_points"],
        "{shown}"
    );
    let first = &shown["tools"][0];
    ensure!(first["server_name"] == "lab" && first["via"] == "execute_lab_code", "{first}");
    ensure!(
        first["required_parameters"][0]["type"] == "numpy.ndarray" && first["module"] == "m",
        "{first}"
    );
    ensure!(names(&shown["skills"]) == ["chem-skill", "gis-skill"], "{shown}");
    ensure!(shown["skills"][0]["via"] == "load_lab_skill", "{shown}");
    ensure!(shown["execution"]["default_timeout"] == 300, "{shown}");
    ensure!(shown["executions"]["execute_gis_code"]["max_timeout"] == 600, "{shown}");
    // The same is a resource.
    let read =
        plugway.modern().call("resources/read", json!({"uri": "plugway://hub/catalog"})).await?;
    let text = read.result()?["contents"][0]["text"].as_str().unwrap_or_default();
    ensure!(serde_json::from_str::<Value>(text)? == shown);
    Ok(())
}

#[tokio::test]
async fn without_servers_that_run_code_there_is_nothing_to_show_and_the_path_takes_get()
-> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).start().await?;
    let shown = plugway.get("/catalog").await?.json()?;
    ensure!(shown == json!({"server_name": "hub", "tools": [], "skills": []}), "{shown}");
    let posted = web::post(plugway.address(), "/catalog", &[], "{}").await?;
    ensure!(posted.status == 405, "{posted:?}");
    ensure!(plugway.get("/other/catalog").await?.status == 404);
    let resources = plugway.modern().call("resources/list", json!({})).await?;
    ensure!(!resources.result()?.to_string().contains("/catalog"));
    Ok(())
}

async fn shown_to(plugway: &Plugway, token: Option<&str>) -> Result<web::Answer> {
    let mut request = Request::get("/catalog").header("host", plugway.address().to_string());
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    web::send(plugway.address(), request.body(Full::<Bytes>::default())?).await
}

#[tokio::test]
async fn it_asks_for_the_credential_of_the_endpoint_and_shows_what_its_caller_sees() -> Result<()> {
    let (chem, gis) = (chem().await?, gis().await?);
    let hides = Guest::new("visibility_by_scope")
        .config(json!({"hide": ["execute_chem_code"], "scope": "write"}));
    let hub = hub(&[("chem", &chem), ("gis", &gis)]).policy(hides).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    for token in [None, Some("nobody-0123456789abcdef")] {
        let refused = shown_to(&plugway, token).await?;
        ensure!(
            refused.status == 401 && refused.header("www-authenticate").is_some(),
            "{refused:?}"
        );
        ensure!(!refused.text().contains("map_points"));
    }
    let little = shown_to(&plugway, Some(ANN)).await?.json()?;
    ensure!(names(&little["tools"]) == ["map_points"], "{little}");
    let all = shown_to(&plugway, Some(ANN_TOO)).await?.json()?;
    ensure!(names(&all["tools"]).len() == 3, "{all}");
    // A search says no more, and a skill is not loaded past a policy.
    let client = Client::modern_as(plugway.address(), "/mcp", ANN);
    ensure!(search(&client, "descriptors").await?["tools"] == json!([]));
    Ok(())
}

#[tokio::test]
async fn a_hidden_resource_is_an_empty_catalogue_and_a_hidden_skill_is_not_loaded() -> Result<()> {
    let chem = chem().await?;
    let hides = Guest::new("visibility_by_scope").config(json!({
        "hide": ["plugway://hub/catalog", "load_chem_skill"], "scope": "write",
    }));
    let plugway = hub(&[("chem", &chem)]).policy(hides).start().await?;
    let shown = plugway.get("/catalog").await?.json()?;
    ensure!(shown == json!({"server_name": "hub", "tools": [], "skills": []}), "{shown}");
    let wrong =
        ask(&plugway.modern(), "load_hub_skill", json!({"skill_name": "chem-skill"})).await?;
    ensure!(
        wrong == json!({"error": "Skill 'chem-skill' not found.", "available_skills": []}),
        "{wrong}"
    );
    ensure!(chem.called().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_connector_before_a_connector_searches_plans_loads_and_calls() -> Result<()> {
    let (chem, gis, clock) = (chem().await?, gis().await?, DemoHttp::start(&[]).await?);
    let child = Hub::new("child")
        .upstream("lab", &chem.url())
        .upstream("gis", &gis.url())
        .upstream("clock", clock.url())
        .start()
        .await?;
    let bridge = json!([{"from_state": "chem.described", "to_state": "gis.loaded", "description": "Pass on"}]);
    let parent = Hub::new("hub")
        .router_config(&json!({"unified_tools": true, "bridges": bridge}))
        .upstream("below", &child.mcp_url())
        .start()
        .await?;
    let client = parent.modern();
    let found = search(&client, "points").await?;
    ensure!(names(&found["tools"]) == ["map_points"], "{found}");
    let hit = &found["tools"][0];
    ensure!(
        hit["to_access"] == "Call via below_execute_gis_code" && hit["server_name"] == "below",
        "{hit}"
    );
    let ran = ask(&client, "below_execute_gis_code", json!({"code": "map_points(1)"})).await?;
    ensure!(ran["ran"] == "map_points(1)", "{ran}");
    ensure!(names(&search(&client, "echo").await?["tools"]) == ["below_clock_echo"]);
    let way =
        json!({"mode": "path", "current_state": "chem.parsed", "target_state": "gis.rendered"});
    let way = ask(&client, "plan_hub_workflow", way).await?;
    let steps: Vec<_> =
        way["path"].as_array().into_iter().flatten().map(|step| step["tool"].clone()).collect();
    ensure!(
        steps == ["compute_descriptors", "bridge:chem.described→gis.loaded", "map_points"],
        "{way}"
    );
    let text = client.call_text("load_hub_skill", json!({"skill_name": "chem-skill"})).await?;
    ensure!(text.starts_with("# chem-skill"), "{text}");
    let shown = parent.get("/catalog").await?.json()?;
    ensure!(shown["tools"][2]["via"] == "below_execute_gis_code", "{shown}");
    Ok(())
}
