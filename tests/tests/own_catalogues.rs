//! Servers that say what they offer to callers with credentials of their own only: each caller sees what it is offered, calls
//! it and hears of its changes, and nobody else does.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use plugway_tests::admin::Admin;
use plugway_tests::strict::Strict;
use plugway_tests::tokens::{ANN, ANN_TOO, BOB, EVE, auth, identified};
use plugway_tests::{Hub, Notices, Plugway, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
/// What the connector shows besides.
const STATUS: &str = "hub_status";
const PER_CALLER: &str = "what it offers is read for each caller";

/// The server as an upstream: it is looked at often, so that an outage is seen.
fn before(server: &Strict) -> Hub {
    let often = json!({
        "auth": "forward", "health_check_interval": "100ms", "health_check_timeout": "1s",
        "reconnect": {"initial": "100ms", "max": "200ms"}, "stale_for": "0s",
    });
    let admin = json!({"listen": "127.0.0.1:0", "token_file": "admin.token"});
    Hub::new("hub").upstream_with("up", &server.url(), often).top("admin", admin)
}

/// plugway with callers that it knows, and strangers.
async fn start(server: &Strict) -> Result<Plugway> {
    let hub = before(server).key("anonymous", json!(true)).top("auth", auth());
    identified(hub.setup()?, &json!({})).start().await
}

/// A client of each era.
async fn both(plugway: &Plugway, token: Option<&str>) -> Result<[Client; 2]> {
    let modern = plugway.modern().with_token(token);
    let legacy = match token {
        Some(token) => Client::legacy_as(plugway.address(), "/mcp", token).await?,
        None => plugway.legacy().await?,
    };
    Ok([legacy, modern])
}

/// What a client sees of the server.
async fn seen(client: &Client) -> Result<Vec<String>> {
    let names = client.tool_names().await?;
    Ok(names.into_iter().filter(|name| name != STATUS).collect())
}

async fn until_seen(client: &Client, wanted: &[&str]) -> Result<()> {
    wait::until(&format!("{wanted:?} are seen"), BOUND, async || {
        Ok((seen(client).await? == wanted).then_some(()))
    })
    .await
    .with_context(|| format!("{wanted:?}"))
}

/// The error of a call that is not possible.
async fn refusal(client: &Client, tool: &str) -> Result<String> {
    let reply = client.call("tools/call", json!({"name": tool, "arguments": {}})).await?;
    let message = reply.response()?.pointer("/error/message").and_then(Value::as_str);
    message.map(str::to_owned).with_context(|| reply.text.clone())
}

#[tokio::test]
async fn each_caller_lists_and_calls_what_it_is_offered() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        server.lets_in(ANN, &["both", "anns"]);
        server.lets_in(BOB, &["both", "bobs"]);
        let plugway = start(&server).await?;
        plugway.logged(PER_CALLER, BOUND).await?;
        let health = plugway.get("/health").await?.json()?;
        ensure!(health["upstreams"]["up"] == "connected", "{health}");
        for (token, own, others) in [(ANN, "anns", "bobs"), (BOB, "bobs", "anns")] {
            for client in both(&plugway, Some(token)).await? {
                ensure!(seen(&client).await? == ["up_both", &format!("up_{own}")], "{token}");
                for tool in ["both", own] {
                    let said = client.call_text(&format!("up_{tool}"), json!({})).await?;
                    ensure!(said == format!("{tool} for {token}"), "{said}");
                }
                let refused = refusal(&client, &format!("up_{others}")).await?;
                ensure!(refused.starts_with("Unknown tool"), "{refused}");
                ensure!(!refused.contains("credential"), "it is not for want of one: {refused}");
                let status = client.call_text(STATUS, json!({})).await?;
                ensure!(
                    status.contains(&format!("up_{own}")) && !status.contains(others),
                    "{status}"
                );
            }
            ensure!(server.asked(token, "tools/list") == 1, "{token} is asked for once");
        }
        // plugway knows eve, the server does not; it knows nothing of strangers.
        for (token, why) in [(Some(EVE), "refuses your own credential"), (None, "you sent none")] {
            for client in both(&plugway, token).await? {
                ensure!(seen(&client).await?.is_empty(), "{token:?}");
                let refused = refusal(&client, "up_both").await?;
                ensure!(
                    refused.contains(why) && refused.contains("\"up\""),
                    "{token:?}: {refused}"
                );
            }
        }
        let log = plugway.stderr().join("\n");
        for token in [ANN, BOB, EVE] {
            ensure!(!log.contains(token), "a credential in the log");
        }
        if !modern {
            wait::until("sessions for reading are ended", BOUND, async || {
                // Those of the four clients that called something.
                Ok((server.sessions() <= 4).then_some(()))
            })
            .await?;
        }
        ensure!(plugway.stop().await?.success());
    }
    Ok(())
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
            seen(&bob).await? == ["up_b"] && bob.call_text("up_b", json!({})).await?.contains("b")
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

