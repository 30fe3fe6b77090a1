//! Servers that register themselves: they are served, and leave again, and nobody else notices.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Notices, Plugway, Recorder,
    admin::Admin,
    metrics,
    registry::{LAB, Registry, audited, hub, setup},
    rpc::{Client, Events},
    tokens::ANN,
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(30);

async fn started(upstreams: &Value, more: &Value) -> Result<Plugway> {
    setup(&hub(upstreams, more)).start().await
}

fn before(clock: &DemoHttp) -> Value {
    json!([{"name": "clock", "url": clock.url()}])
}

async fn until_tools(client: &Client, prefix: &str, there: bool) -> Result<()> {
    let what = format!("tools of {prefix}: {there}");
    wait::until(&what, BOUND, async || {
        let names = client.tool_names().await?;
        Ok((names.iter().any(|name| name.starts_with(prefix)) == there).then_some(()))
    })
    .await
}

/// Waits until no more than that was put in place: what leads to nothing would come before what leads to something.
fn applied(plugway: &Plugway) -> usize {
    let lines = plugway.stderr();
    let is_one = |line: &&String| {
        line.contains("configuration applied") && line.contains("\"cause\":\"leases\"")
    };
    lines.iter().filter(is_one).count()
}

#[tokio::test]
async fn a_server_comes_and_goes_with_one_message_each() -> Result<()> {
    let (clock, leased) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let admin = json!({"admin": {"listen": "127.0.0.1:0", "token_file": "admin.token"}});
    let plugway = started(&before(&clock), &admin).await?;
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let before = client.tool_names().await?;
    let notices = Notices::of(&client).await?;
    let lab = Registry::of(&plugway, LAB);

    let answer = lab.register("w1", leased.url()).await?;
    ensure!(answer.status == 201, "{} {}", answer.status, answer.text());
    let lease = answer.json()?;
    ensure!(lease["name"] == "w1" && lease["ttl"] == 60 && lease["state"] == "joining", "{lease}");
    ensure!(lease["expires_in"].as_f64().is_some_and(|left| left > 50.0), "{lease}");
    notices.until_changed("tools", 1, BOUND).await?;
    let said = client.call_text("w1_echo", json!({"message": "hi"})).await?;
    ensure!(said.contains("hi"), "{said}");
    let lease = lab.until("w1", "serving").await?;
    ensure!(lease["phase"] == "connected" && lease["reason"].is_null(), "{lease}");

    let admin = Admin::of(&plugway).await?;
    let upstreams = admin.get("upstreams").await?;
    let origins: Vec<&Value> =
        [0, 1].iter().map(|at| &upstreams["upstreams"][at]["origin"]).collect();
    ensure!(origins == ["file", "lease"], "{upstreams}");
    ensure!(upstreams["upstreams"][1]["holder"] == "lab", "{upstreams}");
    let leases = async |state: &str| {
        metrics::sum(&plugway, "plugway_registry_leases", &[("state", state)]).await
    };
    ensure!((leases("serving").await? - 1.0).abs() < 0.1);

    let answer = lab.register("w1", leased.url()).await?;
    ensure!(answer.status == 200 && answer.json()?["state"] == "serving", "{}", answer.text());
    let answer = lab.remove("w1").await?;
    ensure!(answer.status == 200 && answer.json()?["removed"] == "w1", "{}", answer.text());
    notices.until_changed("tools", 2, BOUND).await?;
    ensure!(client.tool_names().await? == before);
    ensure!(leases("serving").await? < 0.1);
    ensure!(lab.ask(http::Method::GET, "/w1", "").await?.status == 404);
    // What another lease leads to comes after whatever the end of the first one led to.
    lab.registered("w2", leased.url()).await?;
    notices.until_changed("tools", 3, BOUND).await?;
    ensure!(notices.changes("tools") == 3, "{:?}", notices.all());
    ensure!(notices.messages().is_empty(), "nobody was away: {:?}", notices.all());
    ensure!(client.call_text("clock_echo", json!({"message": "x"})).await?.contains('x'));

    let expected = [
        "lab lease-register hub/w1 done",
        "lab lease-renew hub/w1 done",
        "lab lease-remove hub/w1 done",
        "lab lease-look hub/w1 refused",
        "lab lease-register hub/w2 done",
    ];
    ensure!(audited(&plugway) == expected, "{:?}", audited(&plugway));
    Ok(())
}

