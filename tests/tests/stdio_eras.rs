//! `plugway stdio`: both eras over one pipe, for one caller.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Pipe, Scripted, demo_notes_path, plugway::Setup, process};
use serde_json::{Value, json};

async fn clock() -> Result<(DemoHttp, Pipe)> {
    let demo = DemoHttp::start(&[]).await?;
    let pipe = Pipe::start(format!(
        "name: hub\nupstreams:\n- {{name: clock, url: '{}'}}\n- {{name: notes, command: '{}'}}\n",
        demo.url(),
        demo_notes_path()?.display()
    ))?;
    Ok((demo, pipe))
}

fn code(response: &Value) -> Option<i64> {
    response.pointer("/error/code")?.as_i64()
}

fn names(response: &Value, list: &str, key: &str) -> Vec<String> {
    let items = response.pointer(&format!("/result/{list}")).and_then(Value::as_array);
    let names = items.into_iter().flatten().filter_map(|item| item.get(key)?.as_str());
    names.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_session_of_the_legacy_era_has_everything_that_its_servers_offer() -> Result<()> {
    let (_demo, mut pipe) = clock().await?;
    let initialized = pipe.initialize().await?;
    ensure!(initialized["protocolVersion"] == "2025-11-25", "{initialized}");
    ensure!(initialized["capabilities"].get("prompts").is_some(), "{initialized}");
    let tools = names(&pipe.call("tools/list", json!({})).await?, "tools", "name");
    for name in ["clock_add", "clock_count", "notes_add_note"] {
        ensure!(tools.iter().any(|tool| tool == name), "{name} is not in {tools:?}");
    }
    ensure!(pipe.tool("clock_add", json!({"a": 2, "b": 40})).await? == "42");
    ensure!(pipe.tool("clock_count", json!({})).await? == "1");
    ensure!(pipe.tool("clock_count", json!({})).await? == "2");
    let prompts = names(&pipe.call("prompts/list", json!({})).await?, "prompts", "name");
    ensure!(!prompts.is_empty());
    let resources = names(&pipe.call("resources/list", json!({})).await?, "resources", "uri");
    let uri = resources.first().context("no resources")?;
    let read = pipe.call("resources/read", json!({"uri": uri})).await?;
    ensure!(read.pointer("/result/contents/0").is_some(), "{read}");
    ensure!(code(&pipe.call("no/such", json!({})).await?) == Some(-32601));
    ensure!(pipe.call("ping", json!({})).await?["result"] == json!({}));
    Ok(())
}

#[tokio::test]
async fn there_is_one_session_and_nothing_without_it() -> Result<()> {
    let (_demo, mut pipe) = clock().await?;
    ensure!(pipe.call("ping", json!({})).await?["result"] == json!({}));
    let early = pipe.call("tools/list", json!({})).await?;
    ensure!(code(&early) == Some(-32600), "{early}");
    ensure!(early["error"]["data"]["code"] == "session-missing", "{early}");
    pipe.initialize().await?;
    ensure!(pipe.tool("clock_count", json!({})).await? == "1");
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}});
    let second = pipe.call("initialize", params).await?;
    ensure!(code(&second) == Some(-32600), "{second}");
    ensure!(pipe.tool("clock_count", json!({})).await? == "2", "the session is another one");
    Ok(())
}

#[tokio::test]
async fn modern_requests_need_no_session_and_are_of_one_caller() -> Result<()> {
    let upstream = Scripted::start().await?;
    let mut pipe = Pipe::start(format!(
        "name: hub\nupstreams:\n- {{name: web, url: '{}'}}\n- {{name: notes, command: '{}'}}\n",
        upstream.url(),
        demo_notes_path()?.display()
    ))?;
    let discovered = pipe.call_modern("server/discover", json!({})).await?;
    ensure!(discovered["result"]["resultType"] == "complete", "{discovered}");
    let tools = names(&pipe.call_modern("tools/list", json!({})).await?, "tools", "name");
    ensure!(tools.iter().any(|tool| tool == "notes_list_notes"), "{tools:?}");
    pipe.tool_modern("notes_add_note", json!({"text": "mine"})).await?;
    ensure!(pipe.tool_modern("notes_list_notes", json!({})).await? == "mine", "state was lost");
    let process = pipe.tool_modern("notes_process_id", json!({})).await?;
    for _ in 0..3 {
        ensure!(pipe.tool_modern("web_json", json!({})).await? == "json");
        ensure!(pipe.tool_modern("notes_process_id", json!({})).await? == process);
    }
    // One session reads the catalogue, one serves all calls.
    ensure!(upstream.initializes() == 2, "{} sessions were opened", upstream.initializes());
    Ok(())
}

