//! Lists: cut into pages that are the whole list end to end, and kept as long as their servers say.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Plugway,
    faulty::{self, Faulty, Raw},
    rpc::Client,
};
use serde_json::{Value, json};

/// The cursor behind the first page of tools.
async fn cursor(client: &Client) -> Result<String> {
    let reply = client.call("tools/list", json!({})).await?;
    let cursor = reply.result()?["nextCursor"].as_str().context("no next page")?;
    Ok(cursor.to_owned())
}

#[tokio::test]
async fn a_long_list_has_pages_and_their_cursors_are_the_callers() -> Result<()> {
    let many = DemoHttp::start(&["--tools", "2100", "--page-size", "500"]).await?;
    let plugway =
        Plugway::start(format!("name: hub\nupstreams: [{{name: many, url: '{}'}}]\n", many.url()))
            .await?;
    let direct = Client::legacy(many.address(), "/mcp").await?.tool_names().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let names = client.tool_names().await?;
        ensure!(names.len() == direct.len() + 1, "{} of {}", names.len(), direct.len());
        ensure!(direct.iter().zip(&names).all(|(own, shown)| *shown == format!("many_{own}")));
        let first = client.call("tools/list", json!({})).await?;
        ensure!(first.result()?["tools"].as_array().is_some_and(|page| page.len() == 1_000));
        let cursor = cursor(&client).await?;
        let refused = async |method: &str, cursor: &str| {
            let reply = client.call(method, json!({"cursor": cursor})).await?;
            ensure!(reply.error_code()? == -32602, "{reply:?}");
            ensure!(reply.text.contains("list again from the start"), "{reply:?}");
            Ok(())
        };
        refused("prompts/list", &cursor).await?;
        refused("tools/list", cursor.get(1..).unwrap_or_default()).await?;
        refused("tools/list", "").await?;
        let other = plugway.legacy().await?.call("tools/list", json!({"cursor": cursor})).await?;
        ensure!(other.error_code()? == -32602, "a cursor of somebody else: {other:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_cursor_ends_with_the_list_that_it_is_of() -> Result<()> {
    let many = DemoHttp::start(&["--tools", "1100", "--page-size", "1100"]).await?;
    let config = |more: &str| {
        format!("name: hub\nupstreams: [{{name: many, url: '{}'{more}}}]\n", many.url())
    };
    let plugway = Plugway::start(config("")).await?;
    let client = plugway.legacy().await?;
    let cursor = cursor(&client).await?;
    let again = async || client.call("tools/list", json!({"cursor": cursor.clone()})).await;
    ensure!(again().await?.result()?["tools"].is_array());
    plugway.reconfigure(&config(", aliases: {add: sum}"))?;
    plugway_tests::wait::until("the list is another one", BOUND, async || {
        let reply = again().await?;
        Ok((reply.error_code().ok() == Some(-32602)).then_some(()))
    })
    .await
}

const BOUND: std::time::Duration = std::time::Duration::from_secs(20);

/// A server of the modern era whose lists count for so many milliseconds, for everybody.
fn counting(message: &Value, ttl: u64) -> Option<Raw> {
    let result = match message["method"].as_str()? {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0,
            "cacheScope": "private", "capabilities": {"tools": {}},
        }),
        "tools/list" => json!({
            "resultType": "complete", "ttlMs": ttl, "cacheScope": "public",
            "tools": [{"name": "a", "inputSchema": {"type": "object"}}],
        }),
        _ => return None,
    };
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}

#[tokio::test]
async fn a_merged_list_counts_as_long_as_its_shortest_part() -> Result<()> {
    let nine = Faulty::start(|message, _| counting(message, 9_000)).await?;
    let seven = Faulty::start(|message, _| counting(message, 7_000)).await?;
    let silent = DemoHttp::start(&[]).await?;
    let both =
        format!("{{name: nine, url: '{}'}}, {{name: seven, url: '{}'}}", nine.url(), seven.url());
    let mixed = format!("{both}, {{name: silent, url: '{}'}}", silent.url());
    for (upstreams, ttl, scope) in [(both, 7_000, "public"), (mixed, 0, "private")] {
        let plugway =
            Plugway::start(format!("name: hub\nstatus: false\nupstreams: [{upstreams}]\n")).await?;
        let listed = plugway.modern().call("tools/list", json!({})).await?;
        let listed = listed.result()?;
        ensure!(listed["ttlMs"] == ttl && listed["cacheScope"] == scope, "{listed}");
        let listed = plugway.legacy().await?.call("tools/list", json!({})).await?;
        ensure!(listed.result()?.get("ttlMs").is_none(), "{listed:?}");
    }
    Ok(())
}