#[tokio::test]
async fn others_notice_nothing_of_servers_that_come_and_go() -> Result<()> {
    let (clock, leased) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let plugway = started(&before(&clock), &json!({})).await?;
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    client.call_text("clock_echo", json!({"message": "first"})).await?;
    let handshakes = clock.count("initialize").await?;
    let lab = Registry::of(&plugway, LAB);
    let calling = async {
        let mut calls: u64 = 0;
        while applied(&plugway) < 6 {
            let text = format!("call {calls}");
            let said = client.call_text("clock_echo", json!({"message": text})).await?;
            ensure!(said.contains(&text), "{said}");
            calls += 1;
        }
        Ok(calls)
    };
    let churning = async {
        for _ in 0..3 {
            lab.registered("w1", leased.url()).await?;
            lab.until("w1", "serving").await?;
            let before = applied(&plugway);
            lab.remove("w1").await?;
            wait::until("the lease is gone", BOUND, async || {
                Ok((applied(&plugway) > before).then_some(()))
            })
            .await?;
        }
        Ok(())
    };
    let (calls, ()) = tokio::try_join!(calling, churning)?;
    ensure!(calls > 6, "only {calls} calls");
    ensure!(clock.count("initialize").await? == handshakes, "another session was opened");
    ensure!(clock.count("tools/call").await? >= calls);
    Ok(())
}