#[tokio::test]
async fn the_eras_live_side_by_side() -> Result<()> {
    let (_demo, mut pipe) = clock().await?;
    let modern = pipe.tool_modern("notes_process_id", json!({})).await?;
    pipe.initialize().await?;
    let legacy = pipe.tool("notes_process_id", json!({})).await?;
    ensure!(legacy != modern, "one child serves two eras");
    ensure!(pipe.tool_modern("notes_process_id", json!({})).await? == modern);
    ensure!(pipe.tool("notes_process_id", json!({})).await? == legacy);
    Ok(())
}

#[tokio::test]
async fn modern_requests_are_checked_like_those_over_http() -> Result<()> {
    let (_demo, mut pipe) = clock().await?;
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for (meta, expected) in [
        (json!({version: "2026-07-28"}), -32602),
        (json!({version: "1999-01-01", capabilities: {}}), -32022),
        (json!({version: 5, capabilities: {}}), -32602),
    ] {
        let response = pipe.call("tools/list", json!({"_meta": meta})).await?;
        ensure!(code(&response) == Some(expected), "{meta}: {response}");
    }
    ensure!(code(&pipe.call_modern("initialize", json!({})).await?) == Some(-32601));
    ensure!(code(&pipe.call_modern("tools/call", json!({"name": "none"})).await?) == Some(-32602));
    Ok(())
}

#[tokio::test]
async fn one_connector_is_served_and_the_others_are_not_started() -> Result<()> {
    let notes = demo_notes_path()?;
    let connector = |name: &str| {
        format!(
            "- {{name: {name}, path: /{name}, upstreams: [{{name: {name}, command: '{}'}}]}}\n",
            notes.display()
        )
    };
    let both = format!("connectors:\n{}{}", connector("one"), connector("two"));
    let mut pipe = Pipe::of(Setup::new(both.clone()), &["--connector", "two"])?;
    pipe.initialize().await?;
    let tools = names(&pipe.call("tools/list", json!({})).await?, "tools", "name");
    ensure!(tools.iter().any(|tool| tool == "two_list_notes"), "{tools:?}");
    ensure!(!tools.iter().any(|tool| tool.starts_with("one_")), "{tools:?}");
    // The child that reads the catalogue and its supervisor.
    ensure!(process::descendants(pipe.pid()?)?.len() == 2);
    for words in [&[][..], &["--connector", "three"]] {
        let mut pipe = Pipe::of(Setup::new(both.clone()), words)?;
        ensure!(pipe.ended().await?.code() == Some(1));
        pipe.logged("one, two").await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_file_of_a_desktop_client_is_served_as_it_is() -> Result<()> {
    let servers = json!({"mcpServers": {"notes": {"command": demo_notes_path()?, "args": []}}});
    let setup = Setup::new("").file("desktop.json", servers.to_string());
    let mut pipe = Pipe::of(setup, &["--mcp-servers", "desktop.json"])?;
    pipe.initialize().await?;
    let tools = names(&pipe.call("tools/list", json!({})).await?, "tools", "name");
    ensure!(tools.iter().any(|tool| tool == "notes_list_notes"), "{tools:?}");
    Ok(())
}

#[tokio::test]
async fn the_first_list_waits_for_servers_that_are_starting() -> Result<()> {
    // A server that takes a while, as those do that load an interpreter first.
    let script = "sleep 0.5; exec \"$0\"";
    let configuration = format!(
        "name: hub\nupstreams:\n- {{name: slow, command: sh, args: [-c, '{script}', '{}']}}\n- {{name: dead, url: 'http://127.0.0.1:1/mcp'}}\n",
        demo_notes_path()?.display()
    );
    let mut pipe = Pipe::start(configuration)?;
    let tools = names(&pipe.call_modern("tools/list", json!({})).await?, "tools", "name");
    ensure!(tools.iter().any(|tool| tool == "slow_list_notes"), "{tools:?}");
    Ok(())
}

#[tokio::test]
async fn nothing_listens_whatever_the_configuration_says_of_a_listener() -> Result<()> {
    let mut pipe = Pipe::start(format!(
        "name: hub\nlisten: 0.0.0.0:9000\nupstreams: [{{name: notes, command: '{}'}}]\n",
        demo_notes_path()?.display()
    ))?;
    pipe.initialize().await?;
    ensure!(process::listening_sockets(pipe.pid()?)? == 0);
    Ok(())
}
