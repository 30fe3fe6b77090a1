//! The example of a router with tools of its own, as its README shows it.

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub};
use serde_json::json;

#[tokio::test]
async fn a_router_serves_tools_by_itself() -> Result<()> {
    let (north, south) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let plugway = Hub::new("hub")
        .upstream("north", north.url())
        .upstream("south", south.url())
        .router(Guest::new("rust-router").grants(json!({"upstreams": true})))
        .start()
        .await?;
    plugway.wait_until_connected(&["north", "south"]).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let names = client.tool_names().await?;
        ensure!(names.starts_with(&["list_servers".to_owned(), "ask_servers".to_owned()]));
        ensure!(client.call_text("south__echo", json!({"message": "hi"})).await? == "hi");
        let listed = client.call_tool("list_servers", json!({})).await?;
        ensure!(listed["structuredContent"] == json!({"servers": ["north", "south"]}), "{listed}");
        let question = json!({"tool": "add", "arguments": {"a": 1, "b": 2},
                              "servers": ["north", "west", "south"]});
        let asked = client.call_tool("ask_servers", question).await?;
        let answers = &asked["structuredContent"]["answers"];
        for (place, server) in [(0, "north"), (2, "south")] {
            ensure!(answers[place]["server"] == server, "{asked}");
            ensure!(answers[place]["result"]["content"][0]["text"] == "3", "{asked}");
        }
        ensure!(
            answers[1]["error"].as_str().is_some_and(|error| error.contains("west")),
            "{asked}"
        );
    }
    Ok(())
}
