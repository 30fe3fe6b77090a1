//! Servers that run code: the reference's short names, and the functions that code uses.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Coder, DemoHttp, Hub, Plugway, code_server::CodeServer, coder::function, rpc::Client,
};
use serde_json::{Value, json};

use super::{blocked, call, is_blocked, with};

/// A server that runs code, with two functions, behind this gateway.
async fn chemistry(config: Value) -> Result<(Coder, Plugway)> {
    let functions = [
        function("parse_molecule", "Parses.", &[], &["chem.parsed"]),
        function("dock", "Docks.", &["chem.parsed"], &["chem.docked"]),
    ];
    let server = Coder::start("chem", &functions).await?;
    let hub = Hub::new("hub").router_config(&json!({"unified_tools": true}));
    let plugway = with(hub.upstream("chem", &server.url()), config).start().await?;
    plugway.wait_until_connected(&["chem"]).await?;
    Ok((server, plugway))
}

/// What becomes of a piece of code.
async fn run(client: &Client, code: &str) -> Result<(String, bool)> {
    call(client, "execute_chem_code", json!({"code": code})).await
}

/// The names of functions that the search finds, and those that the catalogue shows.
async fn found(client: &Client, plugway: &Plugway) -> Result<[Vec<String>; 2]> {
    let names = |value: &Value| {
        let tools = value["tools"].as_array().context("no tools")?;
        let mut names: Vec<String> =
            tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
        names.retain(|name| ["parse_molecule", "dock"].contains(&&**name));
        names.sort();
        anyhow::Ok(names)
    };
    let (text, is_error) =
        call(client, "search_hub_tools", json!({"query": "", "top": 100})).await?;
    ensure!(!is_error, "{text}");
    let catalogue = plugway.get("/catalog").await?.json()?;
    Ok([names(&serde_json::from_str(&text)?)?, names(&catalogue)?])
}

#[tokio::test]
async fn short_names_stand_for_the_tools_of_servers_that_run_code() -> Result<()> {
    let server = CodeServer::start().await?;
    let hub = Hub::new("hub").upstream("lab", &server.url());
    let config = json!({"blocked_tools": ["parallel_execute", "send", "list_sessions"]});
    let plugway = with(hub, config).start().await?;
    plugway.wait_until_connected(&["lab"]).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let names = client.tool_names().await?;
        for name in ["execute_lab_code", "lab_check_job", "lab_close_session"] {
            ensure!(names.iter().any(|own| own == name), "{name}: {names:?}");
        }
        for name in [
            "lab_parallel_execute",
            "lab_check_batch",
            "lab_cancel_batch",
            "lab_send",
            "lab_list_sessions",
        ] {
            ensure!(!names.iter().any(|own| own == name), "{name}: {names:?}");
            is_blocked(&client, name, json!({"code": "1", "inputs": [], "batch_id": "b"})).await?;
        }
        // In the reference `send` forbids code with these letters; here it is a tool.
        let code = json!({"code": "resend = 'parallel_execute'"});
        ensure!(!call(&client, "execute_lab_code", code).await?.1);
    }
    Ok(())
}

