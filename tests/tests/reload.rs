//! The configuration file changes while plugway serves.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use http::Request;
use http_body_util::Full;
use plugway_tests::{
    DemoHttp, Guest, Plugway, demo_notes_path, plugway::Setup, process, rpc::Client, wait,
};
use rustix::process::Signal;
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(30);
const CLIENTS: usize = 32;

/// A configuration of one connector with these upstreams.
fn hub(upstreams: &[Value]) -> String {
    json!({ "name": "hub", "upstreams": upstreams }).to_string()
}

fn remote(name: &str, url: &str) -> Value {
    json!({ "name": name, "url": url })
}

fn notes(name: &str) -> Result<Value> {
    Ok(json!({ "name": name, "command": demo_notes_path()? }))
}

/// Replaces the configuration and waits until it is in place.
async fn applied(plugway: &Plugway, configuration: &str) -> Result<()> {
    let before =
        plugway.stderr().iter().filter(|line| line.contains("configuration applied")).count();
    plugway.reconfigure(configuration)?;
    wait::until("the configuration is applied", BOUND, async || {
        let lines = plugway.stderr();
        let now = lines.iter().filter(|line| line.contains("configuration applied")).count();
        Ok((now > before).then_some(()))
    })
    .await
    .with_context(|| plugway.stderr().join("\n"))
}

async fn degraded(plugway: &Plugway) -> Result<Vec<String>> {
    let ready = plugway.get("/ready").await?.json()?;
    Ok(serde_json::from_value(ready["degraded"].clone())?)
}

async fn until_named(client: &Client, what: &str, fits: impl Fn(&[String]) -> bool) -> Result<()> {
    wait::until(what, BOUND, async || Ok(fits(&client.tool_names().await?).then_some(()))).await
}

