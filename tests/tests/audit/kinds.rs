//! What is told besides calls.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::admin::Admin;
use plugway_tests::asking::{accepted, elicitation, over_http};
use plugway_tests::tokens::{ANN, auth, identified};
use plugway_tests::{
    DemoHttp, Guest, Hub, Scripted, audit, http, plugway::Setup, rpc::Client, wait,
};
use serde_json::{Value, json};

use crate::{audited, call, scripted};

const BOUND: std::time::Duration = std::time::Duration::from_secs(20);

#[tokio::test]
async fn the_process_begins_and_ends_with_a_line() -> Result<()> {
    let (_server, plugway) = scripted(json!({"chain": true})).await?;
    let start = audit::until(&plugway, "start", 1).await?.remove(0);
    ensure!(start["version"].is_string() && start["config"].is_string(), "{start}");
    ensure!(start["chain"] == "sha256", "{start}");
    ensure!(start["digest_key"].as_str().is_some_and(|key| key.starts_with("random")), "{start}");
    let (_folder, lines) = plugway_tests::soak::audit::stopped(plugway).await?;
    let kinds: Vec<_> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    ensure!(kinds.first() == Some(&"start") && kinds.last() == Some(&"stop"), "{kinds:?}");
    Ok(())
}

#[tokio::test]
async fn who_is_not_let_in_is_told_and_a_flood_is_counted() -> Result<()> {
    let server = Scripted::start().await?;
    let configuration = json!({
        "name": "hub", "auth": auth(), "audit": {"file": audit::FILE},
        "upstreams": [{"name": "up", "url": server.url()}],
    });
    let plugway = identified(Setup::new(configuration.to_string()), &json!({})).start().await?;
    let stranger = Client::modern_as(plugway.address(), "/mcp", "wrong-0123456789abcdef");
    let all = 100;
    for _ in 0..all {
        ensure!(stranger.call("tools/list", json!({})).await?.status == 401);
    }
    let told = wait::until("every refusal is told or counted", BOUND, async || {
        let lines = audit::of_kind(&plugway, "authentication")?;
        let count = |line: &Value| line["count"].as_u64().unwrap_or(1);
        let sum: u64 = lines.iter().map(count).sum();
        Ok((sum == all).then_some(lines))
    })
    .await?;
    ensure!(told[0]["fault"] == "unauthenticated" && told[0]["connector"] == "hub", "{told:?}");
    ensure!(told.iter().all(|line| !line.to_string().contains("wrong-0123")), "{told:?}");
    ensure!(told.iter().all(|line| line["result"] == "refused"), "{told:?}");
    Ok(())
}

#[tokio::test]
async fn what_is_refused_before_it_is_a_call_is_told_once() -> Result<()> {
    let (_server, plugway) = scripted(json!({})).await?;
    let usual = [("mcp-protocol-version", "2025-11-25")];
    let post =
        async |text: &str| http::post(plugway.address(), "/mcp", &usual, text.to_owned()).await;
    post("{").await?;
    let lost = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("up_json", &json!({}))});
    post(&lost.to_string()).await?;
    // This one is a call, and has its own line.
    plugway.modern().call("tools/call", call("up_none", &json!({}))).await?;
    let calls = audit::until(&plugway, "call", 1).await?;
    ensure!(calls.len() == 1, "{calls:?}");
    let told = audit::until(&plugway, "refusal", 2).await?;
    let faults: Vec<_> = told.iter().filter_map(|line| line["fault"].as_str()).collect();
    ensure!(faults == ["parse-error", "session-missing"], "{told:?}");
    ensure!(told[1]["method"] == "tools/call" && told[1]["request_id"].is_string(), "{told:?}");
    Ok(())
}

#[tokio::test]
async fn sessions_open_and_close() -> Result<()> {
    let (_server, plugway) = scripted(json!({})).await?;
    let client = plugway.legacy().await?;
    let opened = audit::until(&plugway, "session-open", 1).await?;
    ensure!(opened[0]["client"] == "plugway-tests", "{opened:?}");
    ensure!(opened[0]["revision"] == "2025-11-25", "{opened:?}");
    ensure!(client.delete().await? == 204);
    let closed = audit::until(&plugway, "session-close", 1).await?;
    ensure!(closed[0]["session"] == opened[0]["session"], "{closed:?}");
    Ok(())
}

