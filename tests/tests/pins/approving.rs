//! `plugway pins`, and what outlives a process.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::plugway::run;
use plugway_tests::wait;

use super::server::{Shifty, tool, tools};
use super::{BOUND, LOCK, hub, lock, pins, refusal, reread, said, start, until_listed};

#[tokio::test]
async fn what_counts_outlives_the_process_and_what_changed_meanwhile_is_held_back() -> Result<()> {
    let server =
        Shifty::start(false, tools(&[tool("add", "Adds."), tool("sub", "Subtracts.")])).await?;
    let (plugway, _admin) = start("hold", &[("up", &server)]).await?;
    until_listed(&plugway.modern(), &["up_add", "up_sub"]).await?;
    let kept = std::fs::read(plugway.folder().join(LOCK))?;
    ensure!(plugway.stop().await?.success());

    server.says(tools(&[tool("add", "Steals."), tool("sub", "Subtracts.")]));
    let setup = hub("hold", &[("up", &server)]).setup()?.file_with_mode(LOCK, kept, 0o600);
    let plugway = setup.start().await?;
    let client = plugway.legacy().await?;
    until_listed(&client, &["up_sub"]).await?;
    ensure!(refusal(&client, "up_add").await?.contains("changed since"));
    ensure!(server.called("add") == 0);
    // Approved where nothing runs: it counts from the start.
    let elsewhere = plugway.folder().join("elsewhere.lock");
    std::fs::copy(plugway.folder().join(LOCK), &elsewhere)?;
    let words = ["pins", "approve", "--upstream", "hub/up", "--yes", "--by", "bob", "--pins-file"];
    let file = elsewhere.to_str().context("no text")?;
    let output = run(&[&words[..], &[file]].concat()).await?;
    ensure!(output.status.success(), "{output:?}");
    let approved = std::fs::read(&elsewhere)?;
    ensure!(plugway.stop().await?.success());
    let setup = hub("locked", &[("up", &server)]).setup()?.file_with_mode(LOCK, approved, 0o600);
    let plugway = setup.start().await?;
    until_listed(&plugway.modern(), &["up_add", "up_sub"]).await?;
    // The audit of the next process has it.
    let line = plugway.logged("approve-pin", BOUND).await?;
    ensure!(line.contains("\"who\":\"bob\"") && line.contains("hub/up/tool/add sha256:"), "{line}");
    wait::until("it is marked as heard", BOUND, async || {
        Ok((!lock(&plugway)?.to_string().contains("unheard")).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_key_and_a_digest_choose_what_is_approved_and_what_is_none_is_refused() -> Result<()> {
    let server = Shifty::start(false, tools(&[tool("add", "Adds.")])).await?;
    let (plugway, admin) = start("hold", &[("up", &server)]).await?;
    let client = plugway.modern();
    until_listed(&client, &["up_add"]).await?;
    server.says(tools(&[tool("add", "Steals.")]));
    reread(&admin, "up").await?;
    until_listed(&client, &[]).await?;
    let digest = lock(&plugway)?["waiting"][0]["definitions"][0]["digest"].clone();
    let digest = digest.as_str().context("no digest")?.to_owned();

    for (words, status, text) in [
        (&["approve", "hub/up/tool/add"][..], 2, "--by"),
        (&["approve", "--by", "ann"], 2, "KEY"),
        (&["approve", "hub/up/tool/add", "--by", "ann"], 2, "--digest"),
        (&["approve", "--all", "--by", "first sight"], 2, "stands for what nobody approved"),
        (&["approve", "--all", "--by", "ann\u{1b}[2K"], 2, "nobody can see"),
        (&["approve", "--all", "--by", "ann"], 1, "nothing was approved"),
        (&["approve", "--upstream", "up", "--by", "ann"], 1, "nothing was approved"),
        (&["approve", "--upstream", "other", "--by", "ann"], 1, "nothing waits"),
        (&["approve", "hub/up/tool/add", "--by", ""], 2, "--by"),
        (&["approve", "--all", "hub/up/tool/add", "--by", "ann"], 2, "cannot be used"),
        (&["approve", "up/add", "--digest", "0", "--by", "ann"], 2, "CONNECTOR/UPSTREAM/KIND/NAME"),
        (&["approve", "hub/up/tool/sub", "--digest", "0", "--by", "ann"], 1, "nothing waits that"),
        (&["approve", "hub/up/tool/add", "--digest", "0000", "--by", "ann"], 1, "nothing waits"),
        (&["diff", "nothing"], 2, "CONNECTOR/UPSTREAM/KIND/NAME"),
    ] {
        let output = pins(&plugway, words).await?;
        ensure!(output.status.code() == Some(status), "{words:?}: {output:?}");
        ensure!(output.stderr.contains(text), "{words:?}: {output:?}");
    }
    refusal(&client, "up_add").await?;
    let would = pins(&plugway, &["approve", "--all", "--by", "ann"]).await?.stdout;
    ensure!(would == format!("would approve hub/up/tool/add {digest}: changed\n"), "{would}");

    let beginning = digest.get(..20).context("a short digest")?;
    let words = ["approve", "hub/up/tool/add", "--digest", beginning, "--by", "ann"];
    ensure!(said(&plugway, &words).await?.contains(&digest));
    until_listed(&client, &["up_add"]).await?;
    let approved = lock(&plugway)?["pins"][0]["approved"].clone();
    ensure!(approved[0]["approved_by"] == "first sight", "{approved}");
    ensure!(approved[1]["approved_by"] == "ann" && approved[1]["digest"] == *digest, "{approved}");
    ensure!(said(&plugway, &["list", "--held"]).await?.trim() == "nothing waits");
    ensure!(said(&plugway, &["list", "--connector", "hub"]).await?.lines().count() == 2);
    Ok(())
}

#[tokio::test]
async fn the_configuration_says_where_the_pins_are() -> Result<()> {
    let server = Shifty::start(false, tools(&[tool("add", "Adds.")])).await?;
    let hub = hub("hold", &[("up", &server)]).top("pins_file", serde_json::json!("own.pins"));
    let plugway = hub.start().await?;
    until_listed(&plugway.modern(), &["up_add"]).await?;
    ensure!(plugway.folder().join("own.pins").exists() && !plugway.folder().join(LOCK).exists());
    let configuration = plugway.folder().join("plugway.yaml");
    let configuration = configuration.to_str().context("no text")?;
    let output = run(&["pins", "list", "--config", configuration]).await?;
    ensure!(output.stdout.starts_with("approved  hub/up/tool/add sha256:"), "{output:?}");
    Ok(())
}
