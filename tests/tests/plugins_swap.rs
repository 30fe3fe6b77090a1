//! A plugin's file is replaced while it serves.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::{
    fs,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use futures_util::future::try_join_all;
use plugway_tests::{DemoHttp, Guest, Hub, Plugway, process, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_mins(1);
const CLIENTS: usize = 32;
const SWAPS: usize = 50;
/// What plugway may have grown by after all swaps.
const GROWTH_MAX: u64 = 32 << 20;

/// What a call of the plugin looked like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behaviour {
    /// `imports_echo` answered it.
    Answers,
    /// `admit_edit` let it pass to the upstream.
    Passes,
}

/// A policy `swapped` that starts as a guest which answers every call itself.
fn swapped() -> Guest {
    Guest::new("imports_echo").named("swapped").with(
        "limits",
        json!({
            "time_ms": 10_000, "instances": CLIENTS,
        }),
    )
}

/// The component with that behaviour.
fn component(behaviour: Behaviour) -> Result<Vec<u8>> {
    match behaviour {
        Behaviour::Answers => Guest::new("imports_echo").bytes(),
        Behaviour::Passes => Guest::new("admit_edit").bytes(),
    }
}

/// One call; an error or a failed result is no behaviour.
async fn behaviour(client: &Client) -> Result<Behaviour> {
    let params = json!({"name": "clock_echo", "arguments": {"message": "hi"}});
    let reply = client.call("tools/call", params).await?;
    let result = reply.result()?;
    ensure!(result["isError"] != true, "{result}");
    if result["structuredContent"]["call"]["name"] == "clock_echo" {
        return Ok(Behaviour::Answers);
    }
    ensure!(result["content"][0]["text"] == "hi", "{result}");
    Ok(Behaviour::Passes)
}

async fn until(client: &Client, wanted: Behaviour) -> Result<()> {
    wait::until("the new behaviour", BOUND, async || {
        Ok((behaviour(client).await? == wanted).then_some(()))
    })
    .await
}

async fn degraded(plugway: &Plugway) -> Result<Option<Value>> {
    let ready = plugway.get("/ready").await?;
    ensure!(ready.status == 200, "{}", ready.text());
    let ready = ready.json()?;
    let degraded = &ready["degraded"];
    Ok(degraded.as_array().is_some_and(|all| !all.is_empty()).then(|| degraded.clone()))
}

#[tokio::test]
async fn heavy_a_plugin_is_replaced_fifty_times_under_load() -> Result<()> {
    let clock = DemoHttp::start(&["--json"]).await?;
    let plugway = Hub::before(clock.url()).policy(swapped()).start().await?;
    let clients = try_join_all((0..CLIENTS).map(|_| plugway.legacy())).await?;
    let driver = plugway.legacy().await?;
    // The start: both components have served, and every client has called.
    for wanted in [Behaviour::Passes, Behaviour::Answers] {
        plugway.write("swapped.wasm", component(wanted)?)?;
        until(&driver, wanted).await?;
        try_join_all(clients.iter().map(behaviour)).await?;
    }
    let start = process::resident_bytes(plugway.pid()?)?;

    let (done, served) = (AtomicBool::new(false), AtomicU64::new(0));
    let load = try_join_all(clients.iter().map(async |client| {
        while !done.load(Ordering::Relaxed) {
            behaviour(client).await?;
            served.fetch_add(1, Ordering::Relaxed);
        }
        anyhow::Ok(())
    }));
    let swaps = async {
        for turn in 0..SWAPS {
            let wanted = if turn % 2 == 0 { Behaviour::Passes } else { Behaviour::Answers };
            plugway.write("swapped.wasm", component(wanted)?)?;
            until(&driver, wanted).await.with_context(|| format!("swap {turn}"))?;
            if let Some(why) = degraded(&plugway).await? {
                bail!("swap {turn} left {why}");
            }
        }
        done.store(true, Ordering::Relaxed);
        anyhow::Ok(())
    };
    tokio::try_join!(load, swaps)?;
    let served = served.into_inner();
    ensure!(served > (CLIENTS * SWAPS) as u64, "only {served} calls were made");
    let end = process::resident_bytes(plugway.pid()?)?;
    ensure!(end <= start + GROWTH_MAX, "from {start} to {end} bytes resident");
    Ok(())
}

