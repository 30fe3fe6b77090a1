//! Tasks as the extension of the modern era has them: their ids are the caller's, lead to their server, and stand everywhere;
//! who does not declare the extension is told so.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Plugway,
    demo::fixture_path,
    faulty::{self, Faulty, Raw},
    rpc::{Client, Events},
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const TASKS: &str = "io.modelcontextprotocol/tasks";
const ID: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";

fn declared() -> Value {
    json!({"extensions": {TASKS: {}}})
}

fn client(plugway: &Plugway, capabilities: Value) -> Client {
    Client::modern_with(plugway.address(), "/mcp", capabilities)
}

/// A server whose every task has the id `t1`, and waits for its client: it wants a word.
fn modern(message: &Value, name: &str) -> Option<Raw> {
    let params = &message["params"];
    let is_own = params["taskId"] == "t1";
    let question = json!({"method": "elicitation/create", "params": {"message": "Which word?"}});
    let waiting = json!({
        "resultType": "complete", "taskId": "t1", "status": "input_required", "server": name,
        "inputRequests": {"word": question}, "n": 1.0,
    });
    let result = match message["method"].as_str()? {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
            "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
        }),
        "tools/call" => json!({"resultType": "task", "taskId": "t1", "status": "working"}),
        "tasks/get" if is_own => waiting,
        "tasks/update" | "tasks/cancel" if is_own => {
            json!({"resultType": "complete", "server": name, "sent": params["inputResponses"]})
        }
        "subscriptions/listen" => return Some(listening(message, &waiting)),
        _ => return None,
    };
    Some(faulty::body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}

/// A stream that acknowledges everything, tells of a task of somebody else and of the one that was asked for, and breaks off.
fn listening(message: &Value, task: &Value) -> Raw {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
    let note = |method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        let note = json!({"jsonrpc": "2.0", "method": method, "params": params});
        format!("data: {note}\n\n")
    };
    let asked = &message["params"]["notifications"];
    let mut own = task.clone();
    own["asked"] = asked.clone();
    let other = json!({"taskId": "t2", "status": "working"});
    let body = note("notifications/subscriptions/acknowledged", json!({"notifications": asked}))
        + &note("notifications/tasks", other)
        + &note("notifications/tasks", own);
    (200, "text/event-stream", None, body)
}

async fn start_two() -> Result<(Faulty, Faulty, Plugway)> {
    Faulty::two(|message, _| modern(message, "one"), |message, _| modern(message, "two")).await
}

/// The id of the task that a call makes.
async fn begun(client: &Client, server: &str) -> Result<String> {
    let made = client.call_tool(&format!("{server}_good"), json!({})).await?;
    ensure!(made["resultType"] == "task" && made["taskId"] != "t1", "{made}");
    made["taskId"].as_str().map(str::to_owned).context("no task")
}

#[tokio::test]
async fn the_extension_has_ids_of_the_caller_too() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let mut capabilities = declared();
    capabilities["elicitation"] = json!({});
    let client = client(&plugway, capabilities);
    for server in ["one", "two"] {
        let id = begun(&client, server).await?;
        let got = client.call("tasks/get", json!({"taskId": id})).await?;
        ensure!(got.text.contains(r#""n":1.0"#), "{got:?}");
        let got = got.result()?;
        ensure!(got["server"] == server && got["taskId"] == *id, "{got}");
        let asked = &got["inputRequests"]["word"]["params"]["message"];
        ensure!(*asked == format!("[{server}] Which word?"), "{got}");
        let params = json!({"taskId": id, "inputResponses": {"word": {"n": 1}}});
        let sent = client.call("tasks/update", params).await?;
        let sent = sent.result()?;
        ensure!(sent["server"] == server && sent["sent"] == json!({"word": {"n": 1}}), "{sent}");
        let ended = client.call("tasks/cancel", json!({"taskId": id})).await?;
        ensure!(ended.result()?["server"] == server, "{ended:?}");
    }
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let unknown = client.call(method, json!({"taskId": "t1"})).await?;
        ensure!(unknown.error_code()? == -32602 && unknown.status == 200, "{unknown:?}");
    }
    // The shape of the other era has methods of its own.
    for method in ["tasks/result", "tasks/list"] {
        let gone = client.call(method, json!({"taskId": "t1"})).await?;
        ensure!(gone.error_code()? == -32601 && gone.status == 404, "{gone:?}");
    }
    Ok(())
}

