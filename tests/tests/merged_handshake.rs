//! What a connector says about itself: the capabilities and the instructions of its servers, each as far as it is true.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Hub, Plugway,
    faulty::{self, Faulty, Raw},
    rpc::Client,
};
use serde_json::{Value, json};

/// A server of the legacy era that declares much.
fn legacy(message: &Value, _: u64) -> Option<Raw> {
    let result = json!({
        "protocolVersion": "2025-11-25", "serverInfo": {"name": "rich", "version": "0"},
        "instructions": format!("Ask the rich one. {}", "ä".repeat(4_000)),
        "capabilities": {
            "tools": {"listChanged": false}, "resources": {"subscribe": true}, "completions": {},
            "tasks": {"list": {}}, "experimental": {"x/y": {"deep": {"n": 1}}},
            "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}},
        },
    });
    (message["method"] == "initialize").then(|| answer(message, &result))
}

/// A server of the modern era.
fn modern(message: &Value, _: u64) -> Option<Raw> {
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
        "instructions": "Ask the fresh one.",
        "capabilities": {
            "tools": {}, "experimental": {"x/y": {"deep": {"m": true}}},
            "extensions": {"io.modelcontextprotocol/tasks": {}, "com.example/z": {}},
        },
    });
    (message["method"] == "server/discover").then(|| answer(message, &result))
}

fn answer(message: &Value, result: &Value) -> Raw {
    faulty::body(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
}

async fn said(client: &Client) -> Result<Value> {
    if let Some(said) = client.initialized() {
        return Ok(said.clone());
    }
    Ok(client.call("server/discover", json!({})).await?.result()?.clone())
}

#[tokio::test]
async fn capabilities_are_those_of_all_servers_where_they_work() -> Result<()> {
    let (rich, fresh) = (Faulty::start(legacy).await?, Faulty::start(modern).await?);
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: rich, url: '{}'}}, {{name: fresh, url: '{}'}}]\n",
        rich.url(),
        fresh.url()
    ))
    .await?;
    for (client, tasks) in [(plugway.legacy().await?, true), (plugway.modern(), false)] {
        let said = said(&client).await?;
        let capabilities = &said["capabilities"];
        ensure!(capabilities["completions"] == json!({}), "{capabilities}");
        ensure!(capabilities["resources"].is_object() && capabilities["tools"].is_object());
        let merged = json!({"x/y": {"deep": {"n": 1, "m": true}}});
        ensure!(capabilities["experimental"] == merged, "{capabilities}");
        let extensions = &capabilities["extensions"];
        for extension in ["io.modelcontextprotocol/ui", "com.example/z"] {
            ensure!(extensions[extension].is_object(), "{extension}: {capabilities}");
        }
        ensure!(capabilities.get("tasks").is_some() == tasks, "{capabilities}");
        let extension = extensions.get("io.modelcontextprotocol/tasks");
        ensure!(extension.is_some() != tasks, "{capabilities}");
        if tasks {
            let lists = json!({"listChanged": true});
            ensure!(capabilities["tools"] == lists, "{capabilities}");
            ensure!(capabilities["resources"]["subscribe"] == true, "{capabilities}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn instructions_stand_under_their_servers_names_and_are_bounded() -> Result<()> {
    let (rich, fresh) = (Faulty::start(legacy).await?, Faulty::start(modern).await?);
    let plugway = Plugway::start(format!(
        "name: hub\ndescription: Two servers.\nupstreams: [{{name: rich, url: '{}'}}, {{name: fresh, url: '{}'}}]\n",
        rich.url(),
        fresh.url()
    ))
    .await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let said = said(&client).await?;
        let text = said["instructions"].as_str().context("no instructions")?;
        ensure!(text.starts_with("Two servers.\n\n## rich\n\nAsk the rich one. ää"), "{text}");
        ensure!(text.ends_with("ä…\n\n## fresh\n\nAsk the fresh one."), "{text}");
        ensure!(text.len() < 4_096 + 100, "{} bytes", text.len());
    }
    Ok(())
}

#[tokio::test]
async fn instructions_that_the_operator_omits_are_not_told() -> Result<()> {
    let (rich, fresh) = (Faulty::start(legacy).await?, Faulty::start(modern).await?);
    let plugway = Hub::new("hub")
        .upstream_with("rich", &rich.url(), json!({"instructions": "omit"}))
        .upstream_with("fresh", &fresh.url(), json!({"instructions": "include"}))
        .start()
        .await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let said = said(&client).await?;
        ensure!(said["instructions"] == "## fresh\n\nAsk the fresh one.", "{said}");
    }
    Ok(())
}

/// Each server says more than 4 KiB: four have room, and of the fifth nothing but its beginning.
#[tokio::test]
async fn the_instructions_of_many_servers_are_bounded_together() -> Result<()> {
    const ALL: usize = 16 * 1024;
    let rich = Faulty::start(legacy).await?;
    let mut hub = Hub::new("hub");
    for n in 1..=7 {
        hub = hub.upstream(&format!("rich{n}"), &rich.url());
    }
    let plugway = hub.start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let said = said(&client).await?;
        let text = said["instructions"].as_str().context("no instructions")?;
        let sections: Vec<&str> = text.split("## ").skip(1).collect();
        ensure!(sections.len() == 4, "{} sections", sections.len());
        ensure!(text.len() > ALL - 100 && text.len() <= ALL + 2 * sections.len(), "{}", text.len());
        ensure!(sections.iter().all(|section| section.contains("ä…")), "{text}");
    }
    Ok(())
}
