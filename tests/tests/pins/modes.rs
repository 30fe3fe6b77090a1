//! `off`, `warn`, `hold` and `locked`, and characters that nobody sees.

use anyhow::{Result, ensure};
use plugway_tests::wait;
use serde_json::json;

use super::server::{Shifty, tool, tools};
use super::{BOUND, LOCK, degraded, hub, lock, refusal, reread, said, start, until_listed};

/// The default router leaves other ones out by itself.
const ODD: &str = "Adds.\u{2066}\u{200b}";

#[tokio::test]
async fn under_locked_nothing_is_shown_that_nobody_approved() -> Result<()> {
    let server = Shifty::start(false, tools(&[tool("add", "Adds.")])).await?;
    let (plugway, admin) = start("locked", &[("up", &server)]).await?;
    let client = plugway.modern();
    until_listed(&client, &[]).await?;
    let why = refusal(&client, "up_add").await?;
    ensure!(why.contains("is not approved"), "{why}");
    said(&plugway, &["approve", "--all", "--yes", "--by", "ann"]).await?;
    until_listed(&client, &["up_add"]).await?;
    ensure!(client.call_text("up_add", json!({})).await? == "done");
    server.says(tools(&[tool("add", "Adds."), tool("sub", "Subtracts.")]));
    reread(&admin, "up").await?;
    wait::until("the new one waits", BOUND, async || {
        Ok(said(&plugway, &["list", "--held"]).await?.contains("hub/up/tool/sub").then_some(()))
    })
    .await?;
    ensure!(refusal(&client, "up_sub").await?.contains("is not approved"));
    until_listed(&client, &["up_add"]).await?;
    said(&plugway, &["approve", "--upstream", "up", "--yes", "--by", "ann"]).await?;
    until_listed(&client, &["up_add", "up_sub"]).await
}

#[tokio::test]
async fn under_warn_what_changed_is_told_and_shown_and_under_off_nothing_is_looked_at() -> Result<()>
{
    let first = tools(&[tool("add", "Adds.")]);
    let (server, free) =
        (Shifty::start(false, first.clone()).await?, Shifty::start(false, first).await?);
    let hub = hub("warn", &[("up", &server)]);
    let hub = hub.upstream_with("free", &free.url(), json!({"pin": "off"}));
    let plugway = hub.start().await?;
    let admin = plugway_tests::admin::Admin::of(&plugway).await?;
    let client = plugway.modern();
    until_listed(&client, &["up_add", "free_add"]).await?;
    for (name, server) in [("up", &server), ("free", &free)] {
        server.says(tools(&[tool("add", "Other.")]));
        reread(&admin, name).await?;
    }
    wait::until("both are shown", BOUND, async || {
        let list = client.call("tools/list", json!({})).await?.text;
        Ok((list.matches("Other.").count() == 2).then_some(()))
    })
    .await?;
    plugway
        .logged("a definition is not as it was approved, and shown as it is: tool add", BOUND)
        .await?;
    let ready = degraded(&plugway).await?;
    ensure!(ready.contains("hub/up: is not as it was approved: tool add (changed)"), "{ready}");
    ensure!(!ready.contains("free"), "{ready}");
    ensure!(client.call_text("up_add", json!({})).await? == "done");
    ensure!(!lock(&plugway)?.to_string().contains("free"));
    said(&plugway, &["approve", "--all", "--yes", "--by", "ann"]).await?;
    wait::until("nothing is said any more", BOUND, async || {
        Ok((!degraded(&plugway).await?.contains("hub/up")).then_some(()))
    })
    .await
}

#[tokio::test]
async fn without_a_word_of_it_nothing_is_written() -> Result<()> {
    let server = Shifty::start(false, tools(&[tool("add", ODD)])).await?;
    let (plugway, _admin) = start("off", &[("up", &server)]).await?;
    until_listed(&plugway.modern(), &["up_add"]).await?;
    ensure!(!plugway.folder().join(LOCK).exists() && !degraded(&plugway).await?.contains("up"));
    Ok(())
}

#[tokio::test]
async fn characters_that_nobody_sees_are_held_back_at_first_sight_and_real_text_is_not()
-> Result<()> {
    let real = [
        tool("persian", "می\u{200c}خواهم پرونده\u{200c}ها را بخوانم"),
        tool("hindi", "क्\u{200d}ष नमस्ते"),
        tool("hebrew", "קורא קובץ (UTF-8)\u{200f}."),
        tool("emoji", "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 1\u{fe0f}\u{20e3}"),
    ];
    let mut named = tool("plain", "Plain.");
    named["inputSchema"]["properties"] = json!({"x": {"enum": ["a\u{200b}b"]}});
    let all = [&real[..], &[tool("add", ODD), named]].concat();
    let server = Shifty::start(true, tools(&all)).await?;
    let (plugway, _admin) = start("hold", &[("up", &server)]).await?;
    let client = plugway.legacy().await?;
    until_listed(&client, &["up_persian", "up_hindi", "up_hebrew", "up_emoji"]).await?;
    for name in ["up_add", "up_plain"] {
        let why = refusal(&client, name).await?;
        ensure!(why.contains("characters that nobody can see"), "{why}");
    }
    let listed = said(&plugway, &["list", "--held"]).await?;
    ensure!(listed.contains("characters that cannot be seen: U+200B U+2066"), "{listed}");
    let diff = said(&plugway, &["diff"]).await?;
    ensure!(diff.contains("Adds.\\u2066\\u200b"), "{diff}");
    ensure!(degraded(&plugway).await?.contains("U+2066"));
    said(&plugway, &["approve", "--all", "--yes", "--by", "ann"]).await?;
    let expected = ["up_persian", "up_hindi", "up_hebrew", "up_emoji", "up_add", "up_plain"];
    until_listed(&client, &expected).await
}

#[tokio::test]
async fn a_reload_changes_how_strictly_a_server_is_pinned_and_it_keeps_running() -> Result<()> {
    let server = Shifty::start(false, tools(&[tool("add", "Adds.")])).await?;
    let (plugway, admin) = start("warn", &[("up", &server)]).await?;
    let client = plugway.legacy().await?;
    until_listed(&client, &["up_add"]).await?;
    server.says(tools(&[tool("add", "Steals.")]));
    reread(&admin, "up").await?;
    plugway.logged("is not as it was approved", BOUND).await?;
    for (pin, listed) in
        [("hold", &[][..]), ("off", &["up_add"]), ("locked", &[]), ("warn", &["up_add"])]
    {
        let word = json!({"pin": pin});
        let configuration = json!({
            "name": "hub", "admin": {"listen": "127.0.0.1:0", "token_file": "admin.token"},
            "upstreams": [{"name": "up", "url": server.url(), "pin": word["pin"]}],
        });
        plugway.reconfigure(&configuration.to_string())?;
        until_listed(&client, listed).await?;
    }
    Ok(())
}