#[tokio::test]
async fn heavy_clients_of_the_others_notice_nothing_when_upstreams_come_and_go() -> Result<()> {
    let clock = DemoHttp::start(&["--json"]).await?;
    let other = DemoHttp::start(&[]).await?;
    let stays = remote("clock", clock.url());
    let plugway = Plugway::start(hub(std::slice::from_ref(&stays))).await?;
    let clients = try_join_all((0..CLIENTS).map(|_| plugway.legacy())).await?;
    let call = async |client: &Client| -> Result<()> {
        let said = client.call_text("clock_echo", json!({"message": "hi"})).await?;
        ensure!(said == "hi", "{said}");
        Ok(())
    };
    try_join_all(clients.iter().map(call)).await?;
    let sessions = clock.count("initialize").await?;

    let (done, served) = (AtomicBool::new(false), AtomicU64::new(0));
    let load = try_join_all(clients.iter().map(async |client| {
        while !done.load(Ordering::Relaxed) {
            call(client).await?;
            let names = client.tool_names().await?;
            ensure!(names.iter().any(|name| name == "clock_echo"), "{names:?}");
            served.fetch_add(1, Ordering::Relaxed);
        }
        anyhow::Ok(())
    }));
    let changes = async {
        let driver = plugway.legacy().await?;
        for _ in 0..3 {
            applied(&plugway, &hub(&[stays.clone(), remote("other", other.url())])).await?;
            until_named(&driver, "the new server's tools", |names| {
                names.iter().any(|name| name == "other_echo")
            })
            .await?;
            applied(
                &plugway,
                &hub(&[remote("renamed", other.url()), notes("notes")?, stays.clone()]),
            )
            .await?;
            until_named(&driver, "the new name and the child's tools", |names| {
                names.iter().any(|name| name == "renamed_echo")
                    && names.iter().any(|name| name.starts_with("notes_"))
                    && !names.iter().any(|name| name.starts_with("other_"))
            })
            .await?;
            applied(&plugway, &hub(std::slice::from_ref(&stays))).await?;
            until_named(&driver, "only what stays", |names| {
                names.iter().all(|name| name.starts_with("clock_") || name.starts_with("hub_"))
            })
            .await?;
        }
        done.store(true, Ordering::Relaxed);
        anyhow::Ok(())
    };
    tokio::try_join!(load, changes)?;
    ensure!(served.into_inner() > 100);
    ensure!(clock.count("initialize").await? == sessions, "sessions were opened anew");
    let log = plugway.stderr().join("\n");
    ensure!(log.contains("+ upstream hub/other") && log.contains("- upstream hub/notes"), "{log}");
    let pid = plugway.pid()?;
    wait::until("the child of the removed upstream is gone", BOUND, async || {
        Ok(process::children(pid)?.is_empty().then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_call_that_runs_when_its_upstream_is_taken_out_still_ends() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let other = DemoHttp::start(&["--delay-ms", "1500"]).await?;
    let stays = remote("clock", clock.url());
    let plugway = Plugway::start(hub(&[stays.clone(), remote("other", other.url())])).await?;
    let client = plugway.legacy().await?;
    let slow = client.call_tool("other_echo", json!({"message": "late"}));
    let change = async {
        wait::until("the call is on its way", BOUND, async || {
            Ok((other.count("tools/call").await? > 0).then_some(()))
        })
        .await?;
        applied(&plugway, &hub(std::slice::from_ref(&stays))).await
    };
    let (answer, ()) = tokio::try_join!(slow, change)?;
    ensure!(answer["isError"] != true, "{answer}");
    let error = client.call("tools/call", json!({"name": "other_echo", "arguments": {}})).await?;
    ensure!(error.error_code()? == -32602, "{error:?}");
    Ok(())
}

#[tokio::test]
async fn a_broken_file_changes_nothing_and_is_reported() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let good = hub(&[remote("clock", clock.url())]);
    let plugway = Plugway::start(good.clone()).await?;
    let client = plugway.legacy().await?;
    let broken = [
        ("name: hub\nupstreems: []\n", "upstreems"),
        ("name: [", "YAML"),
        (
            "name: hub\npolicies: [{use: team}]\nplugins: {team: {file: none.wasm}}\n\
          upstreams: [{name: clock, url: 'http://127.0.0.1:1/mcp'}]\n",
            "team",
        ),
    ];
    for (text, word) in broken {
        plugway.reconfigure(text)?;
        wait::until(word, BOUND, async || {
            let said = degraded(&plugway).await?;
            Ok(said.iter().any(|line| line.contains(word)).then_some(()))
        })
        .await
        .with_context(|| plugway.stderr().join("\n"))?;
        ensure!(plugway.get("/ready").await?.status == 200);
        ensure!(client.call_text("clock_echo", json!({"message": "hi"})).await? == "hi");
    }
    plugway.logged("nothing changed", BOUND).await?;
    plugway.reconfigure(&good)?;
    wait::until("it is well again", BOUND, async || {
        Ok(degraded(&plugway).await?.is_empty().then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_hangup_reads_the_file_again() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(hub(&[remote("clock", clock.url())])).await?;
    process::signal(plugway.pid()?, Signal::HUP)?;
    let line = plugway.logged("configuration read again", BOUND).await?;
    ensure!(line.contains("signal"), "{line}");
    Ok(())
}

#[tokio::test]
async fn another_address_is_listened_on_and_the_old_one_is_given_up() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let at = |address: &str| {
        let upstreams = [remote("clock", clock.url())];
        json!({ "name": "hub", "listen": address, "upstreams": upstreams }).to_string()
    };
    let plugway = Setup::new(at("127.0.0.1:0")).chooses_address().start().await?;
    let client = plugway.legacy().await?;
    let session = client.session().context("no session")?.to_owned();
    applied(&plugway, &at("127.0.0.2:0")).await?;
    let lines = plugway.stderr();
    let line = lines.iter().rfind(|line| line.contains("\"listening\"")).context("no line")?;
    let record: Value = serde_json::from_str(line)?;
    let moved = record["address"].as_str().context("no address")?.parse()?;
    let moved_client = Client::legacy(moved, "/mcp").await?;
    ensure!(moved_client.call_text("clock_echo", json!({"message": "hi"})).await? == "hi");
    wait::until("nobody answers at the old address", BOUND, async || {
        Ok(tokio::net::TcpStream::connect(plugway.address()).await.is_err().then_some(()))
    })
    .await?;
    // Sessions belong to the connector, not to the listener.
    let request = Request::delete("/mcp").header("host", moved.to_string());
    let request = request.header("mcp-session-id", session).body(Full::default())?;
    let answer = plugway_tests::http::send(moved, request).await?;
    ensure!(answer.status == 204, "{}", answer.text());
    Ok(())
}

#[tokio::test]
async fn connectors_and_policies_come_and_go() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let guest = Guest::new("imports_echo").named("team");
    let connector = |name: &str, policies: &[&str]| {
        let upstreams = [remote("clock", clock.url())];
        json!({ "name": name, "path": format!("/{name}"), "upstreams": upstreams, "policies": policies })
    };
    let whole = |connectors: &[Value]| {
        let plugins = json!({ "team": { "file": guest.file() } });
        json!({ "plugins": plugins, "connectors": connectors }).to_string()
    };
    let both = whole(&[connector("one", &[]), connector("two", &[])]);
    let setup = Setup::new(both.clone()).file(&guest.file(), guest.bytes()?);
    let plugway = setup.start().await?;
    let one = Client::legacy(plugway.address(), "/one/mcp").await?;
    let two = Client::legacy(plugway.address(), "/two/mcp").await?;
    let call = json!({"name": "clock_echo", "arguments": {"message": "hi"}});

    applied(&plugway, &whole(&[connector("one", &["team"])])).await?;
    let answer = one.call("tools/call", call.clone()).await?;
    let judged = &answer.result()?["structuredContent"]["call"]["name"];
    ensure!(*judged == "clock_echo", "the policy that was added does not judge: {answer:?}");
    let gone = two.call("tools/call", call.clone()).await?;
    ensure!(gone.status == 404, "{gone:?}");

    applied(&plugway, &both).await?;
    ensure!(one.call_text("clock_echo", json!({"message": "hi"})).await? == "hi");
    let foreign = two.call("tools/call", call).await?;
    ensure!(foreign.status == 404, "a session of the connector that was taken out lives on");
    Ok(())
}

#[tokio::test]
async fn a_secret_that_is_replaced_is_used() -> Result<()> {
    let configuration = json!({
        "name": "hub",
        "upstreams": [{
            "name": "notes", "command": demo_notes_path()?, "env": { "TOKEN": "file://token" },
        }],
    });
    let setup = Setup::new(configuration.to_string()).file_with_mode("token", "hush-7f3a", 0o600);
    let plugway = setup.start().await?;
    plugway.write("token", "hush-9b1c")?;
    let change = plugway.logged("configuration change", BOUND).await?;
    ensure!(change.contains("upstream hub/notes: env"), "{change}");
    let log = plugway.stderr().join("\n");
    ensure!(!log.contains("hush-"), "a secret is in the log: {log}");
    Ok(())
}

#[tokio::test]
async fn a_pipe_in_place_of_the_file_is_reported_and_waited_for_by_nobody() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let good = hub(&[remote("clock", clock.url())]);
    let plugway = Plugway::start(good.clone()).await?;
    let file = plugway.folder().join("plugway.yaml");
    std::fs::remove_file(&file)?;
    let made = tokio::process::Command::new("mkfifo").arg(&file).status().await?;
    ensure!(made.success(), "no pipe could be made");
    wait::until("it is reported", BOUND, async || {
        let said = degraded(&plugway).await?;
        Ok(said.iter().any(|line| line.contains("no regular file")).then_some(()))
    })
    .await?;
    std::fs::remove_file(&file)?;
    plugway.reconfigure(&good)?;
    wait::until("it is well again", BOUND, async || {
        Ok(degraded(&plugway).await?.is_empty().then_some(()))
    })
    .await?;
    ensure!(plugway.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn only_what_a_server_may_ask_starts_it_anew() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let of = |connector: Value, upstream: Value| {
        let mut whole = json!({ "name": "hub", "server_info": connector });
        whole["upstreams"] = json!([upstream]);
        whole["upstreams"][0]["name"] = json!("clock");
        whole["upstreams"][0]["url"] = json!(clock.url());
        whole.to_string()
    };
    let info = json!({ "title": "Tools", "icons": [{ "src": "https://example.com/i.png" }] });
    let plugway = Plugway::start(of(info, json!({}))).await?;
    let version = env!("CARGO_PKG_VERSION");
    let icons = json!([{ "src": "https://example.com/i.png" }]);
    let first = json!({ "name": "hub", "version": version, "title": "Tools", "icons": icons });
    ensure!(introduced(&plugway).await? == [first.clone(), first]);

    // Whoever is started anew has its lists read.
    let read = clock.count("tools/list").await?;
    let quiet = json!({ "instructions": "omit" });
    applied(&plugway, &of(json!({ "name": "tools", "version": "7" }), quiet.clone())).await?;
    let second = json!({ "name": "tools", "version": "7" });
    ensure!(introduced(&plugway).await? == [second.clone(), second]);
    ensure!(clock.count("tools/list").await? == read, "the server was started anew");

    let mut asking = quiet;
    asking["server_requests"] = json!(["roots"]);
    applied(&plugway, &of(json!({}), asking)).await?;
    ensure!(clock.count("tools/list").await? == read + 1, "the server was not started anew");
    Ok(())
}

/// How plugway introduces itself in both eras.
async fn introduced(plugway: &Plugway) -> Result<[Value; 2]> {
    let legacy = plugway.legacy().await?;
    let initialized = legacy.initialized().context("no answer")?;
    let discovered = plugway.modern().call("server/discover", json!({})).await?;
    let meta = &discovered.result()?["_meta"];
    Ok([initialized["serverInfo"].clone(), meta["io.modelcontextprotocol/serverInfo"].clone()])
}
