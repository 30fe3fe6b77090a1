//! The links in answers.

use anyhow::{Context as _, Result, ensure};
use http::{HeaderValue, Method};
use plugway_tests::{
    Pipe, Plugway, Shelf, http as web,
    rpc::{Channel, Client},
    shelf::CSV,
};
use serde_json::{Value, json};

use super::{fetch, hub, link, parts};

#[tokio::test]
async fn links_are_plugways_own_wherever_an_answer_holds_them() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    let text = "saved: ORIGIN/artifacts/session-1/0a1b2c/a.csv. [p](ORIGIN/artifacts/s/t/plots/p.png) \
                http://127.0.0.1:9/artifacts/s/t/a.csv ORIGIN/artifacts/../mcp";
    for client in [plugway.legacy().await?, plugway.modern()] {
        let check = |result: &Value, place: &str| -> Result<String> {
            let shown = result["content"][0]["text"].as_str().context("no text")?.to_owned();
            let saved = shown.strip_prefix("saved: ").context("the text before")?;
            let (csv, rest) = saved.split_once(". [p](").with_context(|| shown.clone())?;
            let (png, rest) = rest.split_once(") ").context("the text between")?;
            ensure!(
                parts(&plugway, csv)?.1 == "a.csv" && parts(&plugway, png)?.1 == "p.png",
                "{place}"
            );
            let others = format!(
                "http://127.0.0.1:9/artifacts/s/t/a.csv {}/artifacts/../mcp",
                shelf.origin()
            );
            ensure!(rest == others, "another server's, and one that goes up: {rest}");
            // The same inside of a text inside of the text, with its slashes escaped.
            for inner in [&result["content"][1]["text"], &result["structuredContent"]["result"]] {
                let inner = inner.as_str().context("no text")?;
                let inner: Value = serde_json::from_str(inner)?;
                ensure!(inner == json!({"saved": shown, "again": [shown]}), "{place}: {inner}");
            }
            ensure!(result["structuredContent"]["link"] == shown.as_str(), "{place}");
            Ok(shown)
        };
        let result = client.call_tool("up_links", json!({"text": text})).await?;
        let shown = check(&result, "whole")?;
        for (piece, length) in [(1_000, false), (7, false), (64 * 1024, true)] {
            let mut arguments = json!({"text": text, "piece": piece});
            if length {
                arguments["length"] = json!(true);
            }
            let result = client.call_tool("up_large", arguments).await?;
            ensure!(check(&result, "large")? == shown, "the same link for the same file");
            ensure!(result["content"][3]["text"] == shown.as_str());
            let filler = "http://127.0.0.1/artifact http:// ".repeat(4_000);
            ensure!(result["content"][2]["text"] == filler);
        }
        let steps =
            json!({"name": "up_steps", "arguments": {"text": text}, "_meta": {"progressToken": 1}});
        let reply = client.call("tools/call", steps).await?;
        ensure!(reply.messages.len() == 2, "{}", reply.text);
        ensure!(reply.messages[0]["params"]["message"] == shown.as_str(), "{}", reply.text);
        ensure!(check(&reply.messages[1]["result"], "events")? == shown);
    }
    Ok(())
}

#[tokio::test]
async fn links_name_plugway_as_its_clients_know_it() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway =
        Plugway::start(hub(&shelf, "", "allowed_hosts: [mcp.example.com]\npath: /a/hub\n")).await?;
    let call = |host: &str| {
        let params =
            json!({"name": "up_links", "arguments": {"text": "ORIGIN/artifacts/s/t/a.csv"}});
        let (_, mut request) =
            Client::modern(plugway.address(), "/a/hub/mcp").request("tools/call", params)?;
        request.headers_mut().insert("host", HeaderValue::from_str(host)?);
        anyhow::Ok(request)
    };
    for host in
        ["mcp.example.com".to_owned(), plugway.address().to_string(), "localhost:1".to_owned()]
    {
        let answer = web::send(plugway.address(), call(&host)?).await?.json()?;
        let shown = answer["result"]["content"][0]["text"].as_str().context("no text")?;
        ensure!(shown.starts_with(&format!("http://{host}/a/hub/artifacts/")), "{shown}");
    }
    let public = "public_url: https://mcp.example.com/mcp-proxy/\npath: /hub\n";
    let origins = ", artifact_origins: ['https://chem.example.com', 'http://localhost:1']";
    let plugway = Plugway::start(hub(&shelf, origins, public)).await?;
    let client = Client::modern(plugway.address(), "/hub/mcp");
    let shown = link(&client, "a.csv").await?;
    let public = "https://mcp.example.com/mcp-proxy";
    let path = shown.strip_prefix(public).with_context(|| shown.clone())?;
    ensure!(path.starts_with("/hub/artifacts/"), "{path}");
    ensure!(plugway.get(path).await?.text() == CSV);
    // What the server calls itself on its machine is the server.
    let named = "http://LOCALHOST:1/artifacts/session-1/0a1b2c/a.csv";
    let shown = client.call_text("up_links", json!({"text": named})).await?;
    let path = shown.strip_prefix(public).with_context(|| shown.clone())?;
    ensure!(plugway.get(path).await?.text() == CSV);
    let text = "https://chem.example.com/artifacts/s/t/a.csv";
    let shown = client.call_text("up_links", json!({"text": text})).await?;
    ensure!(shown.starts_with(public), "{shown}");
    Ok(())
}

#[tokio::test]
async fn nothing_serves_files_to_a_client_over_pipes_and_its_links_stay() -> Result<()> {
    let shelf = Shelf::start().await?;
    let configuration = hub(&shelf, "", "public_url: https://mcp.example.com\n");
    let mut pipe = Pipe::start(configuration)?;
    pipe.initialize().await?;
    let shown = pipe.tool("up_links", json!({"text": shelf.link("a.csv")})).await?;
    ensure!(shown == shelf.link("a.csv"), "{shown}");
    Ok(())
}

#[tokio::test]
async fn clients_of_the_first_revision_get_links_too() -> Result<()> {
    let shelf = Shelf::start().await?;
    let plugway = Plugway::start(hub(&shelf, "", "")).await?;
    let mut channel = Channel::open(plugway.address(), "/sse", None).await?;
    channel.initialize().await?;
    let params = json!({"name": "up_links", "arguments": {"text": shelf.link("a.csv")}});
    let answer = channel.call(1, "tools/call", params).await?;
    let shown = answer["result"]["content"][0]["text"].as_str().context("no text")?;
    parts(&plugway, shown)?;
    ensure!(fetch(&plugway, Method::GET, shown, None).await?.text() == CSV);
    Ok(())
}
