//! Who is asked for a catalogue, with what, and what becomes of one that changes.

use anyhow::{Result, ensure};
use plugway_tests::{
    Coder, DemoHttp, Hub,
    coder::{catalogue, function, page},
    wait,
};
use serde_json::json;

use super::{BOUND, ask, chem, gis, hub, names, of_gis, search};

#[tokio::test]
async fn functions_are_found_planned_with_and_called_and_skills_loaded() -> Result<()> {
    let (chem, gis, clock) = (chem().await?, gis().await?, DemoHttp::start(&[]).await?);
    let hub = hub(&[("lab", &chem), ("gis", &gis)]).upstream("clock", clock.url());
    let plugway = hub.start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let found = search(&client, "descriptors").await?;
        ensure!(names(&found["tools"]) == ["compute_descriptors"], "{found}");
        let hit = &found["tools"][0];
        ensure!(
            hit["server_name"] == "lab" && hit["state_requires"] == json!(["chem.parsed"]),
            "{hit}"
        );
        ensure!(hit["to_access"] == "Call via execute_lab_code", "{hit}");
        ensure!(hit["parameters"][0]["type"] == "numpy.ndarray", "{hit}");
        let ran =
            ask(&client, "execute_lab_code", json!({"code": "compute_descriptors(1)"})).await?;
        ensure!(ran["ran"] == "compute_descriptors(1)", "{ran}");
        // Servers without a catalogue are found by their tools, as ever.
        ensure!(names(&search(&client, "echo").await?["tools"]) == ["clock_echo"]);

        let skill = &search(&client, "how to use gis").await?["skills"][0];
        ensure!(
            skill["to_access"] == "Load with load_hub_skill(skill_name=\"gis-skill\")",
            "{skill}"
        );
        let text = client.call_text("load_hub_skill", json!({"skill_name": "gis-skill"})).await?;
        ensure!(text == "# gis-skill\nDo it well.", "{text}");
        let wrong = ask(&client, "load_hub_skill", json!({"skill_name": "zz"})).await?;
        ensure!(
            wrong
                == json!({"error": "Skill 'zz' not found.", "available_skills": ["chem-skill", "gis-skill"]}),
            "{wrong}"
        );
        let wrong =
            ask(&client, "load_hub_skill", json!({"skill_name": "zz", "upstream": "mars"})).await?;
        ensure!(wrong["available_upstreams"] == json!(["clock", "gis", "lab"]), "{wrong}");

        let steps = json!({"mode": "next_steps", "current_state": "chem.parsed"});
        let steps = ask(&client, "plan_hub_workflow", steps).await?;
        ensure!(names(&steps["tools_from_here"]) == ["compute_descriptors"], "{steps}");
    }
    // The server's own tool, under its own name, and as the caller.
    let loads = gis.called();
    let wanted = json!({"skill_name": "gis-skill"});
    ensure!(
        loads.iter().all(|call| call["name"] == "load_gis_skill" && call["arguments"] == wanted),
        "{loads:?}"
    );
    ensure!(loads.len() == 2);
    ensure!(chem.asked().iter().all(|(path, _)| path == "/catalog"), "{:?}", chem.asked());
    Ok(())
}

#[tokio::test]
async fn a_skill_of_two_servers_is_loaded_from_the_one_that_is_named() -> Result<()> {
    let (chem, gis) = (chem().await?, gis().await?);
    let mut shown = catalogue("gis", &of_gis());
    shown["skills"][0]["name"] = json!("chem-skill");
    gis.shows(page(&shown));
    let plugway = hub(&[("chem", &chem), ("gis", &gis)]).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let wrong = ask(&client, "load_hub_skill", json!({"skill_name": "chem-skill"})).await?;
        let expected = json!({
            "error": "Skill 'chem-skill' exists on multiple upstreams: ['chem', 'gis']. Specify the 'upstream' parameter \
                      to disambiguate.",
            "matches": [
                {"skill_name": "chem-skill", "upstream": "chem"},
                {"skill_name": "chem-skill", "upstream": "gis"},
            ],
        });
        ensure!(wrong == expected, "{wrong}");
        let of_gis = json!({"skill_name": "chem-skill", "upstream": "gis"});
        let text = client.call_text("load_hub_skill", of_gis).await?;
        ensure!(text == "# chem-skill\nDo it well.", "{text}");
    }
    ensure!(chem.called().is_empty(), "{:?}", chem.called());
    let loads = gis.called();
    ensure!(loads.len() == 2 && loads.iter().all(|call| call["name"] == "load_gis_skill"));
    Ok(())
}

#[tokio::test]
async fn one_that_changes_is_read_again_and_one_that_is_gone_is_forgotten() -> Result<()> {
    let chem = chem().await?;
    let plugway = hub(&[("chem", &chem)]).start().await?;
    let client = plugway.modern();
    let until = async |query: &str, wanted: &[&str]| {
        wait::until(&format!("`{query}` finds {wanted:?}"), BOUND, async || {
            let found = search(&client, query).await?;
            Ok((names(&found["tools"]) == wanted).then_some(()))
        })
        .await
    };
    until("parse", &["parse_molecule"]).await?;
    let new = function("parse_protein", "Parse a sequence", &[], &[]);
    chem.shows(page(&catalogue("chem", &[new])));
    until("parse", &["parse_protein"]).await?;
    // A server that has trouble has what it had.
    chem.shows((503, "text/plain", String::new()));
    plugway.logged("the catalogue of functions (GET /catalog) cannot be used", BOUND).await?;
    let asked = chem.asked().len();
    wait::until("it is asked again", BOUND, async || {
        Ok((chem.asked().len() > asked + 1).then_some(()))
    })
    .await?;
    ensure!(names(&search(&client, "parse").await?["tools"]) == ["parse_protein"]);
    let warned = plugway.stderr().iter().filter(|line| line.contains("GET /catalog")).count();
    ensure!(warned == 1, "{warned} warnings");
    // One that says that it has none has none: what is left are its tools.
    chem.shows((404, "text/plain", String::new()));
    until("parse", &[]).await?;
    until("check job", &["chem_check_job"]).await?;
    chem.shows(page(&catalogue("chem", &[function("again", "", &[], &[])])));
    until("again", &["again"]).await
}

