//! A server that says something else to some clients.

use anyhow::{Result, ensure};
use plugway_tests::rpc::Client;
use serde_json::{Value, json};

use super::server::{Says, Shifty, tool};
use super::{refusal, reread, said, start, until_listed};

fn ui() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}})
}

fn says(everybody: &str, some: &str) -> Says {
    let tools_of_ui = Some(vec![tool("chart", some)]);
    Says { tools: vec![tool("chart", everybody)], tools_of_ui, ..Says::default() }
}

#[tokio::test]
async fn what_only_some_are_shown_is_held_back_from_them_alone() -> Result<()> {
    let server = Shifty::start(true, says("Charts.", "Charts.")).await?;
    let (plugway, admin) = start("hold", &[("up", &server)]).await?;
    let shows = Client::modern_with(plugway.address(), "/mcp", ui());
    let plain = Client::modern_with(plugway.address(), "/mcp", json!({}));
    for client in [&shows, &plain] {
        until_listed(client, &["up_chart"]).await?;
    }
    server.says(says("Charts.", "Draws."));
    reread(&admin, "up").await?;
    until_listed(&shows, &[]).await?;
    ensure!(refusal(&shows, "up_chart").await?.contains("changed since"));
    until_listed(&plain, &["up_chart"]).await?;
    ensure!(plain.call_text("up_chart", json!({})).await? == "done");
    let listed = said(&plugway, &["list", "--held"]).await?;
    ensure!(
        listed.contains("hub/up/tool/chart") && listed.contains("shown to some only"),
        "{listed}"
    );

    said(&plugway, &["approve", "--all", "--yes", "--by", "ann"]).await?;
    for (client, text) in [(&shows, "Draws."), (&plain, "Charts.")] {
        until_listed(client, &["up_chart"]).await?;
        ensure!(client.call_text("up_chart", json!({})).await? == "done");
        let list = client.call("tools/list", json!({})).await?.text;
        ensure!(list.contains(text), "{list}");
    }

    // What everybody else is shown changes: whoever is shown what counts is not concerned.
    server.says(says("Leaks.", "Draws."));
    reread(&admin, "up").await?;
    until_listed(&plain, &[]).await?;
    refusal(&plain, "up_chart").await?;
    until_listed(&shows, &["up_chart"]).await?;
    ensure!(shows.call_text("up_chart", json!({})).await? == "done");
    Ok(())
}