#[tokio::test]
async fn who_does_not_declare_the_extension_is_told_what_is_required() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let id = begun(&client(&plugway, declared()), "one").await?;
    for capabilities in [json!({}), json!({"tasks": {}}), json!({"extensions": {"x/y": {}}})] {
        let client = client(&plugway, capabilities);
        let listen = json!({"notifications": {"taskIds": [id]}});
        for (method, params) in [
            ("tasks/get", json!({"taskId": id})),
            ("tasks/update", json!({"taskId": id, "inputResponses": {}})),
            ("tasks/cancel", json!({"taskId": "never was"})),
            ("subscriptions/listen", listen),
        ] {
            let refused = client.call(method, params).await?;
            ensure!(refused.error_code()? == -32021 && refused.status == 400, "{refused:?}");
            let required = &refused.response()?["error"]["data"]["requiredCapabilities"];
            ensure!(*required == declared(), "{refused:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_task_asks_for_nothing_that_its_client_did_not_declare() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let client = client(&plugway, declared());
    let id = begun(&client, "one").await?;
    let refused = client.call("tasks/get", json!({"taskId": id})).await?;
    ensure!(refused.error_code()? == -32603, "{refused:?}");
    ensure!(refused.text.contains("elicitation/create"), "{refused:?}");
    Ok(())
}

async fn next(events: &mut Events) -> Result<Value> {
    events.next(BOUND).await?.context("the stream ended")
}

/// What was acknowledged, and the first two messages behind it, by the servers that they are from.
async fn heard(client: &Client, ids: &[&str]) -> Result<(Value, [Value; 2])> {
    let params = json!({"notifications": {"taskIds": ids, "toolsListChanged": true}});
    let mut events = client.open("subscriptions/listen", params).await?;
    let first = next(&mut events).await?;
    ensure!(first["method"] == "notifications/subscriptions/acknowledged", "{first}");
    let id = first.pointer(ID).context("no id")?;
    let mut told = [next(&mut events).await?, next(&mut events).await?];
    told.sort_by_key(|told| told["params"]["server"].to_string());
    for told in &told {
        ensure!(told["method"] == "notifications/tasks" && told.pointer(ID) == Some(id), "{told}");
    }
    Ok((first["params"]["notifications"].clone(), told))
}

#[tokio::test]
async fn who_listens_for_tasks_hears_of_its_own_from_the_servers_that_have_them() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let mut capabilities = declared();
    capabilities["elicitation"] = json!({});
    let client = client(&plugway, capabilities);
    let (one, two) = (begun(&client, "one").await?, begun(&client, "two").await?);
    let foreign = format!("{one}x");
    let (honoured, told) = heard(&client, &[&two, &foreign, "t1", &one]).await?;
    ensure!(honoured == json!({"toolsListChanged": true, "taskIds": [two, one]}), "{honoured}");
    for (told, (id, server)) in told.iter().zip([(&one, "one"), (&two, "two")]) {
        let params = &told["params"];
        ensure!(params["taskId"] == **id && params["server"] == server, "{told}");
        ensure!(params["asked"] == json!({"taskIds": ["t1"]}), "{told}");
        let asked = &params["inputRequests"]["word"]["params"]["message"];
        ensure!(*asked == format!("[{server}] Which word?"), "{told}");
    }
    Ok(())
}

#[tokio::test]
async fn a_list_of_tasks_to_hear_of_is_bounded_and_a_list() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let client = client(&plugway, declared());
    for wrong in [json!("t1"), json!([1]), json!(vec!["t1"; 257])] {
        let params = json!({"notifications": {"taskIds": wrong}});
        let refused = client.call("subscriptions/listen", params).await?;
        ensure!(refused.error_code()? == -32602, "{refused:?}");
    }
    Ok(())
}

/// A task that works for so long.
async fn compute(client: &Client, tool: &str, seconds: u64) -> Result<Value> {
    let arguments = json!({"seconds": seconds, "label": "x"});
    client.call_tool(tool, arguments).await
}

#[tokio::test]
async fn a_real_server_has_tasks_over_http_and_over_pipes_where_it_can_keep_them() -> Result<()> {
    let web = DemoHttp::start_fixture(&[]).await?;
    let kid = json!({"name": "kid", "command": fixture_path()?, "args": ["--stdio"]});
    let configuration = json!({
        "connectors": [{
            "name": "hub", "path": "/",
            "upstreams": [{"name": "web", "url": web.url()}, kid],
        }],
    });
    let plugway = Plugway::start(configuration.to_string()).await?;
    let client = client(&plugway, declared());
    let made = compute(&client, "web_slow_compute", 60).await?;
    ensure!(made["resultType"] == "task", "{made}");
    let id = made["taskId"].clone();
    let got = client.call("tasks/get", json!({"taskId": id})).await?;
    ensure!(got.result()?["status"] == "working" && got.result()?["taskId"] == id, "{got:?}");
    ensure!(client.call("tasks/cancel", json!({"taskId": id})).await?.result()?.is_object());
    // Nobody in particular has a child for one answer: a task would end with it, so the server makes none.
    let done = compute(&client, "kid_slow_compute", 0).await?;
    ensure!(done["resultType"] == "complete" && done["content"].is_array(), "{done}");
    Ok(())
}
