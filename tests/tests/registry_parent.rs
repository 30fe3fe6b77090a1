//! A plugway that registers itself with another one.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Notices, Plugway, Recorder,
    plugway::Setup,
    registry::{LAB, RIVAL, Registry, audited, hub, setup},
    rpc::Client,
    tokens::ANN,
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(30);

/// A plugway with one server, which does not register itself yet.
async fn child(clock: &DemoHttp) -> Result<Plugway> {
    let start = Setup::new(configuration(clock, None).to_string());
    start.environment("PARENT", LAB).environment("OTHER", RIVAL).start().await
}

fn configuration(clock: &DemoHttp, register: Option<Value>) -> Value {
    let upstreams = json!([{"name": "clock", "url": clock.url()}]);
    let mut configuration = json!({"name": "lab", "upstreams": upstreams});
    if let (Some(register), Some(keys)) = (register, configuration.as_object_mut()) {
        keys.insert("register".to_owned(), register);
    }
    configuration
}

fn register(parent: &Plugway, child: &Plugway, name: &str, token: &str) -> Value {
    json!({
        "url": format!("{}/registry", parent.base_url()), "public_url": child.mcp_url(),
        "name": name, "token": format!("env://{token}"), "ttl": "60s", "labels": {"zone": "test"},
    })
}

async fn until_tools(client: &Client, prefix: &str, there: bool) -> Result<()> {
    wait::until(&format!("tools of {prefix}: {there}"), BOUND, async || {
        let names = client.tool_names().await?;
        Ok((names.iter().any(|name| name.starts_with(prefix)) == there).then_some(()))
    })
    .await
}

async fn degraded(plugway: &Plugway) -> Result<String> {
    let ready = plugway.get("/ready").await?;
    ensure!(ready.status == 200, "calls are served all the same");
    Ok(ready.json()?.get("degraded").context("no `degraded`")?.to_string())
}

#[tokio::test]
async fn a_child_is_served_by_its_parent_and_leaves_when_it_stops() -> Result<()> {
    let (own, clock) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let upstreams = json!([{"name": "own", "url": own.url()}]);
    let parent = setup(&hub(&upstreams, &json!({}))).start().await?;
    let client = Client::legacy_as(parent.address(), "/mcp", ANN).await?;
    let before = client.tool_names().await?;
    let notices = Notices::of(&client).await?;
    let child = child(&clock).await?;
    let wanted = register(&parent, &child, "w-lab", "PARENT");
    child.reconfigure(&configuration(&clock, Some(wanted)).to_string())?;

    until_tools(&client, "w-lab_clock_", true).await?;
    let said = client.call_text("w-lab_clock_echo", json!({"message": "through both"})).await?;
    ensure!(said.contains("through both"), "{said}");
    let lease = Registry::of(&parent, LAB).until("w-lab", "serving").await?;
    ensure!(lease.pointer("/labels/zone").is_some_and(|zone| zone == "test"), "{lease}");
    ensure!(degraded(&child).await? == "[]");
    notices.until_changed("tools", 1, BOUND).await?;

    ensure!(child.stop().await?.success());
    until_tools(&client, "w-lab_", false).await?;
    ensure!(client.tool_names().await? == before);
    notices.until_changed("tools", 2, BOUND).await?;
    ensure!(notices.changes("tools") == 2, "{:?}", notices.all());
    ensure!(notices.messages().is_empty(), "it said goodbye: {:?}", notices.all());
    let expected = ["lab lease-register hub/w-lab done", "lab lease-remove hub/w-lab done"];
    let lines = audited(&parent);
    let acts: Vec<&String> = lines.iter().filter(|line| !line.contains("lease-look")).collect();
    ensure!(acts == expected, "{acts:?}");
    Ok(())
}

#[tokio::test]
async fn heavy_a_lease_that_nobody_renews_lapses_and_one_that_is_renewed_stays() -> Result<()> {
    const TTL: Duration = Duration::from_mins(1);
    let (lost, clock) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let parent = setup(&hub(&json!([]), &json!({}))).start().await?;
    let client = Client::legacy_as(parent.address(), "/mcp", ANN).await?;
    let notices = Notices::of(&client).await?;
    let lab = Registry::of(&parent, LAB);
    lab.registered("w-lost", lost.url()).await?;
    let since = Instant::now();
    notices.until_changed("tools", 1, BOUND).await?;
    let child = child(&clock).await?;
    let wanted = register(&parent, &child, "w-lab", "PARENT");
    child.reconfigure(&configuration(&clock, Some(wanted)).to_string())?;
    notices.until_changed("tools", 2, BOUND).await?;

    let until_audited = async |line: &str| {
        wait::until(line, TTL + BOUND, async || {
            Ok(audited(&parent).iter().any(|said| said == line).then_some(()))
        })
        .await
    };
    until_audited("lab lease-renew hub/w-lab done").await?;
    ensure!(client.tool_names().await?.contains(&"w-lost_echo".to_owned()), "before its time");
    until_audited("lab lease-lapse hub/w-lost done").await?;
    let lasted = since.elapsed();
    ensure!(lasted + Duration::from_secs(1) > TTL, "it lapsed after {lasted:?}");
    notices.until_changed("tools", 3, BOUND).await?;
    let names = client.tool_names().await?;
    ensure!(!names.iter().any(|name| name.starts_with("w-lost_")), "{names:?}");
    let said = client.call_text("w-lab_clock_echo", json!({"message": "still there"})).await?;
    ensure!(said.contains("still there"), "{said}");
    ensure!(lab.ask(http::Method::GET, "/w-lost", "").await?.status == 404);

    // What the end of the other one leads to comes after whatever the lapse led to.
    ensure!(child.stop().await?.success());
    notices.until_changed("tools", 4, BOUND).await?;
    ensure!(notices.changes("tools") == 4, "{:?}", notices.all());
    let lapses = audited(&parent).iter().filter(|line| line.contains("lease-lapse")).count();
    ensure!(lapses == 1, "{:?}", audited(&parent));
    Ok(())
}

