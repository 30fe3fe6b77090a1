//! What servers ask a client of `plugway stdio`.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Pipe,
    asking::{accepted, elicitation, outcome, over_http, over_stdio},
    rpc::LEGACY,
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// Reads until a request of a server comes.
async fn asked(pipe: &mut Pipe) -> Result<Value> {
    loop {
        let message = pipe.read().await?.context("the output ended")?;
        if message.get("method") == Some(&json!("elicitation/create")) {
            return Ok(message);
        }
    }
}

#[tokio::test]
async fn servers_ask_with_a_call_and_without_one() -> Result<()> {
    let web = over_http().await?;
    let upstreams = format!("[{{name: web, url: '{}'}}, {}]", web.url(), over_stdio("kid", "")?);
    let mut pipe = Pipe::start(format!("name: hub\nupstreams: {upstreams}\n"))?;
    pipe.initialize_with(LEGACY, json!({"elicitation": {}, "sampling": {}})).await?;
    for server in ["web", "kid"] {
        for tool in ["ask", "ask_later"] {
            let arguments = elicitation("Which word?");
            let params = json!({"name": format!("{server}_{tool}"), "arguments": arguments});
            let id = pipe.ask("tools/call", params).await?;
            if tool == "ask_later" {
                ensure!(pipe.response(&id).await?["result"]["content"][0]["text"] == "null");
            }
            let kept = pipe.others().into_iter().find(|one| one["method"] == "elicitation/create");
            let asked = match kept {
                Some(asked) => asked,
                None => asked(&mut pipe).await?,
            };
            ensure!(asked["params"]["message"] == format!("[{server}] Which word?"), "{asked}");
            let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted(tool)});
            pipe.send(&answer).await?;
            if tool == "ask" {
                let got = outcome(&pipe.response(&id).await?["result"])?;
                ensure!(got["result"]["content"]["word"] == "ask", "{got}");
            }
        }
        let params = json!({"name": format!("{server}_outcomes"), "arguments": {}});
        let all = wait::within("both answers are there", BOUND, async {
            loop {
                let all = outcome(&pipe.call("tools/call", params.clone()).await?["result"])?;
                if all.as_array().context("no list")?.len() >= 2 {
                    return Ok::<_, anyhow::Error>(all);
                }
            }
        })
        .await??;
        ensure!(all[1]["result"]["content"]["word"] == "ask_later", "{all}");
    }
    Ok(())
}