#[tokio::test]
async fn short_names_mean_what_the_connector_offers_over_all_servers_too() -> Result<()> {
    for (entry, gone) in [
        ("plan_workflow", &["plan_hub_workflow"][..]),
        ("load_skill", &["load_chem_skill", "load_hub_skill"]),
        ("check_job", &["chem_check_job"]),
        ("search_tools", &["search_hub_tools"]),
    ] {
        let (_server, plugway) = chemistry(json!({"blocked_tools": [entry]})).await?;
        for client in [plugway.legacy().await?, plugway.modern()] {
            let names = client.tool_names().await?;
            for name in [
                "execute_chem_code",
                "chem_check_job",
                "load_chem_skill",
                "search_hub_tools",
                "plan_hub_workflow",
                "load_hub_skill",
                "hub_status",
            ] {
                let is_listed = names.iter().any(|own| own == name);
                ensure!(is_listed != gone.contains(&name), "{entry} {name}: {names:?}");
            }
            for name in gone {
                let arguments = json!({"skill_name": "chem-skill", "job_id": "j", "query": "x"});
                is_blocked(&client, name, arguments).await?;
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn elsewhere_a_name_that_looks_like_one_is_a_name() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let keys = json!({"aliases": {"echo": "mail_send"}});
    let hub = Hub::new("hub").upstream_with("clock", clock.url(), keys);
    let plugway = with(hub, json!({"blocked_tools": ["send"]})).start().await?;
    let client = plugway.legacy().await?;
    ensure!(!call(&client, "mail_send", json!({"message": "hi"})).await?.1);
    Ok(())
}

#[tokio::test]
async fn code_does_not_use_a_blocked_function() -> Result<()> {
    let (server, plugway) = chemistry(json!({"blocked_tools": ["dock"]})).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for code in [
            "dock(1)",
            "f = dock",
            "x = [dock for _ in y]",
            "f'{dock(1)}'",
            "f'''a {{b}} {x!r:>{dock(2)}}'''",
            // Python reads letters of these forms as the plain ones.
            "\u{ff44}\u{ff4f}ck(1)",
            "\u{1d41d}ock",
        ] {
            ensure!(run(&client, code).await? == blocked("dock"), "{code}");
        }
        for code in ["parse_molecule('dock')", "docks(1)  # dock", "print(1)", "f'{{dock}}'"] {
            ensure!(!run(&client, code).await?.1, "{code}");
        }
        // No Python: it is searched for the word.
        ensure!(run(&client, "x = 'open\n# dock").await? == blocked("dock"));
        ensure!(!run(&client, "x = 'open\n# docks").await?.1);
        let names = ["parse_molecule".to_owned()];
        ensure!(found(&client, &plugway).await? == [&names[..], &names], "it is found");
    }
    ensure!(server.called().len() == 10, "{:?}", server.called());
    Ok(())
}

#[tokio::test]
async fn an_allowed_function_brings_its_tools_and_leaves_out_every_other_function() -> Result<()> {
    let (server, plugway) = chemistry(json!({"allowed_tools": ["parse_molecule"]})).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let names = client.tool_names().await?;
        for name in ["execute_chem_code", "chem_check_job", "load_chem_skill", "search_hub_tools"] {
            ensure!(names.iter().any(|own| own == name), "{name}: {names:?}");
        }
        for code in ["parse_molecule('C')", "print(1)", "x = 'dock'  # dock"] {
            ensure!(!run(&client, code).await?.1, "{code}");
        }
        for code in ["dock(1)", "parse_molecule(dock)", "f'{dock}'", "\u{ff44}ock(1)"] {
            ensure!(run(&client, code).await? == blocked("dock"), "{code}");
        }
        // Nobody can tell what this uses.
        for torn in ["x = 'open\n", "f'{parse_molecule(", "x = (1]"] {
            let (text, is_error) = run(&client, torn).await?;
            ensure!(is_error && text.contains("cannot be read as Python"), "{torn}: {text}");
        }
        let names = ["parse_molecule".to_owned()];
        ensure!(found(&client, &plugway).await? == [&names[..], &names], "another one is found");
    }
    ensure!(server.called().len() == 6, "{:?}", server.called());
    Ok(())
}

#[tokio::test]
async fn an_allow_list_without_functions_leaves_all_of_them() -> Result<()> {
    let (server, plugway) = chemistry(json!({"allowed_tools": ["execute_code"]})).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for code in ["dock(1)", "parse_molecule(1)", "x = 'open\n"] {
            ensure!(!run(&client, code).await?.1, "{code}");
        }
        let names = client.tool_names().await?;
        ensure!(names.iter().any(|own| own == "execute_chem_code"), "{names:?}");
        for name in ["chem_check_job", "load_chem_skill"] {
            ensure!(names.iter().all(|own| own != name), "{name}: {names:?}");
            is_blocked(&client, name, json!({"job_id": "j", "skill_name": "chem-skill"})).await?;
        }
        let names = ["dock".to_owned(), "parse_molecule".to_owned()];
        ensure!(found(&client, &plugway).await? == [&names[..], &names], "a function is missing");
    }
    ensure!(server.called().len() == 6, "{:?}", server.called());
    Ok(())
}

#[tokio::test]
async fn a_blocked_function_goes_by_the_name_that_clients_see() -> Result<()> {
    let functions =
        [function("parse_molecule", "Parses.", &[], &[]), function("dock", "Docks.", &[], &[])];
    let server = Coder::start("chem", &functions).await?;
    let keys = json!({"aliases": {"dock": "docking"}});
    let hub = Hub::new("hub").upstream_with("chem", &server.url(), keys);
    let plugway = with(hub, json!({"blocked_tools": ["docking"]})).start().await?;
    plugway.wait_until_connected(&["chem"]).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let run =
            async |code: &str| call(&client, "execute_chem_code", json!({"code": code})).await;
        ensure!(run("dock(1)").await? == blocked("dock"));
        ensure!(run("docking(1)").await? == blocked("docking"));
        ensure!(!run("parse_molecule('dock')").await?.1);
        // More than is read of any code.
        let (said, is_error) = run(&"x = 1\n".repeat(70_000)).await?;
        ensure!(is_error && said.contains("longer than 128 KiB"), "{said}");
    }
    ensure!(server.called().len() == 2, "{:?}", server.called());
    Ok(())
}