#[tokio::test]
async fn what_the_parent_refuses_is_said_once_and_heals_with_the_configuration() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let parent = setup(&hub(&json!([]), &json!({}))).start().await?;
    // The name is somebody else's.
    Registry::of(&parent, LAB).registered("w-lab", "http://127.0.0.1:9").await?;
    let child = child(&clock).await?;
    let set = |name: &str, token: &str| {
        let wanted = register(&parent, &child, name, token);
        child.reconfigure(&configuration(&clock, Some(wanted)).to_string())
    };
    set("w-lab", "OTHER")?;
    let said = "it is not registered at";
    child.logged("belongs to somebody else", BOUND).await?;
    let tries = || audited(&parent).iter().filter(|line| line.ends_with(" refused")).count();
    wait::until("it is tried again", BOUND, async || Ok((tries() >= 2).then_some(()))).await?;
    let lines = child.stderr();
    ensure!(lines.iter().filter(|line| line.contains(said)).count() == 1, "{lines:?}");
    ensure!(degraded(&child).await?.contains("The name \\\"w-lab\\\" belongs to somebody else."));
    ensure!(child.modern().tool_names().await?.contains(&"clock_echo".to_owned()), "it serves");

    // Under another name it is taken, and then under yet another: the lease before that one is ended.
    let rival = Registry::of(&parent, RIVAL);
    set("w-two", "OTHER")?;
    until_lease(&rival, "w-two").await?;
    wait::until("all is well", BOUND, async || Ok((degraded(&child).await? == "[]").then_some(())))
        .await?;
    set("w-three", "OTHER")?;
    until_lease(&rival, "w-three").await?;
    ensure!(rival.ask(http::Method::GET, "/w-two", "").await?.status == 404);
    let log = [child.stderr(), parent.stderr()].concat().join("\n");
    ensure!(!log.contains(RIVAL) && !log.contains(LAB), "a token in the log");
    Ok(())
}

async fn until_lease(registry: &Registry, name: &str) -> Result<()> {
    wait::until(&format!("there is a lease {name}"), BOUND, async || {
        let answer = registry.ask(http::Method::GET, &format!("/{name}"), "").await?;
        Ok((answer.status == 200).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_parent_that_is_away_keeps_nobody_from_serving_or_stopping() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let gone = DemoHttp::start(&[]).await?;
    let base = format!("http://{}/registry", gone.address());
    gone.kill().await?;
    let register =
        json!({"url": base, "public_url": "http://127.0.0.1:9/mcp", "token": "env://PARENT"});
    let start = Setup::new(configuration(&clock, Some(register)).to_string());
    let child = start.environment("PARENT", LAB).start().await?;
    child.logged("which cannot be asked", BOUND).await?;
    ensure!(degraded(&child).await?.contains("which cannot be asked"));
    ensure!(child.modern().tool_names().await?.contains(&"clock_echo".to_owned()));
    ensure!(child.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn a_connector_with_another_name_keeps_its_lease() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let parent = setup(&hub(&json!([]), &json!({}))).start().await?;
    let child = child(&clock).await?;
    let wanted = register(&parent, &child, "w-lab", "PARENT");
    let mut configuration = configuration(&clock, Some(wanted));
    child.reconfigure(&configuration.to_string())?;
    until_lease(&Registry::of(&parent, LAB), "w-lab").await?;
    configuration["name"] = json!("renamed");
    child.reconfigure(&configuration.to_string())?;
    let acts = || {
        let lines = audited(&parent).into_iter();
        lines.filter(|line| !line.contains("lease-look")).collect::<Vec<String>>()
    };
    wait::until("it registers again", BOUND, async || Ok((acts().len() >= 2).then_some(())))
        .await?;
    ensure!(child.stop().await?.success());
    let expected =
        ["register", "renew", "remove"].map(|act| format!("lab lease-{act} hub/w-lab done"));
    ensure!(acts() == expected, "{:?}", acts());
    Ok(())
}

#[tokio::test]
async fn a_child_that_is_held_back_says_so_and_ends_no_lease_but_its_own() -> Result<()> {
    let (clock, recorder) = (DemoHttp::start(&[]).await?, Recorder::start().await?);
    let entry = json!([{"name": "w-lab", "accept_leases": ["lab"]}]);
    let parent = setup(&hub(&entry, &json!({}))).start().await?;
    let lab = Registry::of(&parent, LAB);
    lab.registered("w-lab", &recorder.url()).await?;
    let client = Client::legacy_as(parent.address(), "/mcp", ANN).await?;
    until_tools(&client, "w-lab_look", true).await?;
    let child = child(&clock).await?;
    let wanted = register(&parent, &child, "w-lab", "PARENT");
    child.reconfigure(&configuration(&clock, Some(wanted)).to_string())?;
    wait::until("/ready says why", BOUND, async || {
        let said = degraded(&child).await?;
        Ok((said.contains("which does not serve it") && said.contains("differ")).then_some(()))
    })
    .await?;
    ensure!(child.stop().await?.success());
    ensure!(audited(&parent).contains(&"lab lease-leave hub/w-lab done".to_owned()));
    let lease = lab.lease("w-lab").await?;
    ensure!(lease["state"] == "serving" && lease["url"] == recorder.url(), "{lease}");
    client.call_tool("w-lab_look", json!({"text": "x"})).await?;
    Ok(())
}
