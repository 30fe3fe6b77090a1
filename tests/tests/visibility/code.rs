//! What an operator hides is not called by code either; what a request filters is only not shown.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Coder, Hub, Plugway, audit, coder::function, rpc::Client};
use serde_json::{Value, json};

async fn chem() -> Result<Coder> {
    let functions = [
        function("parse", "Parses.", &[], &[]),
        function("dock", "Docks.", &[], &[]),
        function("send_report", "Sends.", &[], &[]),
    ];
    Coder::start("chem", &functions).await
}

fn hub(server: &Coder, config: Value) -> Hub {
    Hub::new("hub").upstream("chem", &server.url()).bundled("visibility", config)
}

/// What becomes of code: the text of the result, and whether it is an error.
async fn run(client: &Client, code: &str) -> Result<(String, bool)> {
    let params = json!({"name": "execute_chem_code", "arguments": {"code": code}});
    let reply = client.call("tools/call", params).await?;
    let result = reply.result()?;
    let text = result["content"][0]["text"].as_str().with_context(|| format!("{result}"))?;
    Ok((text.to_owned(), result["isError"] == true))
}

async fn published(plugway: &Plugway, query: &str) -> Result<Vec<String>> {
    let catalogue = plugway.get(&format!("/catalog{query}")).await?.json()?;
    let tools = catalogue["tools"].as_array().context("no functions")?.clone();
    Ok(tools.iter().filter_map(|one| Some(one["name"].as_str()?.to_owned())).collect())
}

#[tokio::test]
async fn what_lists_hide_is_unknown_to_code_and_not_named() -> Result<()> {
    let server = chem().await?;
    let enabled = json!({"tools": {"enabled": ["execute_*", "parse"]}});
    for (config, torn) in
        [(json!({"tools": {"disabled": ["dock", "send_*"]}}), false), (enabled, true)]
    {
        let audited = hub(&server, config.clone()).top("audit", json!({"file": audit::FILE}));
        let plugway = audited.start().await?;
        ensure!(published(&plugway, "").await? == ["parse"], "{config}");
        for client in [plugway.legacy().await?, plugway.modern()] {
            let before = server.called().len();
            for code in ["dock(1)", "f = send_report", "f'{dock(1)}'", "\u{ff44}ock(1)"] {
                let (text, is_error) = run(&client, code).await?;
                ensure!(is_error && text.contains("unknown"), "{config} {code}: {text}");
                ensure!(!text.contains("dock") && !text.contains("send_report"), "{text}");
            }
            let (text, is_error) = run(&client, "x = 'open\n").await?;
            ensure!(is_error == torn, "{config}: {text}");
            ensure!(server.called().len() == before + usize::from(!torn), "{config}");
            for code in ["parse('dock')", "docks(1)  # dock", "print(1)"] {
                ensure!(!run(&client, code).await?.1, "{config} {code}");
            }
        }
        let lines = audit::until(&plugway, "call", 17).await?;
        // The first one is that of the catalogue.
        let denied = &lines[1];
        ensure!(denied["decided_by"] == "visibility" && denied["verdict"] == "denied", "{denied}");
        ensure!(denied["reason"].as_str().is_some_and(|why| why.contains("dock")), "{denied}");
    }
    Ok(())
}

#[tokio::test]
async fn variables_of_the_environment_hide_from_code_what_they_hide_from_lists() -> Result<()> {
    let server = chem().await?;
    let plain = Hub::new("hub").upstream("chem", &server.url());
    let plugway = plain.setup()?.environment("MCP_DISABLED_TOOLS", "dock").start().await?;
    ensure!(published(&plugway, "").await? == ["parse", "send_report"]);
    ensure!(run(&plugway.modern(), "dock(1)").await?.1);
    ensure!(!run(&plugway.modern(), "parse(1)").await?.1);
    Ok(())
}

#[tokio::test]
async fn what_a_request_filters_is_not_shown_and_is_no_lock() -> Result<()> {
    let server = chem().await?;
    let plugway = hub(&server, json!({})).start().await?;
    let filter = "?disabled_tools=dock";
    ensure!(published(&plugway, filter).await? == ["parse", "send_report"]);
    let client = Client::modern(plugway.address(), &format!("/mcp{filter}"));
    ensure!(!run(&client, "dock(1)").await?.1);
    Ok(())
}
