//! Arguments that travel in headers, too (`x-mcp-header`, 2026-07-28): toward servers that want them, whoever calls; from
//! clients that must send them; and tools whose annotations break the rules.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use http::HeaderValue;
use plugway_tests::admin::Admin;
use plugway_tests::faulty::{self, Faulty, Raw};
use plugway_tests::{
    DemoHttp, Guest, Hub, Pipe, Plugway, Recorder, http as web, rpc::Client, wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const TOOL: &str = "up_test_custom_header";

/// The server of the conformance suite: in the modern era it refuses calls whose headers and arguments differ.
async fn fixture(era: &str) -> Result<DemoHttp> {
    DemoHttp::start_fixture(&["--era", era]).await
}

/// Values that need no encoding, and values that do.
const VALUES: [&str; 5] = ["plain", "Hello, 世界", " padded ", "a\nb", "=?base64?literal?="];

#[tokio::test]
async fn callers_who_send_no_headers_reach_a_server_that_wants_them() -> Result<()> {
    let server = fixture("modern").await?;
    let hub = Hub::new("hub").upstream("up", server.url());
    let plugway = hub.start().await?;
    let legacy = plugway.legacy().await?;
    let mut pipe = Pipe::of(hub.setup()?, &[])?;
    pipe.initialize().await?;
    let mut modern = Pipe::of(hub.setup()?, &[])?;
    for value in VALUES {
        let arguments = json!({"value": value});
        ensure!(legacy.call_text(TOOL, arguments.clone()).await? == value, "a session");
        ensure!(pipe.tool(TOOL, arguments.clone()).await? == value, "a session over pipes");
        ensure!(modern.tool_modern(TOOL, arguments).await? == value, "without one over pipes");
    }
    Ok(())
}

/// A call of the tool with these headers besides those that every request has.
async fn call(
    plugway: &Plugway,
    client: &Client,
    arguments: &Value,
    headers: &[(&'static str, &str)],
) -> Result<(u16, Value)> {
    let params = json!({"name": TOOL, "arguments": arguments});
    let (_, mut request) = client.request("tools/call", params)?;
    for (name, value) in headers {
        request.headers_mut().append(*name, HeaderValue::from_bytes(value.as_bytes())?);
    }
    let answer = web::send(plugway.address(), request).await?;
    Ok((answer.status, answer.json().with_context(|| answer.text())?))
}

#[tokio::test]
async fn a_modern_client_over_http_repeats_its_arguments() -> Result<()> {
    // What it was shown counts, whatever era the server speaks.
    for era in ["modern", "legacy"] {
        let server = fixture(era).await?;
        let plugway = Hub::new("hub").upstream("up", server.url()).start().await?;
        let client = plugway.modern();
        let hello = json!({"value": "Hello"});
        let name = "mcp-param-value";
        for (arguments, headers, fits) in [
            (hello.clone(), &[(name, "Hello")][..], true),
            (hello.clone(), &[("MCP-PARAM-VALUE", "=?base64?SGVsbG8=?=")], true),
            (json!({"value": "SGVsbG8="}), &[(name, "SGVsbG8=")], true),
            (hello.clone(), &[(name, "Hello"), ("mcp-param-unknown", "any")], true),
            (hello.clone(), &[], false),
            (hello.clone(), &[(name, "hello")], false),
            (hello.clone(), &[(name, "=?base64?SGVsbG8?=")], false),
            (hello.clone(), &[(name, "=?base64?SGVs!!!bG8=?=")], false),
            (hello.clone(), &[(name, "Héllo")], false),
            (hello.clone(), &[(name, "Hello"), (name, "Hello")], false),
            (json!({"value": null}), &[(name, "null")], false),
            (json!({}), &[(name, "Hello")], false),
        ] {
            let (status, answer) = call(&plugway, &client, &arguments, headers).await?;
            let what = format!("{era} {arguments} {headers:?}: {status} {answer}");
            if fits {
                let text = answer.pointer("/result/content/0/text");
                ensure!(status == 200 && text == arguments.get("value"), "{what}");
            } else {
                let code = answer.pointer("/error/code").and_then(Value::as_i64);
                ensure!(status == 400 && code == Some(-32020), "{what}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_a_policy_makes_of_arguments_is_what_the_server_gets_in_both_places() -> Result<()> {
    let server = fixture("modern").await?;
    let edit = Guest::new("admit_edit").config(json!({"arguments": {"value": "changed"}}));
    let plugway = Hub::new("hub").upstream("up", server.url()).policy(edit).start().await?;
    let arguments = json!({"value": "mine"});
    let headers = [("mcp-param-value", "mine")];
    let (_, answer) = call(&plugway, &plugway.modern(), &arguments, &headers).await?;
    ensure!(answer.pointer("/result/content/0/text") == Some(&json!("changed")), "{answer}");
    let legacy = plugway.legacy().await?;
    ensure!(legacy.call_text(TOOL, arguments).await? == "changed");
    Ok(())
}

/// What no tool is known to want may be known to the server.
#[tokio::test]
async fn headers_of_arguments_that_nobody_knows_reach_a_modern_server() -> Result<()> {
    let server = Recorder::modern().await?;
    let plugway = Hub::new("hub").upstream("up", &server.url()).start().await?;
    let client = plugway.modern();
    let params = json!({"name": "up_look", "arguments": {"region": "eu"}});
    let (_, mut request) = client.request("tools/call", params)?;
    let passed = [("mcp-param-region", "eu"), ("mcp-param-unknown", "=?base64?SGVsbG8=?=")];
    for (name, value) in passed {
        request.headers_mut().append(name, HeaderValue::from_static(value));
    }
    request.headers_mut().append("x-other", HeaderValue::from_static("mine"));
    ensure!(web::send(plugway.address(), request).await?.status == 200);
    let seen = server.last()?.headers;
    for (name, value) in passed {
        ensure!(seen.get(name).is_some_and(|seen| seen == value), "{name}: {seen:?}");
    }
    ensure!(seen.get("x-other").is_none(), "{seen:?}");
    ensure!(seen.get("mcp-name").is_some_and(|name| name == "look"), "{seen:?}");
    Ok(())
}

/// A modern server with tools of which one is invalid.
fn modern(message: &Value, lists: u64) -> Option<Raw> {
    let result = match message.get("method")?.as_str()? {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}}, "ttlMs": 0, "cacheScope": "public",
        }),
        "tools/list" => {
            let tool = |name: &str, parameter: Value| {
                let schema = json!({"type": "object", "properties": {"p": parameter}});
                json!({"name": name, "inputSchema": schema})
            };
            // Something changes with each read, and the invalid tool stays.
            json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "public",
                "tools": [
                    tool(&format!("good{lists}"), json!({"type": "string", "x-mcp-header": "P"})),
                    tool("bad", json!({"type": "number", "x-mcp-header": "P"})),
                ],
            })
        }
        _ => return None,
    };
    let id = message.get("id")?;
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": id, "result": result})))
}

#[tokio::test]
async fn a_tool_whose_annotations_break_the_rules_is_left_out_and_said_to_be() -> Result<()> {
    let server = Faulty::start(modern).await?;
    let admin = json!({"listen": "127.0.0.1:0", "token_file": "admin.token"});
    let plugway = Hub::new("hub").upstream("up", &server.url()).top("admin", admin).start().await?;
    let client = plugway.modern();
    let names = client.tool_names().await?;
    ensure!(names == ["up_good1", "hub_status"], "{names:?}");
    let admin = Admin::of(&plugway).await?;
    let left_out = json!([{
        "tool": "bad",
        "reason": "the parameter \"p\" has a header and is not of the type string, integer or boolean",
    }]);
    let shown = admin.get("upstreams").await?;
    ensure!(shown.pointer("/upstreams/0/offering/left_out") == Some(&left_out), "{shown}");
    ensure!(shown.pointer("/upstreams/0/offering/tools") == Some(&json!(1)), "{shown}");
    // The next read finds it again, and says nothing new.
    ensure!(admin.post("upstreams/hub/up/reconnect").await?.status == 200);
    wait::until("the catalogue is read again", BOUND, async || {
        Ok((client.tool_names().await? == ["up_good2", "hub_status"]).then_some(()))
    })
    .await?;
    let warnings = plugway.stderr().iter().filter(|line| line.contains("is left out")).count();
    ensure!(warnings == 1, "{warnings} warnings");
    let call = client.call("tools/call", json!({"name": "up_bad", "arguments": {}})).await?;
    ensure!(call.error_code()? == -32602, "{}", call.text);
    Ok(())
}
