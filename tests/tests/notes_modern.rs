//! Notifications of clients of the modern era: what nobody knows reaches the servers that speak it, the rest ends at plugway.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Guest, Hub, replay::Replayed, scripted::Scripted};
use serde_json::{Value, json};

const NOTE: &str = "notifications/com.example/note";

/// A server of the modern era with one tool.
const SERVER: &str = r#"
{"exchange":"discover"}
{"client":{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}}
{"server":{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"public"}}}
{"exchange":"tools"}
{"client":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}
{"server":{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[{"name":"wait","inputSchema":{"type":"object"}}],"ttlMs":60000,"cacheScope":"public"}}}
"#;

#[tokio::test]
async fn every_modern_server_that_the_caller_can_see_hears_of_it() -> Result<()> {
    let servers = [
        Replayed::over_http(SERVER).await?,
        Replayed::over_http(SERVER).await?,
        Replayed::over_http(SERVER).await?,
    ];
    let legacy = Scripted::start().await?;
    let hidden = Guest::new("visibility_by_scope").config(json!({"hide": ["secret_*"]}));
    let mut hub = Hub::new("hub").upstream("old", &legacy.url()).policy(hidden);
    for (server, name) in servers.iter().zip(["one", "two", "secret"]) {
        let upstream = server.upstream(name)?;
        hub = hub.upstream(name, upstream["url"].as_str().context("a URL")?);
    }
    let plugway = hub.start().await?;
    let client = plugway.modern();
    let listed = client.tool_names().await?;
    ensure!(listed.contains(&"one_wait".to_owned()) && listed.contains(&"two_wait".to_owned()));
    ensure!(!listed.contains(&"secret_wait".to_owned()), "{listed:?}");
    let capabilities = json!({"sampling": {}, "elicitation": {}});
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    for method in ["notifications/cancelled", "notifications/progress", NOTE] {
        let params = json!({"requestId": 1, "progressToken": 1, "n": 1, "_meta": meta});
        ensure!(client.notify(method, params).await? == 202);
    }
    for server in &servers[..2] {
        let told = server.asked(NOTE)?;
        ensure!(told.len() == 1, "{told:?}");
        let told: Value = serde_json::from_str(&told[0].to_string())?;
        ensure!(told["params"]["n"] == 1, "{told}");
        // What the operator does not let the server use is not claimed here, either.
        let claimed = &told["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        ensure!(*claimed == json!({"elicitation": {}}), "{told}");
    }
    ensure!(servers[2].asked(NOTE)?.is_empty());
    for server in &servers {
        for known in ["notifications/cancelled", "notifications/progress"] {
            ensure!(server.asked(known)?.is_empty());
        }
    }
    Ok(())
}
