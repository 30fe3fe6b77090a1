//! Tasks of sessions: their ids are the caller's, lead to their server, and stand everywhere.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    faulty::{self, Faulty, Raw},
    rpc::Client,
};
use serde_json::{Value, json};

const RELATED: &str = "io.modelcontextprotocol/related-task";

fn answer(message: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
}

/// A server of the legacy era whose every task has the id `t1`.
fn legacy(message: &Value, name: &str) -> Option<Raw> {
    let task = json!({"taskId": "t1", "status": "working", "createdAt": "now", "ttl": 1.0});
    let related = json!({RELATED: {"taskId": "t1"}});
    let params = &message["params"];
    let is_own = params["taskId"] == "t1";
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "serverInfo": {"name": name, "version": "0"},
            "capabilities": {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}},
        }),
        "tools/call" if params["name"] == "bad" => {
            let note =
                json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": task});
            let result = answer(message, &json!({"content": [], "_meta": related}));
            let body = format!("data: {note}\n\ndata: {result}\n\n");
            return Some((200, "text/event-stream", None, body));
        }
        "tools/call" if params.get("task").is_some() => json!({"task": task}),
        "tasks/get" if is_own => json!({"taskId": "t1", "status": "working", "server": name}),
        "tasks/result" if is_own => json!({"content": [], "server": name, "_meta": related}),
        "tasks/cancel" if is_own => json!({"taskId": "t1", "status": "cancelled"}),
        "tasks/list" if params["cursor"] == "more" => json!({"tasks": []}),
        "tasks/list" => {
            let other = json!({"taskId": "somebody else's", "status": "working"});
            json!({"tasks": [other, task], "nextCursor": "more"})
        }
        _ => return None,
    };
    Some(faulty::body(&answer(message, &result)))
}

/// The id of the task that a call makes.
async fn begun(client: &Client, tool: &str) -> Result<String> {
    let reply = client.call("tools/call", json!({"name": tool, "task": {"ttl": 60_000}})).await?;
    let task = &reply.result()?["task"];
    ensure!(task["status"] == "working" && reply.text.contains(r#""ttl":1.0"#), "{reply:?}");
    task["taskId"].as_str().map(str::to_owned).context("no task")
}

async fn start_two() -> Result<(Faulty, Faulty, Plugway)> {
    Faulty::two(|message, _| legacy(message, "one"), |message, _| legacy(message, "two")).await
}

#[tokio::test]
async fn equal_ids_of_two_servers_lead_to_their_own() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let client = plugway.legacy().await?;
    let (first, second) = (begun(&client, "one_good").await?, begun(&client, "two_good").await?);
    ensure!(first != second && first != "t1");
    for (id, server) in [(&first, "one"), (&second, "two")] {
        let got = client.call("tasks/get", json!({"taskId": id})).await?;
        let got = got.result()?;
        ensure!(got["server"] == server && got["taskId"] == **id, "{got}");
        let came = client.call("tasks/result", json!({"taskId": id})).await?;
        let came = came.result()?;
        ensure!(came["server"] == server && came["_meta"][RELATED]["taskId"] == **id, "{came}");
        let ended = client.call("tasks/cancel", json!({"taskId": id})).await?;
        ensure!(ended.result()?["taskId"] == **id, "{ended:?}");
    }
    let told = client.call("tools/call", json!({"name": "two_bad"})).await?;
    let note = told.messages.first().context("no notification")?;
    ensure!(note["params"]["taskId"] == *second, "{note}");
    ensure!(told.result()?["_meta"][RELATED]["taskId"] == *second, "{told:?}");
    Ok(())
}

#[tokio::test]
async fn a_task_of_somebody_else_is_one_that_never_was() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let (client, other) = (plugway.legacy().await?, plugway.legacy().await?);
    let id = begun(&client, "one_good").await?;
    let mut sentences = Vec::new();
    for id in [id.as_str(), "t1", "one.t1.AAAAAAAAAAAAAAAAAAAAAA", ""] {
        let refused = other.call("tasks/get", json!({"taskId": id})).await?;
        ensure!(refused.error_code()? == -32602, "{refused:?}");
        let sentence = refused.response()?["error"]["message"].to_string();
        let shown = json!(json!(id).to_string()).to_string();
        sentences.push(sentence.replace(shown.trim_matches('"'), "ID"));
    }
    ensure!(sentences.windows(2).all(|pair| pair[0] == pair[1]), "{sentences:?}");
    // The shape of the other era has a method of its own.
    let other = other.call("tasks/update", json!({"taskId": id})).await?;
    ensure!(other.error_code()? == -32601 && other.status == 200, "{other:?}");
    Ok(())
}

#[tokio::test]
async fn clients_of_the_other_era_make_and_find_no_tasks_of_sessions() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let client = Client::modern_with(plugway.address(), "/mcp", tasks);
    let discovered = client.call("server/discover", json!({})).await?;
    let capabilities = &discovered.result()?["capabilities"];
    ensure!(capabilities.get("tasks").is_none() && capabilities.get("extensions").is_none());
    // The wish for a task means nothing in this era: the call is a plain one.
    let params = json!({"name": "one_good", "arguments": {}, "task": {"ttl": 60_000}});
    let called = client.call("tools/call", params).await?;
    ensure!(called.result()?["content"][0]["text"] == "fine", "{called:?}");
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"] {
        let reply = client.call(method, json!({"taskId": "t1"})).await?;
        ensure!(reply.error_code()? == -32601 && reply.status == 404, "{method}: {reply:?}");
    }
    Ok(())
}

#[tokio::test]
async fn lists_of_tasks_follow_each_other_page_by_page() -> Result<()> {
    let (_one, _two, plugway) = start_two().await?;
    let client = plugway.legacy().await?;
    let nobodys = plugway.legacy().await?.call("tasks/list", json!({})).await?;
    ensure!(nobodys.result()?["tasks"] == json!([]), "{nobodys:?}");
    let known = [begun(&client, "one_good").await?, begun(&client, "two_good").await?];
    let (mut ids, mut params, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let reply = client.call("tasks/list", params).await?;
        let result = reply.result()?;
        let tasks = result["tasks"].as_array().context("no tasks")?;
        ids.extend(tasks.iter().filter_map(|task| task["taskId"].as_str().map(str::to_owned)));
        pages += 1;
        let Some(cursor) = result.get("nextCursor") else { break };
        let stolen = plugway.legacy().await?.call("tasks/list", json!({"cursor": cursor})).await?;
        ensure!(stolen.error_code()? == -32602, "{stolen:?}");
        params = json!({"cursor": cursor});
    }
    ensure!(ids == known && pages == 4, "{ids:?} on {pages} pages");
    Ok(())
}