#[tokio::test]
async fn a_stream_of_the_modern_era_goes_on_and_is_told_once() -> Result<()> {
    let (clock, leased) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let plugway = started(&before(&clock), &json!({})).await?;
    let client = Client::modern_as(plugway.address(), "/mcp", ANN);
    let wishes = json!({"notifications": {"toolsListChanged": true}});
    let mut events = client.open("subscriptions/listen", wishes).await?;
    events.next(BOUND).await?.context("not acknowledged")?;
    let lab = Registry::of(&plugway, LAB);
    for round in ["come", "gone", "come again"] {
        if round == "gone" {
            lab.remove("w1").await?;
        } else {
            lab.registered("w1", leased.url()).await?;
        }
        let told = events.next(BOUND).await?.with_context(|| format!("{round}: it ended"))?;
        ensure!(told["method"] == "notifications/tools/list_changed", "{round}: {told}");
        until_tools(&client, "w1_", round != "gone").await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_moves_ends_no_stream_but_those_that_listen_at_servers() -> Result<()> {
    const NOTE: &str = "board://notes/a";
    let board = DemoHttp::board("127.0.0.1:0", "modern").await?;
    let (leased, other) = (DemoHttp::start(&[]).await?, Recorder::start().await?);
    let upstreams = json!([{"name": "board", "url": board.url()}]);
    let plugway = started(&upstreams, &json!({})).await?;
    let client = Client::modern_as(plugway.address(), "/mcp", ANN);
    let lab = Registry::of(&plugway, LAB);
    lab.registered("w1", leased.url()).await?;
    until_tools(&client, "w1_echo", true).await?;
    let listen = async |wishes: Value| -> Result<Events> {
        let wishes = json!({"notifications": wishes});
        let mut events = client.open("subscriptions/listen", wishes).await?;
        events.next(BOUND).await?.context("not acknowledged")?;
        Ok(events)
    };
    let mut lists = listen(json!({"toolsListChanged": true})).await?;
    let mut servers = listen(json!({"resourceSubscriptions": [NOTE]})).await?;
    lab.registered("w1", &other.url()).await?;
    let told = lists.next(BOUND).await?.context("it ended")?;
    ensure!(told["method"] == "notifications/tools/list_changed", "{told}");
    until_tools(&client, "w1_look", true).await?;
    while servers.next(BOUND).await?.is_some() {}
    // It still tells.
    lab.remove("w1").await?;
    until_tools(&client, "w1_", false).await?;
    let told = lists.next(BOUND).await?.context("it ended later")?;
    ensure!(told["method"] == "notifications/tools/list_changed", "{told}");
    Ok(())
}

#[tokio::test]
async fn a_stream_that_listens_at_a_server_ends_with_its_lease_and_no_other_does() -> Result<()> {
    const NOTE: &str = "board://notes/a";
    let (clock, board) =
        (DemoHttp::start(&[]).await?, DemoHttp::board("127.0.0.1:0", "modern").await?);
    let grace = json!({"limits": {"shutdown_grace": "1s"}});
    let plugway = started(&before(&clock), &grace).await?;
    let client = Client::modern_as(plugway.address(), "/mcp", ANN);
    let lab = Registry::of(&plugway, LAB);
    lab.registered("w1", board.url()).await?;
    until_tools(&client, "w1_", true).await?;
    let listen = async |wishes: Value| -> Result<Events> {
        let wishes = json!({"notifications": wishes});
        let mut events = client.open("subscriptions/listen", wishes).await?;
        events.next(BOUND).await?.context("not acknowledged")?;
        Ok(events)
    };
    let mut there = listen(json!({"resourceSubscriptions": [NOTE]})).await?;
    let mut elsewhere = listen(json!({"toolsListChanged": true})).await?;
    lab.remove("w1").await?;
    while let Some(message) = there.next(BOUND).await? {
        ensure!(message["method"] == "notifications/resources/updated", "{message}");
    }
    let told = elsewhere.next(BOUND).await?.context("it ended")?;
    ensure!(told["method"] == "notifications/tools/list_changed", "{told}");
    lab.registered("w2", clock.url()).await?;
    let told = elsewhere.next(BOUND).await?.context("it ended, too")?;
    ensure!(told["method"] == "notifications/tools/list_changed", "{told}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_down_is_like_any_other_and_a_burst_is_one_change() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let gone = DemoHttp::start(&[]).await?;
    let (address, url) = (gone.address(), gone.url().to_owned());
    gone.kill().await?;
    let plugway = started(&before(&clock), &json!({})).await?;
    let lab = Registry::of(&plugway, LAB);
    for n in 0..12 {
        lab.registered(&format!("w{n}"), &url).await?;
    }
    for n in 0..12 {
        let lease = lab.until(&format!("w{n}"), "serving").await?;
        ensure!(lease["phase"] != "connected", "{lease}");
    }
    ensure!((1..=4).contains(&applied(&plugway)), "{} changes", applied(&plugway));
    ensure!(plugway.get("/ready").await?.status == 200, "the file's server is there");
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    ensure!(!client.tool_names().await?.iter().any(|name| name.starts_with('w')));
    let _back = DemoHttp::start_at(&address.to_string(), &[]).await?;
    until_tools(&client, "w11_", true).await
}

#[tokio::test]
async fn a_changed_file_keeps_leases_and_goes_before_them() -> Result<()> {
    let (clock, leased) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let plugway = started(&before(&clock), &json!({})).await?;
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let lab = Registry::of(&plugway, LAB);
    lab.registered("w1", leased.url()).await?;
    until_tools(&client, "w1_", true).await?;
    client.call_text("w1_echo", json!({"message": "x"})).await?;
    let handshakes = leased.count("initialize").await?;

    let other = json!({"name": "other", "url": clock.url()});
    let mut upstreams = before(&clock);
    upstreams.as_array_mut().context("no list")?.push(other);
    plugway.reconfigure(&hub(&upstreams, &json!({})).to_string())?;
    until_tools(&client, "other_", true).await?;
    client.call_text("w1_echo", json!({"message": "x"})).await?;
    ensure!(leased.count("initialize").await? == handshakes, "it runs on");

    // The file takes the name: the lease is held back, until the name is free again.
    let own = json!([{"name": "w1", "url": clock.url(), "expose": ["count"]}]);
    plugway.reconfigure(&hub(&own, &json!({})).to_string())?;
    let lease = lab.until("w1", "held").await?;
    let why = lease["reason"].as_str().context("no reason")?;
    ensure!(why.contains("belongs to the configuration"), "{why}");
    ensure!(client.tool_names().await?.contains(&"w1_count".to_owned()));
    plugway.reconfigure(&hub(&before(&clock), &json!({})).to_string())?;
    lab.until("w1", "serving").await?;
    until_tools(&client, "w1_echo", true).await
}

#[tokio::test]
async fn a_leased_server_gets_nobodys_credential() -> Result<()> {
    let recorder = Recorder::start().await?;
    let plugway = started(&json!([]), &json!({})).await?;
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let lab = Registry::of(&plugway, LAB);
    lab.registered("w1", &recorder.url()).await?;
    until_tools(&client, "w1_look", true).await?;
    client.call_tool("w1_look", json!({"text": "x"})).await?;
    let call = recorder.last()?;
    ensure!(call.headers.get("authorization").is_none(), "{:?}", call.headers);
    ensure!(!call.text().contains(ANN) && !call.text().contains(LAB));
    let log = plugway.stderr().join("\n");
    ensure!(!log.contains(LAB) && !log.contains(ANN), "a token in the log");
    Ok(())
}

#[tokio::test]
async fn an_entry_of_the_file_takes_the_address_of_a_lease_with_its_own_words() -> Result<()> {
    let (recorder, same, other) =
        (Recorder::start().await?, Recorder::start().await?, DemoHttp::start(&[]).await?);
    let entry = json!([{
        "name": "chem", "accept_leases": ["lab"], "prefix": "never",
        "auth": {"mode": "bearer", "token": "env://CHEM"},
    }]);
    let plugway = setup(&hub(&entry, &json!({}))).environment("CHEM", "chem-token").start().await?;
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    ensure!(!client.tool_names().await?.contains(&"look".to_owned()));
    let lab = Registry::of(&plugway, LAB);
    lab.registered("chem", &recorder.url()).await?;
    until_tools(&client, "look", true).await?;
    client.call_tool("look", json!({"text": "x"})).await?;
    let sent = recorder.last()?;
    let sent = sent.headers.get("authorization").context("no credential")?;
    ensure!(sent == "Bearer chem-token", "{sent:?}");

    // Another server does not take over, and the one that serves stays.
    let answer = lab.registered("chem", other.url()).await?;
    ensure!(answer["state"] == "held" && answer["url"] == other.url(), "{answer}");
    let reason = wait::until("the tools are compared", BOUND, async || {
        let lease = lab.lease("chem").await?;
        let reason = lease["reason"].as_str().unwrap_or_default().to_owned();
        Ok(reason.contains("differ").then_some(reason))
    })
    .await?;
    ensure!(reason.contains("\"look\"") && reason.contains("\"echo\""), "{reason}");
    client.call_tool("look", json!({"text": "y"})).await?;
    ensure!(recorder.calls().len() == 2);

    // One with the same tools does.
    lab.registered("chem", &same.url()).await?;
    let lease = lab.until("chem", "serving").await?;
    ensure!(lease["url"] == same.url(), "{lease}");
    client.call_tool("look", json!({"text": "z"})).await?;
    ensure!(same.calls().len() == 1 && recorder.calls().len() == 2);

    lab.remove("chem").await?;
    until_tools(&client, "look", false).await?;
    let lines = audited(&plugway);
    ensure!(lines.contains(&"lab lease-move hub/chem failed".to_owned()), "{lines:?}");
    ensure!(lines.contains(&"lab lease-move hub/chem done".to_owned()), "{lines:?}");
    Ok(())
}
