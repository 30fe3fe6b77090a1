//! What servers say of what they offer stays what was seen or approved (`pin`).
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::admin::Admin;
use plugway_tests::plugway::{Output, run};
use plugway_tests::{Hub, Plugway, rpc::Client, wait};
use serde_json::{Value, json};

mod approving;
mod broken;
mod held;
mod kinds;
mod lazily;
mod modes;
mod server;
mod some;

use server::Shifty;

const BOUND: Duration = Duration::from_secs(30);
const LOCK: &str = "plugway.lock";

/// A connector before these servers, with this word for `pin`.
fn hub(pin: &str, servers: &[(&str, &Shifty)]) -> Hub {
    let admin = json!({"listen": "127.0.0.1:0", "token_file": "admin.token"});
    let hub = Hub::new("hub").key("pin", json!(pin)).top("admin", admin);
    servers.iter().fold(hub, |hub, (name, server)| hub.upstream(name, &server.url()))
}

async fn start(pin: &str, servers: &[(&str, &Shifty)]) -> Result<(Plugway, Admin)> {
    let plugway = hub(pin, servers).start().await?;
    let admin = Admin::of(&plugway).await?;
    Ok((plugway, admin))
}

/// Has plugway read again what the server says.
async fn reread(admin: &Admin, upstream: &str) -> Result<()> {
    let answer = admin.post(&format!("upstreams/hub/{upstream}/reconnect")).await?;
    ensure!(answer.status == 200, "{}", answer.status);
    Ok(())
}

/// The names of tools without those of plugway itself.
async fn names(client: &Client) -> Result<Vec<String>> {
    let all = client.tool_names().await?;
    Ok(all
        .into_iter()
        .filter(|name| !name.starts_with("hub_") && !name.contains("_hub_"))
        .collect())
}

async fn until_listed(client: &Client, expected: &[&str]) -> Result<()> {
    let what = format!("{expected:?} are listed");
    wait::until(&what, BOUND, async || Ok((names(client).await? == expected).then_some(())))
        .await
        .with_context(|| format!("{expected:?}"))
}

/// The text of the refusal of a tool.
async fn refusal(client: &Client, tool: &str) -> Result<String> {
    let result = client.call_tool(tool, json!({})).await?;
    ensure!(result["isError"] == true, "{result}");
    Ok(result["content"][0]["text"].as_str().context("no text")?.to_owned())
}

async fn degraded(plugway: &Plugway) -> Result<String> {
    Ok(plugway.get("/ready").await?.json()?["degraded"].to_string())
}

/// `plugway pins` on the file of a running plugway.
async fn pins(plugway: &Plugway, words: &[&str]) -> Result<Output> {
    let file = plugway.folder().join(LOCK);
    let file = file.to_str().context("no text")?;
    run(&[&["pins"], words, &["--pins-file", file]].concat()).await
}

/// The same, which has to succeed.
async fn said(plugway: &Plugway, words: &[&str]) -> Result<String> {
    let output = pins(plugway, words).await?;
    ensure!(output.status.success(), "{output:?}");
    Ok(output.stdout)
}

/// Approves what `diff` shows of a key, with the command line that it shows.
async fn approve(plugway: &Plugway, key: &str) -> Result<String> {
    let diff = said(plugway, &["diff", key]).await?;
    let line = diff.lines().find_map(|line| line.strip_prefix("$ plugway pins "));
    let line = line.with_context(|| format!("no command line: {diff}"))?;
    let words: Vec<&str> =
        line.split(' ').map(|word| if word == "WHO" { "ann" } else { word }).collect();
    let output = run(&[&["pins"], &words[..]].concat()).await?;
    ensure!(output.status.success(), "{words:?}: {output:?}");
    Ok(output.stdout)
}

fn lock(plugway: &Plugway) -> Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(plugway.folder().join(LOCK))?)?)
}
