//! What a session of the legacy era subscribed to, and the level that it set, survive what happens to its servers.

use std::time::Duration;

use anyhow::{Result, ensure};
use plugway_tests::{Notices, Plugway, demo::board_upstream, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const A: &str = "board://notes/a";

async fn plugway(names: &[&str], busy: bool) -> Result<Plugway> {
    let upstreams: Vec<Value> =
        names.iter().map(|name| board_upstream(name, "legacy", busy)).collect::<Result<_>>()?;
    let hub = json!({"connectors": [{"name": "hub", "path": "/", "upstreams": upstreams}]});
    Plugway::start(hub.to_string()).await
}

/// What the server says that this session told it.
async fn told(client: &Client) -> Result<Value> {
    Ok(serde_json::from_str(&client.call_text("board_told", json!({})).await?)?)
}

fn updates(notices: &Notices) -> Vec<Value> {
    let updated = |message: &Value| message["method"] == "notifications/resources/updated";
    notices.all().into_iter().filter(updated).collect()
}

#[tokio::test]
async fn updates_come_once_and_only_for_what_is_subscribed_to() -> Result<()> {
    // Of two servers, nobody knows which would have a URI that neither lists; of equal ones the first counts.
    let plugway = plugway(&["board", "second"], false).await?;
    let client = plugway.legacy().await?;
    let capabilities = client.initialized().map(|result| result["capabilities"].clone());
    ensure!(capabilities.is_some_and(|all| all["resources"]["subscribe"] == true));
    let notices = Notices::of(&client).await?;
    let pin =
        async |name: &str| client.call_text("board_pin", json!({"name": name, "text": "x"})).await;
    let unknown = client.call("resources/subscribe", json!({"uri": "board://notes/?"})).await?;
    ensure!(unknown.error_code()? == -32602, "{unknown:?}");
    let subscribed = client.call("resources/subscribe", json!({"uri": A})).await?;
    ensure!(*subscribed.result()? == json!({}), "{subscribed:?}");
    pin("b").await?;
    pin("a").await?;
    client.call("resources/unsubscribe", json!({"uri": A})).await?.result()?;
    pin("a").await?;
    client.call("resources/subscribe", json!({"uri": "board://notes/b"})).await?.result()?;
    pin("b").await?;
    let all = wait::until("two updates", BOUND, async || {
        let all = updates(&notices);
        Ok((all.len() >= 2).then_some(all))
    })
    .await?;
    let uris: Vec<&Value> = all.iter().map(|message| &message["params"]["uri"]).collect();
    ensure!(uris == [A, "board://notes/b"], "{uris:?}");
    Ok(())
}

#[tokio::test]
async fn a_child_that_crashed_is_told_again() -> Result<()> {
    let plugway = plugway(&["board"], true).await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    client.call("logging/setLevel", json!({"level": "error"})).await?.result()?;
    client.call("resources/subscribe", json!({"uri": A})).await?.result()?;
    let crashed = client.call_tool("board_crash", json!({})).await?;
    ensure!(crashed["isError"] == true, "{crashed}");
    let seen = updates(&notices).len();
    ensure!(told(&client).await? == json!({"levels": ["error"], "subscribed": [A]}));
    wait::until("the new child tells", BOUND, async || {
        Ok((updates(&notices).len() > seen).then_some(()))
    })
    .await
}
