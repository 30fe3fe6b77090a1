//! `plugway stdio`: the client is told what comes and goes.

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Pipe};
use serde_json::{Value, json};

#[tokio::test]
async fn the_client_is_told_when_a_server_leaves_and_comes_back() -> Result<()> {
    let demo = DemoHttp::start(&[]).await?;
    let address = demo.address().to_string();
    let mut pipe = Pipe::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}', stale_for: 200ms, health_check_interval: 100ms}}]\n",
        demo.url()
    ))?;
    let initialized = pipe.initialize().await?;
    ensure!(initialized["capabilities"]["tools"]["listChanged"] == true, "{initialized}");
    let lists = async |pipe: &mut Pipe| {
        let tools = pipe.call("tools/list", json!({})).await?;
        anyhow::Ok(tools.to_string().contains("clock_add"))
    };
    ensure!(lists(&mut pipe).await?);
    demo.kill().await?;
    until_told(&mut pipe).await?;
    ensure!(!lists(&mut pipe).await?, "the tools are still listed");
    let _demo = DemoHttp::start_at(&address, &[]).await?;
    until_told(&mut pipe).await?;
    ensure!(lists(&mut pipe).await?, "the tools did not come back");
    Ok(())
}

/// Reads until the list of tools is said to have changed.
async fn until_told(pipe: &mut Pipe) -> Result<()> {
    pipe.others();
    loop {
        let message = pipe.read().await?.unwrap_or_default();
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        if method == "notifications/tools/list_changed" {
            return Ok(());
        }
        ensure!(!method.is_empty(), "the output ended, or an answer: {message}");
    }
}
