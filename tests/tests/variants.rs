//! What servers offer to clients with capabilities of their own: such clients list it, call it and hear of its changes, and
//! nobody else does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::admin::Admin;
use plugway_tests::faulty::{self, Faulty, Raw};
use plugway_tests::{Hub, Notices, Plugway, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
/// Names that hub shows besides those of its servers.
const STATUS: &str = "hub_status";

fn ui() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}})
}

/// Stands in the name of the tool that not everybody is offered.
static VERSION: AtomicU64 = AtomicU64::new(0);
/// Counts the lists that were given.
static LISTS: AtomicU64 = AtomicU64::new(0);

/// A modern server that has a tool, a prompt and instructions more for clients with a user interface.
fn varying(message: &Value, _lists: u64) -> Option<Raw> {
    let id = message.get("id")?;
    let capabilities = message.pointer("/params/_meta/io.modelcontextprotocol~1clientCapabilities");
    let shows = capabilities.and_then(|own| own.pointer("/extensions/io.modelcontextprotocol~1ui"));
    let shows = shows.is_some();
    let declared = if shows {
        json!({"tools": {"listChanged": true}, "prompts": {}})
    } else {
        json!({"tools": {"listChanged": true}})
    };
    let result = match message.get("method")?.as_str()? {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": declared,
            "instructions": if shows { "Show it." } else { "Say it." },
            "ttlMs": 0, "cacheScope": "public",
        }),
        "tools/list" => {
            LISTS.fetch_add(1, Ordering::SeqCst);
            let mut tools = vec!["plain".to_owned()];
            if shows {
                tools.push(format!("chart{}", VERSION.load(Ordering::SeqCst)));
            }
            let tool = |name: &String| json!({"name": name, "inputSchema": {"type": "object"}});
            let tools: Vec<Value> = tools.iter().map(tool).collect();
            json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "public"})
        }
        "prompts/list" => json!({
            "resultType": "complete", "prompts": [{"name": "draw"}], "ttlMs": 0, "cacheScope": "public",
        }),
        "tools/call" => {
            let text = message.pointer("/params/name")?.as_str()?;
            json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
        }
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return Some(faulty::body(&json!({"jsonrpc": "2.0", "id": id, "error": error})));
        }
    };
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": id, "result": result})))
}

async fn start() -> Result<(Faulty, Plugway, Admin)> {
    let server = Faulty::start(varying).await?;
    let admin = json!({"listen": "127.0.0.1:0", "token_file": "admin.token"});
    let plugway = Hub::new("hub").upstream("up", &server.url()).top("admin", admin).start().await?;
    let admin = Admin::of(&plugway).await?;
    Ok((server, plugway, admin))
}

async fn legacy(plugway: &Plugway, capabilities: Value) -> Result<Client> {
    Client::legacy_with(plugway.address(), "/mcp", capabilities).await
}

fn modern(plugway: &Plugway, capabilities: Value) -> Client {
    Client::modern_with(plugway.address(), "/mcp", capabilities)
}

/// One test, since both of its halves change the same server.
#[tokio::test]
async fn a_client_lists_calls_and_hears_of_what_servers_offer_to_its_like() -> Result<()> {
    let (_server, plugway, admin) = start().await?;
    let read = LISTS.load(Ordering::SeqCst);
    let (shows, plain) = (legacy(&plugway, ui()).await?, legacy(&plugway, json!({})).await?);
    ensure!(plain.tool_names().await? == ["up_plain", STATUS]);
    for client in [&shows, &modern(&plugway, ui())] {
        ensure!(client.tool_names().await? == ["up_plain", "up_chart0", STATUS]);
        ensure!(client.call_text("up_chart0", json!({})).await? == "chart0");
        let prompts = client.call("prompts/list", json!({})).await?;
        ensure!(prompts.result()?["prompts"][0]["name"] == "up_draw", "{}", prompts.text);
    }
    ensure!(LISTS.load(Ordering::SeqCst) == read + 1, "it was read once for all of them");
    for client in [&plain, &modern(&plugway, json!({"elicitation": {}}))] {
        let call = client.call("tools/call", json!({"name": "up_chart0", "arguments": {}})).await?;
        ensure!(call.error_code()? == -32602, "{}", call.text);
        ensure!(client.call_text("up_plain", json!({})).await? == "plain");
    }
    let said =
        |client: &Client, pointer: &str| Some(client.initialized()?.pointer(pointer)?.to_string());
    let instructions = said(&shows, "/instructions").context("no instructions")?;
    ensure!(instructions.contains("Show it."), "{instructions}");
    ensure!(said(&shows, "/capabilities/prompts").is_some());
    ensure!(said(&plain, "/instructions").is_some_and(|said| said.contains("Say it.")));
    ensure!(said(&plain, "/capabilities/prompts").is_none());

    // Only what some see changes: they hear of it.
    let (told, not_told) = (Notices::of(&shows).await?, Notices::of(&plain).await?);
    let wish = json!({"notifications": {"toolsListChanged": true}});
    let subscriber = modern(&plugway, ui());
    let mut subscribed = subscriber.open("subscriptions/listen", wish).await?;
    let first = subscribed.next(BOUND).await?.context("no acknowledgement")?;
    ensure!(first["method"] == "notifications/subscriptions/acknowledged", "{first}");
    VERSION.store(1, Ordering::SeqCst);
    ensure!(admin.post("upstreams/hub/up/reconnect").await?.status == 200);
    told.until_changed("tools", 1, BOUND).await?;
    ensure!(shows.tool_names().await? == ["up_plain", "up_chart1", STATUS]);
    ensure!(told.changes("prompts") == 0);
    let note = subscribed.next(BOUND).await?.context("the subscription ended")?;
    ensure!(note["method"] == "notifications/tools/list_changed", "{note}");
    // What everybody sees changes for both. The others have heard of nothing else.
    ensure!(admin.post("upstreams/hub/up/disable").await?.status == 200);
    told.until_changed("tools", 2, BOUND).await?;
    not_told.until_changed("tools", 1, BOUND).await?;
    ensure!(not_told.changes("tools") == 1, "{:?}", not_told.all());
    ensure!(shows.tool_names().await? == [STATUS]);
    VERSION.store(2, Ordering::SeqCst);
    ensure!(admin.post("upstreams/hub/up/enable").await?.status == 200);
    wait::until("it is back with what is new", BOUND, async || {
        let names = shows.tool_names().await?;
        Ok((names == ["up_plain", "up_chart2", STATUS]).then_some(()))
    })
    .await?;
    ensure!(plain.tool_names().await? == ["up_plain", STATUS]);
    Ok(())
}
