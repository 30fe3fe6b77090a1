//! Sessions: what is loaded stands in the list of the session that loaded it, and nowhere else.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::faulty::{self, Faulty, Raw};
use plugway_tests::{DemoHttp, Hub, Notices, Pipe};
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use super::{BOUND, OWN, ask, lazy, load, names, others, refusal};

#[tokio::test]
async fn what_a_session_loads_is_listed_there_and_told_once() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = lazy(clock.url()).start().await?;
    let (client, other) = (plugway.legacy().await?, plugway.legacy().await?);
    let notices = Notices::of(&client).await?;
    let said = client.initialized().and_then(|result| result["instructions"].as_str());
    ensure!(said.is_some_and(|said| said.contains("find_tools")), "{said:?}");
    ensure!(client.tool_names().await? == OWN);

    let found = ask(&client, "find_tools", json!({"query": "add"})).await?;
    ensure!(names(&found)?.first() == Some(&"clock_add"), "{found}");
    let item = &found["items"][0];
    ensure!(item["server"] == "clock" && item["loaded"] == false, "{item}");
    ensure!(item["input_schema"]["type"] == "object", "{item}");

    let sum = json!({"a": 2, "b": 40});
    let sentence = refusal(&client, "clock_add", sum.clone()).await?;
    ensure!(
        sentence
            == "The tool \"clock_add\" is not loaded: load it with load_tools {\"items\": [\"clock_add\"]} and call it \
                then, or call it now with call_tool {\"name\": \"clock_add\", \"arguments\": {..}}.",
        "{sentence}"
    );
    ensure!(clock.count("tools/call").await? == 0, "it was called");

    let loaded = load(&client, &["clock_add"]).await?;
    ensure!(loaded["loaded"] == json!(["clock_add"]) && loaded["session_cap"] == 64, "{loaded}");
    ensure!(loaded["items"][0]["callable_as"] == "clock_add", "{loaded}");
    notices.until_changed("tools", 1, BOUND).await?;
    ensure!(others(&client).await? == ["clock_add"]);
    ensure!(client.call_text("clock_add", sum.clone()).await? == "42");
    ensure!(other.tool_names().await? == OWN, "what another session loaded");
    refusal(&other, "clock_add", sum.clone()).await?;

    // Nothing is new: nothing is told. Whatever that had led to would come before what the next one leads to.
    ensure!(load(&client, &["clock_add"]).await?["loaded"] == json!([]));
    let gone = ask(&client, "unload_tools", json!({"servers": ["clock"]})).await?;
    ensure!(gone == json!({"unloaded": ["clock_add"], "session_total": 0}), "{gone}");
    notices.until_changed("tools", 2, BOUND).await?;
    ensure!(client.tool_names().await? == OWN);
    refusal(&client, "clock_add", sum).await?;

    // For one call.
    let once = json!({"items": ["clock_echo"], "auto_unload": true});
    ask(&client, "load_tools", once).await?;
    ensure!(client.call_text("clock_echo", json!({"message": "hi"})).await? == "hi");
    refusal(&client, "clock_echo", json!({"message": "hi"})).await?;
    // Both changes may be told at once.
    notices.until_changed("tools", 3, BOUND).await?;
    ensure!(notices.changes("tools") <= 4, "{:?}", notices.all());
    Ok(())
}

#[tokio::test]
async fn a_full_session_says_what_is_loaded_and_lets_go_only_when_asked() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let discovery = json!({"mode": "lazy", "cap": 2});
    let plugway = Hub::before(clock.url()).key("discovery", discovery).start().await?;
    let client = plugway.legacy().await?;
    load(&client, &["clock_add", "clock_echo"]).await?;
    let one_more = json!({"items": ["clock_count"]});
    let sentence = refusal(&client, "load_tools", one_more).await?;
    ensure!(
        sentence
            == "At most 2 tools may be loaded, 2 are, and 1 more do not fit: unload some with unload_tools first, or pass \
                \"evict\": \"lru\" to let those go that were used the longest ago. Loaded: clock_add, clock_echo.",
        "{sentence}"
    );
    ensure!(others(&client).await? == ["clock_add", "clock_echo"], "nothing changed");
    client.call_text("clock_add", json!({"a": 1, "b": 1})).await?;
    let evicting = json!({"items": ["clock_count"], "evict": "lru"});
    let loaded = ask(&client, "load_tools", evicting).await?;
    ensure!(loaded["evicted"] == json!(["clock_echo"]) && loaded["session_total"] == 2, "{loaded}");
    ensure!(others(&client).await?.len() == 2);
    refusal(&client, "clock_echo", json!({"message": "hi"})).await?;
    Ok(())
}