/// As the forms of agora-workbench have it: plugway identifies nobody, the servers do.
#[tokio::test]
async fn whom_nobody_identified_sees_what_its_credential_is_offered() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        server.lets_in(ANN, &["a"]);
        server.lets_in(BOB, &["b"]);
        let plugway = before(&server).start().await?;
        let admin = Admin::of(&plugway).await?;
        let [ann, ann_modern] = both(&plugway, Some(ANN)).await?;
        let [stranger, stranger_modern] = both(&plugway, None).await?;
        let told = Notices::of(&ann).await?;
        for (client, token, own) in [
            (&ann, ANN, "a"),
            (&ann_modern, ANN, "a"),
            (&plugway.modern().with_token(Some(BOB)), BOB, "b"),
        ] {
            ensure!(seen(client).await? == [format!("up_{own}")], "{token}");
            let said = client.call_text(&format!("up_{own}"), json!({})).await?;
            ensure!(said == format!("{own} for {token}"), "{said}");
        }
        ensure!(server.asked(ANN, "tools/list") == 1);
        for client in [&stranger, &stranger_modern] {
            ensure!(seen(client).await?.is_empty());
            ensure!(refusal(client, "up_a").await?.contains("you sent none"));
        }
        let list = ann_modern.call("tools/list", json!({})).await?;
        ensure!(list.result()?["cacheScope"] == "private", "{}", list.text);
        // What a session came with first counts for its news, what it comes with now for what it sees.
        server.lets_in(ANN, &["a", "more"]);
        ensure!(admin.post("upstreams/hub/up/reconnect").await?.status == 200);
        told.until_changed("tools", 1, BOUND).await?;
        ensure!(seen(&ann).await? == ["up_a", "up_more"]);
        let ann = ann.with_token(Some(BOB));
        ensure!(seen(&ann).await? == ["up_b"], "another credential sees something else");
        let ann = ann.with_token(None);
        ensure!(seen(&ann).await?.is_empty(), "and without one nothing");
    }
    Ok(())
}

#[tokio::test]
async fn heavy_more_callers_than_are_kept_see_their_own_all_the_same() -> Result<()> {
    const CALLERS: usize = 300;
    let server = Strict::start(true).await?;
    let token = |number: usize| format!("caller-{number:04}-0123456789");
    let mut tokens = serde_json::Map::new();
    for number in 0..CALLERS {
        server.lets_in(&token(number), &[&format!("t{number}")]);
        tokens.insert(token(number), json!({"client_id": format!("c{number}")}));
    }
    let hub = before(&server).top("auth", auth());
    let plugway = identified(hub.setup()?, &Value::Object(tokens)).start().await?;
    let sees_its_own = async |number: usize| {
        let client = plugway.modern().with_token(Some(&token(number)));
        ensure!(seen(&client).await? == [format!("up_t{number}")], "{number}");
        let said = client.call_text(&format!("up_t{number}"), json!({})).await?;
        ensure!(said == format!("t{number} for {}", token(number)), "{said}");
        Ok(())
    };
    let all: Vec<usize> = (0..CALLERS).collect();
    for some in all.chunks(20) {
        try_join_all(some.iter().map(|number| sees_its_own(*number))).await?;
    }
    // The last ones are known; the first ones made room, and are asked for again.
    let lists = |number: usize| server.asked(&token(number), "tools/list");
    let before: BTreeSet<usize> = (0..CALLERS).map(lists).collect();
    ensure!(!before.contains(&0), "{before:?}");
    let last = lists(CALLERS - 1);
    sees_its_own(CALLERS - 1).await?;
    ensure!(lists(CALLERS - 1) == last);
    let first = lists(0);
    sees_its_own(0).await?;
    ensure!(lists(0) > first);
    let health = plugway.get("/health").await?.json()?;
    ensure!(health["upstreams"]["up"] == "connected", "{health}");
    Ok(())
}

#[tokio::test]
async fn functions_are_found_by_those_who_can_call_them() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        server.lets_in(ANN, &["execute_lab_code"]);
        server.lets_in(BOB, &["other"]);
        let hub = before(&server).key("anonymous", json!(true)).top("auth", auth());
        let hub = hub.router_config(&json!({"unified_tools": true}));
        let plugway = identified(hub.setup()?, &json!({})).start().await?;
        for (token, finds) in [(Some(ANN), true), (Some(BOB), false), (None, false)] {
            for client in both(&plugway, token).await? {
                let wanted = json!({"query": "melt a lattice"});
                let found = client.call_text("search_hub_tools", wanted).await?;
                ensure!(found.contains("\"melt\"") == finds, "{token:?}: {found}");
            }
        }
        ensure!(server.asked("", "/catalog") >= 1);
        ensure!(server.asked(ANN, "/catalog") == 0, "it is never asked for with a credential");
    }
    Ok(())
}
