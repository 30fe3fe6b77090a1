//! A file of pins that cannot be used unpins nothing.

use anyhow::{Result, ensure};
use plugway_tests::wait;

use super::server::{Says, Shifty, tool, tools};
use super::{BOUND, LOCK, degraded, hub, refusal, start, until_listed};

#[tokio::test]
async fn a_file_that_breaks_or_vanishes_holds_everything_back_until_it_is_whole() -> Result<()> {
    let server = Shifty::start(false, tools(&[tool("add", "Adds.")])).await?;
    let (plugway, _admin) = start("hold", &[("up", &server)]).await?;
    let client = plugway.legacy().await?;
    until_listed(&client, &["up_add"]).await?;
    let good = std::fs::read(plugway.folder().join(LOCK))?;
    for broken in [Some("{"), Some(r#"{"version": 2}"#), None] {
        match broken {
            Some(text) => drop(plugway.write(LOCK, text)?),
            None => std::fs::remove_file(plugway.folder().join(LOCK))?,
        }
        until_listed(&client, &[]).await?;
        let why = refusal(&client, "up_add").await?;
        ensure!(why.contains("cannot be compared with what was approved"), "{why}");
        let ready = degraded(&plugway).await?;
        ensure!(ready.contains("hub/up: ") && ready.contains("all of it is held back"), "{ready}");
        // Nothing is written over it.
        let now = std::fs::read_to_string(plugway.folder().join(LOCK)).ok();
        ensure!(now.as_deref() == broken, "{now:?}");
        plugway.write(LOCK, &good)?;
        until_listed(&client, &["up_add"]).await?;
        wait::until("nothing is said any more", BOUND, async || {
            Ok((!degraded(&plugway).await?.contains("hub/up")).then_some(()))
        })
        .await?;
    }
    ensure!(server.called("add") == 0);
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_broken_at_the_start_shows_nobody_anything_of_a_pinned_server() -> Result<()>
{
    for pin in ["hold", "locked"] {
        let said =
            Says { instructions: Some("Say it.".to_owned()), ..tools(&[tool("add", "Adds.")]) };
        let server = Shifty::start(true, said.clone()).await?;
        let free = Shifty::start(false, said).await?;
        let hub = hub(pin, &[("up", &server)]);
        let hub = hub.upstream_with("free", &free.url(), serde_json::json!({"pin": "off"}));
        let plugway = hub.setup()?.file(LOCK, "no lock").start().await?;
        let client = plugway.legacy().await?;
        until_listed(&client, &["free_add"]).await?;
        refusal(&client, "up_add").await?;
        let initialized = client.initialized().map(ToString::to_string).unwrap_or_default();
        ensure!(initialized.contains("## free") && !initialized.contains("## up"), "{initialized}");
        ensure!(server.called("add") == 0);
    }
    Ok(())
}