#[tokio::test]
async fn what_nobody_uses_leaves_the_list_and_the_session_is_told_unasked() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let discovery = json!({"mode": "lazy", "idle": "1500ms"});
    let plugway = Hub::before(clock.url()).key("discovery", discovery).start().await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let loaded = load(&client, &["clock_add", "clock_echo"]).await?;
    ensure!(loaded["session_total"] == 2, "{loaded}");
    notices.until_changed("tools", 1, BOUND).await?;
    // Nothing is asked meanwhile.
    notices.until_changed("tools", 2, BOUND).await?;
    ensure!(client.tool_names().await? == OWN);
    let sentence = refusal(&client, "clock_echo", json!({"message": "hi"})).await?;
    ensure!(sentence.contains("is not loaded"), "{sentence}");
    ensure!(clock.count("tools/call").await? == 0, "it was called");
    Ok(())
}

/// A server with a tool that is tagged, as one of FastMCP lists it.
fn tagged(message: &Value, _: u64) -> Option<Raw> {
    if message["method"] != "tools/list" {
        return None;
    }
    let tool = |name: &str, tags: Value| json!({"name": name, "inputSchema": {"type": "object"}, "_meta": {"fastmcp": {"tags": tags}}});
    let tools =
        json!({"tools": [tool("wipe", json!(["gated"])), tool("look", json!(["granular"]))]});
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": tools})))
}

#[tokio::test]
async fn residents_are_always_listed_unless_they_are_gated() -> Result<()> {
    let (clock, server) = (DemoHttp::start(&[]).await?, Faulty::start(tagged).await?);
    let discovery = json!({"mode": "lazy", "residents": ["clock_ad?", "tagged_*"]});
    let plugway = Hub::before(clock.url())
        .upstream("tagged", &server.url())
        .key("discovery", discovery)
        .start()
        .await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        ensure!(others(&client).await? == ["clock_add", "tagged_look"]);
        ensure!(client.call_text("clock_add", json!({"a": 1, "b": 1})).await? == "2");
        refusal(&client, "tagged_wipe", json!({})).await?;
        ensure!(client.call_text("call_tool", json!({"name": "tagged_wipe"})).await? == "fine");
    }
    let client = plugway.legacy().await?;
    let loaded = load(&client, &["clock_add", "tagged_wipe"]).await?;
    ensure!(loaded["loaded"] == json!(["tagged_wipe"]), "a resident needs no place: {loaded}");
    ensure!(others(&client).await? == ["clock_add", "tagged_wipe", "tagged_look"]);
    Ok(())
}

#[tokio::test]
async fn over_pipes_it_is_a_session_like_any_other() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let mut pipe = Pipe::of(lazy(clock.url()).setup()?, &[])?;
    pipe.initialize().await?;
    let lists = async |pipe: &mut Pipe| {
        let answer = pipe.call("tools/list", json!({})).await?;
        anyhow::Ok(answer.to_string().contains("clock_add"))
    };
    ensure!(!lists(&mut pipe).await?);
    pipe.tool("load_tools", json!({"items": ["clock_add"]})).await?;
    ensure!(lists(&mut pipe).await?);
    ensure!(pipe.tool("clock_add", json!({"a": 2, "b": 3})).await? == "5");
    let changed = |pipe: &mut Pipe| {
        let told = pipe.others();
        told.iter().filter(|one| one["method"] == "notifications/tools/list_changed").count()
    };
    ensure!(changed(&mut pipe) == 1);
    let call = json!({"name": "clock_add", "arguments": {"a": 1, "b": 1}});
    ensure!(pipe.tool("call_tool", call).await? == "2");
    Ok(())
}

#[tokio::test]
async fn the_official_rust_client_finds_loads_and_calls() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let (_files, command) = lazy(clock.url()).setup()?.stdio(&[])?;
    let transport = TokioChildProcess::new(command)?;
    let initialize = ClientLifecycleMode::Initialize;
    let client =
        Box::pin(ClientConfig::default().serve_with_lifecycle(transport, initialize)).await?;
    let call = async |name: &'static str, arguments: Value| {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        let result = json!(Box::pin(client.call_tool(params)).await?);
        let text = result.pointer("/content/0/text").and_then(Value::as_str);
        anyhow::Ok(text.with_context(|| format!("no text in {result}"))?.to_owned())
    };
    let listed = async || {
        let tools = client.list_all_tools().await?;
        anyhow::Ok(tools.iter().any(|tool| tool.name == "clock_add"))
    };
    ensure!(!listed().await?);
    let found: Value = serde_json::from_str(&call("find_tools", json!({"query": "add"})).await?)?;
    ensure!(names(&found)?.contains(&"clock_add"), "{found}");
    call("load_tools", json!({"items": ["clock_add"]})).await?;
    ensure!(listed().await?);
    ensure!(call("clock_add", json!({"a": 2, "b": 40})).await? == "42");
    client.cancel().await?;
    Ok(())
}
