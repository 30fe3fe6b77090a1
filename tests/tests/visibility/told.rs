//! What clients are told of changes, and a configuration that changes under them.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp,
    rpc::{Client, Events},
    wait,
};
use serde_json::{Value, json};

use super::{BOUND, hub};

const CHANGED: &str = "notifications/tools/list_changed";

/// A change that a client does not want to see is no news for it, one that it does is: on the stream of a session, and on one
/// of the modern era.
#[tokio::test]
async fn only_what_a_client_wants_to_see_is_told() -> Result<()> {
    let (secret, open) = (
        DemoHttp::board("127.0.0.1:0", "both").await?,
        DemoHttp::board("127.0.0.1:0", "both").await?,
    );
    let plugway = hub(open.url(), json!({})).upstream("secret", secret.url()).start().await?;
    let path = "/mcp?disabled_tools=secret_extra*";
    let plain = plugway.legacy().await?;
    let narrow = Client::legacy(plugway.address(), path).await?;
    let modern = Client::modern(plugway.address(), path);
    let mut control = plain.listen().await?;
    let mut session = narrow.listen().await?;
    let wishes = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = modern.open("subscriptions/listen", wishes).await?;
    let first = stream.next(BOUND).await?.context("nothing is acknowledged")?;
    ensure!(first["method"] == "notifications/subscriptions/acknowledged", "{first}");

    plain.call_text("secret_grow", json!({})).await?;
    let told = control.next(BOUND).await?.context("the stream ended")?;
    ensure!(told["method"] == CHANGED, "{told}");
    // The next telling comes after this one was told to everybody.
    plain.call_text("clock_grow", json!({})).await?;
    let told = control.next(BOUND).await?.context("the stream ended")?;
    ensure!(told["method"] == CHANGED, "{told}");
    for events in [&mut session, &mut stream] {
        let told = events.next(BOUND).await?.context("the stream ended")?;
        ensure!(told["method"] == CHANGED, "{told}");
    }
    let names = narrow.tool_names().await?;
    ensure!(names.contains(&"clock_extra_1".to_owned()), "it was told of the other: {names:?}");
    ensure!(!names.iter().any(|name| name.starts_with("secret_extra")), "{names:?}");
    let (rests, ended) = tokio::join!(
        async { Ok::<_, anyhow::Error>([rest(&mut session).await?, rest(&mut stream).await?]) },
        plugway.stop()
    );
    ended?;
    let rests = rests?;
    let told = rests.iter().flatten().filter(|message| message["method"] == CHANGED).count();
    ensure!(told == 0, "told of what it does not want to see: {rests:?}");
    Ok(())
}

/// Everything that still comes on a stream, which must end.
async fn rest(events: &mut Events) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    while let Some(message) = events.next(BOUND).await? {
        all.push(message);
    }
    Ok(all)
}

#[tokio::test]
async fn a_changed_configuration_counts_in_the_middle_of_a_session() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let configuration = |policies: Value| {
        json!({
            "name": "hub", "status": false, "policies": policies,
            "upstreams": [{"name": "clock", "url": clock.url()}],
        })
        .to_string()
    };
    let start = plugway_tests::Plugway::start(configuration(json!([]))).await?;
    let client = Client::legacy(start.address(), "/mcp?disabled_tools=clock_now").await?;
    ensure!(client.tool_names().await?.len() == 4, "nobody reads it yet");
    let named =
        |globs: &[&str]| json!([{"use": "visibility", "config": {"tools": {"enabled": globs}}}]);
    for (policies, wanted) in [
        (named(&["clock_now", "clock_add"]), &["clock_add"][..]),
        (named(&["clock_echo"]), &["clock_echo"]),
        (json!([]), &["clock_now", "clock_count", "clock_echo", "clock_add"]),
    ] {
        start.reconfigure(&configuration(policies))?;
        wait::until("the list follows", BOUND, async || {
            let mut names = client.tool_names().await?;
            let mut wanted: Vec<&str> = wanted.to_vec();
            names.sort_unstable();
            wanted.sort_unstable();
            Ok((names == wanted).then_some(()))
        })
        .await?;
    }
    Ok(())
}