#[tokio::test]
async fn acts_of_administrators_and_reloads_stand_there_and_not_in_the_log() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let local = json!({"listen": "127.0.0.1:0", "token_file": "admin.token"});
    let hub = audited(Hub::before(clock.url()).top("admin", local), json!({}));
    let plugway = hub.start().await?;
    let admin = Admin::of(&plugway).await?;
    ensure!(admin.post("reload").await?.status == 200);
    let acts = audit::until(&plugway, "act", 1).await?;
    ensure!(acts[0]["action"] == "reload" && acts[0]["result"] == "done", "{acts:?}");
    ensure!(acts[0]["who"] == "holder of the token file", "{acts:?}");
    plugway.reconfigure("upstreams: [")?;
    ensure!(admin.post("reload").await?.status == 422);
    let reloads = audit::until(&plugway, "reload", 2).await?;
    ensure!(reloads[0]["result"] == "unchanged" && reloads[0]["cause"] == "admin", "{reloads:?}");
    let refused = reloads.iter().find(|line| line["result"] == "refused");
    ensure!(refused.is_some_and(|line| line["reason"].is_string()), "{reloads:?}");
    ensure!(!plugway.stderr().iter().any(|line| line.contains("\"target\":\"audit\"")));
    Ok(())
}

#[tokio::test]
async fn a_changed_configuration_and_a_changed_plugin() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let guest = Guest::new("admit_edit");
    let configuration = |description: &str| {
        json!({
            "name": "hub", "description": description, "audit": {"file": audit::FILE},
            "plugins": {"admit_edit": {"file": guest.file(), "limits": {"time_ms": 2000}}},
            "policies": ["admit_edit"], "upstreams": [{"name": "clock", "url": clock.url()}],
        })
        .to_string()
    };
    let setup = Setup::new(configuration("one")).file(&guest.file(), guest.bytes()?);
    let plugway = setup.start().await?;
    plugway.reconfigure(&configuration("two"))?;
    let reloads = audit::until(&plugway, "reload", 1).await?;
    ensure!(reloads[0]["result"] == "applied" && reloads[0]["cause"] == "file", "{reloads:?}");
    ensure!(reloads[0]["changes"] == json!(["~ connector hub: description"]), "{reloads:?}");
    plugway.write(&guest.file(), b"no component")?;
    let plugins = audit::until(&plugway, "plugin", 1).await?;
    ensure!(plugins[0]["plugin"] == "admit_edit" && plugins[0]["result"] == "refused");
    plugway.write(&guest.file(), Guest::new("review_echo").bytes()?)?;
    let plugins = audit::until(&plugway, "plugin", 2).await?;
    ensure!(plugins[1]["result"] == "applied", "{plugins:?}");
    ensure!(plugins[1]["digest"] != plugins[0]["digest"], "{plugins:?}");
    Ok(())
}

#[tokio::test]
async fn what_servers_ask_a_client_and_what_it_says() -> Result<()> {
    let web = over_http().await?;
    let plugway = audited(Hub::new("hub").upstream("web", web.url()), json!({})).start().await?;
    let client = Client::legacy_with(plugway.address(), "/mcp", json!({"elicitation": {}})).await?;
    let answers = [accepted("word"), json!({"action": "decline"}), json!({"action": "cancel"})];
    for answer in answers {
        let mut events = client.open("tools/call", call("web_ask", &elicitation("?"))).await?;
        let asked = events.next(BOUND).await?.context("nothing was asked")?;
        client.answer(&asked, answer).await?;
        events.next(BOUND).await?.context("no result")?;
    }
    let lines = audit::until(&plugway, "server-request", 3).await?;
    let outcomes: Vec<_> = lines.iter().filter_map(|line| line["outcome"].as_str()).collect();
    ensure!(outcomes == ["accept", "decline", "cancel"], "{lines:?}");
    ensure!(lines[0]["upstream"] == "web" && lines[0]["method"] == "elicitation/create");
    ensure!(lines[0]["session"].is_string() && !lines[0].to_string().contains("word"), "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn what_a_policy_refuses_of_a_server() -> Result<()> {
    let web = over_http().await?;
    let guest = Guest::new("inbound_by_method")
        .config(json!({"elicitation/create": {"reject": "Not here."}}));
    let hub = audited(Hub::new("hub").upstream("web", web.url()).policy(guest), json!({}));
    let plugway = hub.start().await?;
    let client = Client::legacy_with(plugway.address(), "/mcp", json!({"elicitation": {}})).await?;
    client.call("tools/call", call("web_ask", &elicitation("?"))).await?;
    let lines = audit::until(&plugway, "inbound", 1).await?;
    ensure!(lines[0]["decided_by"] == "inbound_by_method", "{lines:?}");
    ensure!(lines[0]["upstream"] == "web" && lines[0]["result"] == "refused", "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn nobody_is_told_anything_where_there_is_no_audit() -> Result<()> {
    let server = Scripted::start().await?;
    let configuration = json!({
        "name": "hub", "auth": auth(), "audit": "off",
        "upstreams": [{"name": "up", "url": server.url()}],
    });
    let plugway = identified(Setup::new(configuration.to_string()), &json!({})).start().await?;
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    client.call_tool("up_json", json!({})).await?;
    ensure!(plugway.modern().call("tools/list", json!({})).await?.status == 401);
    ensure!(audit::files(plugway.folder())?.is_empty());
    ensure!(!plugway.stderr().iter().any(|line| line.contains("\"target\":\"audit\"")));
    Ok(())
}
