//! What servers over pipes offer to clients with capabilities of their own: such clients list it and call it, in either era
//! and over either transport, and nobody else does.

use std::time::Duration;

use anyhow::{Result, ensure};
use plugway_tests::{Pipe, Plugway, binary, process, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const PERSON: &str = "kid_person";

fn configuration(keys: &str) -> Result<String> {
    let path = binary::find("rough-server")?;
    let kid = format!("{{name: kid, command: '{}', args: [--choosy]{keys}}}", path.display());
    Ok(format!("name: hub\nstatus: false\nupstreams: [{kid}]\n"))
}

fn can() -> Value {
    json!({"elicitation": {}})
}

async fn offers_person(client: &Client) -> Result<bool> {
    Ok(client.tool_names().await?.iter().any(|name| name == PERSON))
}

#[tokio::test]
async fn clients_of_both_eras_list_and_call_what_their_like_is_offered() -> Result<()> {
    let plugway = Plugway::start(configuration("")?).await?;
    let address = plugway.address();
    let able = Client::legacy_with(address, "/mcp", can()).await?;
    let modern = Client::modern_with(address, "/mcp", can());
    for client in [&able, &modern] {
        ensure!(offers_person(client).await?);
        ensure!(client.call_text(PERSON, json!({})).await? == "true");
    }
    for client in [plugway.legacy().await?, plugway.modern()] {
        ensure!(!offers_person(&client).await?);
        let call = client.call("tools/call", json!({"name": PERSON, "arguments": {}})).await?;
        ensure!(call.error_code()? == -32602, "{}", call.text);
    }
    // plugway's own child and that of the session are left, each with its supervisor: the one that read has ended.
    let pid = plugway.pid()?;
    wait::until("the child that read has ended", BOUND, async || {
        Ok((process::descendants(pid)?.len() <= 4).then_some(()))
    })
    .await?;
    ensure!(offers_person(&able).await?, "what was read counts on");
    ensure!(plugway.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn a_client_over_pipes_is_offered_it_too() -> Result<()> {
    let mut pipe = Pipe::start(configuration("")?)?;
    pipe.initialize_with("2025-11-25", can()).await?;
    let listed = pipe.call("tools/list", json!({})).await?;
    let tools = listed["result"]["tools"].as_array().cloned().unwrap_or_default();
    ensure!(tools.iter().any(|tool| tool["name"] == PERSON), "{listed}");
    ensure!(pipe.tool(PERSON, json!({})).await? == "true");
    Ok(())
}

#[tokio::test]
async fn without_room_for_a_child_more_everybodys_catalogue_counts() -> Result<()> {
    let plugway = Plugway::start(configuration(", max_children: 1")?).await?;
    let able = Client::legacy_with(plugway.address(), "/mcp", can()).await?;
    let names = able.tool_names().await?;
    ensure!(names.len() > 1 && !names.iter().any(|name| name == PERSON), "{names:?}");
    Ok(())
}
