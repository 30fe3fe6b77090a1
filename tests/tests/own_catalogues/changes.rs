//! Changes of what callers are offered, of their credentials, of the server and of the configuration.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::admin::Admin;
use plugway_tests::strict::Strict;
use plugway_tests::tokens::{ANN, ANN_TOO, BOB, auth, identified};
use plugway_tests::{Notices, plugway::Setup, rpc::Client, wait};
use serde_json::json;

use super::{BOUND, both, refusal, seen, start};

async fn until_seen(client: &Client, wanted: &[&str]) -> Result<()> {
    let look = async || Ok((seen(client).await? == wanted).then_some(()));
    wait::until(&format!("{wanted:?} are seen"), BOUND, look).await
}

#[tokio::test]
async fn a_change_for_one_caller_is_told_to_that_caller_alone() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        server.lets_in(ANN, &["a"]);
        server.lets_in(BOB, &["b"]);
        let plugway = start(&server).await?;
        let admin = Admin::of(&plugway).await?;
        let [ann, ann_modern] = both(&plugway, Some(ANN)).await?;
        let [bob, _] = both(&plugway, Some(BOB)).await?;
        let (to_ann, to_bob) = (Notices::of(&ann).await?, Notices::of(&bob).await?);
        ensure!(seen(&ann).await? == ["up_a"] && seen(&bob).await? == ["up_b"]);
        let wish = json!({"notifications": {"toolsListChanged": true}});
        let mut subscribed = ann_modern.open("subscriptions/listen", wish).await?;
        let first = subscribed.next(BOUND).await?.context("no acknowledgement")?;
        ensure!(first["method"] == "notifications/subscriptions/acknowledged", "{first}");
        ensure!(seen(&ann_modern).await? == ["up_a"]);

        server.lets_in(ANN, &["a", "more"]);
        ensure!(admin.post("upstreams/hub/up/reconnect").await?.status == 200);
        to_ann.until_changed("tools", 1, BOUND).await?;
        ensure!(seen(&ann).await? == ["up_a", "up_more"]);
        let note = subscribed.next(BOUND).await?.context("the subscription ended")?;
        ensure!(note["method"] == "notifications/tools/list_changed", "{note}");
        ensure!(seen(&bob).await? == ["up_b"]);
        // Then something changes for both: bob hears of that, and heard of nothing before.
        server.lets_in(ANN, &["a"]);
        server.lets_in(BOB, &["b", "new"]);
        ensure!(admin.post("upstreams/hub/up/reconnect").await?.status == 200);
        to_bob.until_changed("tools", 1, BOUND).await?;
        to_ann.until_changed("tools", 2, BOUND).await?;
        ensure!(to_bob.changes("tools") == 1, "{:?}", to_bob.all());
        ensure!(seen(&bob).await? == ["up_b", "up_new"] && seen(&ann).await? == ["up_a"]);
    }
    Ok(())
}

#[tokio::test]
async fn a_credential_that_is_no_good_any_more_ends_what_was_seen_with_it() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        server.lets_in(ANN, &["a"]);
        server.lets_in(BOB, &["b"]);
        let plugway = start(&server).await?;
        let [ann, ann_modern] = both(&plugway, Some(ANN)).await?;
        let [bob, _] = both(&plugway, Some(BOB)).await?;
        let told = Notices::of(&ann).await?;
        for client in [&ann, &ann_modern] {
            ensure!(client.call_text("up_a", json!({})).await?.contains("a for"));
        }
        ensure!(seen(&ann).await? == ["up_a"] && seen(&bob).await? == ["up_b"]);
        server.shuts_out(ANN);
        let result = ann.call_tool("up_a", json!({})).await?.to_string();
        ensure!(result.contains("your own credential"), "{result}");
        told.until_changed("tools", 1, BOUND).await?;
        for client in [&ann, &ann_modern] {
            ensure!(seen(client).await?.is_empty());
            ensure!(refusal(client, "up_a").await?.contains("your own credential"));
        }
        ensure!(
            seen(&bob).await? == ["up_b"] && bob.call_text("up_b", json!({})).await?.contains('b')
        );
        // A new token of the same caller is looked at when it comes.
        server.lets_in(ANN_TOO, &["a", "anew"]);
        let renewed = plugway.modern().with_token(Some(ANN_TOO));
        ensure!(seen(&renewed).await? == ["up_a", "up_anew"]);
        ensure!(renewed.call_text("up_anew", json!({})).await? == format!("anew for {ANN_TOO}"));
        told.until_changed("tools", 2, BOUND).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_comes_back_is_asked_for_each_caller_again() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        let address = server.address().to_string();
        server.lets_in(ANN, &["a"]);
        server.lets_in(BOB, &["b"]);
        let plugway = start(&server).await?;
        let [ann, _] = both(&plugway, Some(ANN)).await?;
        let [bob, _] = both(&plugway, Some(BOB)).await?;
        let told = Notices::of(&ann).await?;
        ensure!(ann.call_text("up_a", json!({})).await?.contains("a for"));
        ensure!(seen(&ann).await? == ["up_a"] && seen(&bob).await? == ["up_b"]);
        drop(server);
        told.until_changed("tools", 1, BOUND).await?;
        ensure!(seen(&ann).await?.is_empty());
        let result = ann.call_tool("up_a", json!({})).await?.to_string();
        ensure!(result.contains("away") || result.contains("reached"), "{result}");
        // Another version of it, which speaks the other era.
        let server = Strict::start_at(&address, !modern).await?;
        server.lets_in(ANN, &["a", "anew"]);
        server.lets_in(BOB, &["b"]);
        told.until_changed("tools", 2, BOUND).await?;
        until_seen(&ann, &["up_a", "up_anew"]).await?;
        until_seen(&bob, &["up_b"]).await?;
        let said = ann.call_text("up_anew", json!({})).await?;
        ensure!(said == format!("anew for {ANN}"), "{said}");
        ensure!(bob.call_text("up_b", json!({})).await? == format!("b for {BOB}"));
    }
    Ok(())
}

#[tokio::test]
async fn another_configuration_goes_on_with_what_callers_lent() -> Result<()> {
    let server = Strict::start(false).await?;
    server.lets_in(ANN, &["a"]);
    // With the name of the server everything is another one that it offers.
    let called = |name: &str| {
        let upstream = json!({"name": name, "url": server.url(), "auth": "forward"});
        json!({"name": "hub", "auth": auth(), "upstreams": [upstream]}).to_string()
    };
    let plugway = identified(Setup::new(called("up")), &json!({})).start().await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let told = Notices::of(&ann).await?;
    ensure!(seen(&ann).await? == ["up_a"]);
    plugway.reconfigure(&called("there"))?;
    told.until_changed("tools", 1, BOUND).await?;
    until_seen(&ann, &["there_a"]).await?;
    ensure!(ann.call_text("there_a", json!({})).await? == format!("a for {ANN}"));
    Ok(())
}