#[tokio::test]
async fn heavy_a_broken_file_leaves_the_one_before_it_serving() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(swapped()).start().await?;
    let client = plugway.legacy().await?;
    ensure!(degraded(&plugway).await?.is_none());
    let file = plugway.folder().join("swapped.wasm");

    let two_kinds = Guest::new("two_kinds").bytes()?;
    let router = Guest::new("route_dynamic").bytes()?;
    let refuses = Guest::new("bad_config").bytes()?;
    let loops = Guest::new("configure_loops").bytes()?;
    let broken: [(&str, &[u8], &str); 5] = [
        ("garbage", b"no component at all", "not a WebAssembly component"),
        ("two kinds", &two_kinds, "two plugins"),
        ("another kind", &router, "is a router"),
        ("one that refuses its configuration", &refuses, "limits.rules[2].rate"),
        ("one that never configures itself", &loops, "longer than it may"),
    ];
    for (what, bytes, why) in broken {
        plugway.write("swapped.wasm", bytes)?;
        let said = wait::until(what, BOUND, async || {
            ensure!(behaviour(&client).await? == Behaviour::Answers, "{what} changed calls");
            Ok(degraded(&plugway).await?.filter(|degraded| degraded.to_string().contains(why)))
        })
        .await?;
        ensure!(said.to_string().contains("swapped"), "{what}: {said}");
    }
    fs::remove_file(&file)?;
    wait::until("the missing file is reported", BOUND, async || {
        ensure!(behaviour(&client).await? == Behaviour::Answers, "removing it changed calls");
        Ok(degraded(&plugway).await?.filter(|degraded| degraded.to_string().contains("removed")))
    })
    .await?;
    plugway.logged("the file was removed", BOUND).await?;

    plugway.write("swapped.wasm", component(Behaviour::Passes)?)?;
    until(&client, Behaviour::Passes).await?;
    wait::until("nothing is degraded any more", BOUND, async || {
        Ok(degraded(&plugway).await?.is_none().then_some(()))
    })
    .await
}

#[tokio::test]
async fn what_others_may_write_is_not_swapped_in() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(swapped()).start().await?;
    let client = plugway.legacy().await?;
    // As a file is that somebody else wrote: the mode first, so that plugway never sees a good one.
    let draft = plugway.folder().join("draft");
    fs::write(&draft, component(Behaviour::Passes)?)?;
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o666))?;
    fs::rename(&draft, plugway.folder().join("swapped.wasm"))?;
    wait::until("the file of everybody is reported", BOUND, async || {
        ensure!(behaviour(&client).await? == Behaviour::Answers, "it was swapped in");
        Ok(degraded(&plugway).await?.filter(|why| why.to_string().contains("may write it")))
    })
    .await?;
    Ok(())
}

#[tokio::test]
async fn a_pinned_plugin_is_not_replaced_by_another() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let mut component_with_padding = component(Behaviour::Answers)?;
    // A custom section, `pad`: another digest, the same behaviour.
    component_with_padding.extend([0, 5, 3, b'p', b'a', b'd', 0]);
    let plugway = Hub::before(clock.url()).policy(swapped()).start().await?;
    let client = plugway.legacy().await?;
    plugway.write("swapped.wasm", &component_with_padding)?;
    // Not pinned, it is taken.
    until_generation(&plugway, 2.0).await?;
    ensure!(behaviour(&client).await? == Behaviour::Answers);

    let digest = sha256(&Guest::new("imports_echo"))?;
    let pinned = swapped().with("digest", json!(digest));
    let plugway = Hub::before(clock.url()).policy(pinned).start().await?;
    let client = plugway.legacy().await?;
    plugway.write("swapped.wasm", &component_with_padding)?;
    wait::until("the other digest is reported", BOUND, async || {
        ensure!(behaviour(&client).await? == Behaviour::Answers);
        Ok(degraded(&plugway).await?.filter(|why| why.to_string().contains("pins")))
    })
    .await?;
    Ok(())
}

async fn until_generation(plugway: &Plugway, wanted: f64) -> Result<()> {
    let labels = [("plugin", "swapped")];
    wait::until("the next generation", BOUND, async || {
        let metric = plugway_tests::metrics::GENERATION;
        let now = plugway_tests::metrics::sum(plugway, metric, &labels).await?;
        Ok((now >= wanted).then_some(()))
    })
    .await
}

/// The digest of a guest's file, as an operator finds it.
fn sha256(guest: &Guest) -> Result<String> {
    let path = plugway_tests::binary::component("imports_echo")?;
    ensure!(fs::read(&path)? == guest.bytes()?);
    let output = std::process::Command::new("sha256sum").arg(path).output()?;
    let text = String::from_utf8(output.stdout)?;
    Ok(format!("sha256:{}", text.split(' ').next().context("no digest")?))
}