#[tokio::test]
async fn a_server_that_comes_later_is_found_then() -> Result<()> {
    let (chem, gis) = (chem().await?, gis().await?);
    let address = gis.address().to_string();
    let hub = hub(&[("chem", &chem), ("gis", &gis)]);
    drop(gis);
    let plugway = hub.setup()?.absent("gis").start().await?;
    let client = plugway.modern();
    ensure!(search(&client, "points").await?["tools"] == json!([]));
    let _gis = Coder::start_at(&address, "gis", &of_gis()).await?;
    wait::until("it is found", BOUND, async || {
        let found = search(&client, "points").await?;
        Ok((names(&found["tools"]) == ["map_points"]).then_some(()))
    })
    .await
}

#[tokio::test]
async fn the_place_beside_the_endpoint_is_tried_before_the_origin() -> Result<()> {
    let (beside, origin, both) = (chem().await?, chem().await?, chem().await?);
    let other = page(&catalogue("chem", &[function("beside", "", &[], &[])]));
    beside.shows_at("/a/b/catalog", other);
    // A page for people stands at every path of some servers.
    both.shows_at("/a/b/catalog", (200, "text/html", "<html></html>".to_owned()));
    let mut hub = Hub::new("hub").router_config(&json!({"unified_tools": true}));
    for (name, server) in [("beside", &beside), ("origin", &origin), ("both", &both)] {
        hub = hub.upstream(name, &server.url_at("/a/b/mcp"));
    }
    let plugway = hub.start().await?;
    let found = search(&plugway.modern(), "").await?;
    let own = ["parse_molecule", "compute_descriptors"];
    ensure!(names(&found["tools"]) == [&["beside"][..], &own, &own].concat(), "{found}");
    let paths = |server: &Coder| -> Vec<String> {
        server.asked().into_iter().map(|(path, _)| path).collect()
    };
    ensure!(paths(&beside) == ["/a/b/catalog"], "{:?}", paths(&beside));
    for server in [origin, both] {
        ensure!(paths(&server) == ["/a/b/catalog", "/catalog"], "{:?}", paths(&server));
    }
    Ok(())
}

#[tokio::test]
async fn it_gets_plugways_credential_and_nobodys_else_and_others_are_not_asked() -> Result<()> {
    let (own, forward, never) = (chem().await?, chem().await?, chem().await?);
    let hub = Hub::new("hub")
        .router_config(&json!({"unified_tools": true}))
        .upstream_with(
            "own",
            &own.url(),
            json!({"auth": {"mode": "bearer", "token": "env://SECRET"}}),
        )
        .upstream_with("forward", &forward.url(), json!({"auth": "forward"}))
        .upstream_with("never", &never.url(), json!({"catalog": "never"}));
    let plugway = hub.setup()?.environment("SECRET", "s3cret").start().await?;
    let asked =
        |credential: Option<&str>| vec![("/catalog".to_owned(), credential.map(str::to_owned))];
    ensure!(own.asked() == asked(Some("Bearer s3cret")), "{:?}", own.asked());
    ensure!(forward.asked() == asked(None), "{:?}", forward.asked());
    ensure!(never.asked().is_empty(), "{:?}", never.asked());
    let found = search(&plugway.modern(), "never check job").await?;
    ensure!(names(&found["tools"]).contains(&"never_check_job"), "{found}");
    Ok(())
}

#[tokio::test]
async fn what_the_operator_hides_and_renames_of_functions_is_so_in_searches() -> Result<()> {
    let chem = chem().await?;
    let keys = json!({"expose_tools": ["parse_*"], "tool_aliases": {"parse_molecule": "read"}});
    let mut upstream = json!({"name": "chem", "url": chem.url()});
    if let (Some(upstream), Some(keys)) = (upstream.as_object_mut(), keys.as_object()) {
        upstream.extend(keys.clone());
    }
    let config = json!({"form": "agora", "name": "hub", "upstreams": [upstream]});
    let plugway = plugway_tests::Plugway::start(config.to_string()).await?;
    // In this form the tools are there without a word.
    let found = search(&plugway.modern(), "").await?;
    ensure!(names(&found["tools"]) == ["read"], "{found}");
    let access = "Call via execute_chem_code, where its name is parse_molecule";
    ensure!(found["tools"][0]["to_access"] == access, "{found}");
    let shown = plugway.get("/catalog").await?.json()?;
    ensure!(
        names(&shown["tools"]) == ["read"] && shown["tools"][0]["own_name"] == "parse_molecule",
        "{shown}"
    );
    let tools = plugway.modern().tool_names().await?;
    for tool in ["execute_chem_code", "chem_check_job", "load_hub_skill", "plan_hub_workflow"] {
        ensure!(tools.iter().any(|name| name == tool), "{tools:?}");
    }
    Ok(())
}
