//! Servers that run code: the reference's short names, and the functions that code uses.

use anyhow::{Result, ensure};
use plugway_tests::{Coder, DemoHttp, Hub, code_server::CodeServer, coder::function};
use serde_json::json;

use super::{blocked, call, is_blocked, with};

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
    let functions =
        [function("parse_molecule", "Parses.", &[], &[]), function("dock", "Docks.", &[], &[])];
    let server = Coder::start("chem", &functions).await?;
    let hub = Hub::new("hub").upstream("chem", &server.url());
    let plugway = with(hub, json!({"blocked_tools": ["dock"]})).start().await?;
    plugway.wait_until_connected(&["chem"]).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let run =
            async |code: &str| call(&client, "execute_chem_code", json!({"code": code})).await;
        for code in ["dock(1)", "f = dock", "x = [dock for _ in y]"] {
            ensure!(run(code).await? == blocked("dock"), "{code}");
        }
        for code in ["parse_molecule('dock')", "docks(1)  # dock", "print(1)"] {
            ensure!(!run(code).await?.1, "{code}");
        }
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
