//! Upstreams that an operator takes out, puts back and looks at.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::admin::Admin;
use plugway_tests::{Hub, Plugway, Scripted, metrics, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

async fn start(upstream: &Scripted) -> Result<(Plugway, Admin)> {
    let admin = json!({"listen": "127.0.0.1:0", "token_file": "admin.token"});
    let hub = Hub::new("hub").upstream("up", &upstream.url()).top("admin", admin);
    let plugway = hub.start().await?;
    let admin = Admin::of(&plugway).await?;
    Ok((plugway, admin))
}

/// The one upstream, once it is as wanted.
async fn until(admin: &Admin, what: &str, fits: impl Fn(&Value) -> bool) -> Result<Value> {
    wait::until(what, BOUND, async || {
        let shown = admin.get("upstreams").await?;
        let upstream = shown.pointer("/upstreams/0").context("no upstream")?.clone();
        Ok(fits(&upstream).then_some(upstream))
    })
    .await
}

#[tokio::test]
async fn an_upstream_that_is_taken_out_is_left_alone_until_it_is_put_back() -> Result<()> {
    let upstream = Scripted::start().await?;
    let (plugway, admin) = start(&upstream).await?;
    let client = plugway.legacy().await?;
    ensure!(client.call_text("up_json", json!({})).await? == "json");
    ensure!(admin.post("upstreams/hub/up/disable").await?.status == 200);
    let shown = until(&admin, "it is out", |up| up["disabled"] == true).await?;
    ensure!(shown["phase"] != "connected", "{shown}");
    let again = admin.post("upstreams/hub/up/reconnect").await?;
    ensure!(again.status == 422, "what is taken out is not tried: {}", again.text());
    wait::until("its sessions end", BOUND, async || Ok((upstream.sessions() == 0).then_some(())))
        .await?;
    let (calls, opened) = (upstream.calls(), upstream.initializes());
    let refused = client.call("tools/call", json!({"name": "up_json", "arguments": {}})).await?;
    let refused = refused.response()?;
    let told = refused.pointer("/result/isError").is_some() || refused.get("error").is_some();
    ensure!(told, "{refused}");
    let labels = [("upstream", "up")];
    ensure!(metrics::sum(&plugway, "plugway_upstream_disabled", &labels).await? > 0.5);
    ensure!(upstream.calls() == calls && upstream.initializes() == opened, "it was not left alone");

    ensure!(admin.post("upstreams/hub/up/enable").await?.status == 200);
    until(&admin, "it is back", |up| up["phase"] == "connected").await?;
    wait::until("calls are served again", BOUND, async || {
        let reply = client.call("tools/call", json!({"name": "up_json", "arguments": {}})).await?;
        let text = reply.response()?.pointer("/result/content/0/text").cloned();
        Ok((text == Some(json!("json"))).then_some(()))
    })
    .await
}

#[tokio::test]
async fn an_upstream_is_read_again_when_it_is_asked_for() -> Result<()> {
    let upstream = Scripted::start().await?;
    let (plugway, admin) = start(&upstream).await?;
    let read = |up: &Value| up.pointer("/numbers/catalogues_read").and_then(Value::as_u64);
    let before = until(&admin, "it was read", |up| read(up) >= Some(1)).await?;
    ensure!(admin.post("upstreams/hub/up/reconnect").await?.status == 200);
    let after = until(&admin, "it was read again", |up| read(up) > read(&before)).await?;
    ensure!(after["phase"] == "connected", "{after}");
    let labels = [("upstream", "up")];
    ensure!(
        metrics::sum(&plugway, "plugway_upstream_catalogue_reads_total", &labels).await? >= 2.0
    );
    Ok(())
}

#[tokio::test]
async fn dead_streams_behind_a_stream_that_looks_healthy_are_seen() -> Result<()> {
    let upstream = Scripted::with_streams().await?;
    let (plugway, _admin) = start(&upstream).await?;
    let client = plugway.legacy().await?;
    let _looks_healthy = client.listen().await?;
    let number = async |name: &str| {
        let name = format!("plugway_upstream_streams_{name}");
        metrics::sum(&plugway, &name, &[("upstream", "up")]).await
    };
    wait::until("a stream is open", BOUND, async || {
        Ok((number("active").await? > 0.5).then_some(()))
    })
    .await?;
    let (opened, closed) = (number("opened_total").await?, number("closed_total").await?);
    upstream.end_streams();
    wait::until("its end is counted", BOUND, async || {
        Ok((number("closed_total").await? > closed).then_some(()))
    })
    .await?;
    ensure!(number("opened_total").await? >= opened);
    ensure!(number("unsupported_total").await? < 0.5, "a stream that ended is one that exists");
    Ok(())
}

#[tokio::test]
async fn a_server_without_streams_is_seen_as_such() -> Result<()> {
    let upstream = Scripted::start().await?;
    let (plugway, _admin) = start(&upstream).await?;
    let number = async |name: &str| {
        let name = format!("plugway_upstream_streams_{name}");
        metrics::sum(&plugway, &name, &[("upstream", "up")]).await
    };
    wait::until("the refusal is counted", BOUND, async || {
        Ok((number("unsupported_total").await? > 0.5).then_some(()))
    })
    .await?;
    ensure!(number("active").await? < 0.5);
    Ok(())
}
