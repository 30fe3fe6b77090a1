//! `plugway stdio` with real clients, which start it themselves.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, binary, demo_notes_path, peers::Peers, plugway::Setup};
use rmcp::{
    model::{CallToolRequestParams, ClientConfig, ProtocolVersion, ReadResourceRequestParams},
    service::{ClientLifecycleMode, ClientServiceExt as _},
    transport::TokioChildProcess,
};
use serde_json::json;

async fn setup() -> Result<(DemoHttp, Setup)> {
    let demo = DemoHttp::start(&[]).await?;
    let setup = Setup::new(format!(
        "name: hub\nupstreams:\n- {{name: clock, url: '{}'}}\n- {{name: notes, command: '{}'}}\n",
        demo.url(),
        demo_notes_path()?.display()
    ));
    Ok((demo, setup))
}

#[tokio::test]
async fn the_official_rust_client_lists_calls_and_reads_in_both_eras() -> Result<()> {
    let modern =
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for lifecycle in [ClientLifecycleMode::Initialize, modern] {
        let (_demo, setup) = setup().await?;
        let (_files, command) = setup.stdio(&[])?;
        let transport = TokioChildProcess::new(command)?;
        let client =
            Box::pin(ClientConfig::default().serve_with_lifecycle(transport, lifecycle)).await?;
        let tools = client.list_all_tools().await?;
        for name in ["clock_add", "notes_add_note"] {
            ensure!(tools.iter().any(|tool| tool.name == name), "{name} is missing");
        }
        let call = async |name: &'static str, arguments: serde_json::Value| {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            let params = CallToolRequestParams::new(name).with_arguments(arguments);
            let result = json!(Box::pin(client.call_tool(params)).await?);
            let text = result.pointer("/content/0/text").and_then(|text| text.as_str());
            anyhow::Ok(text.with_context(|| format!("no text in {result}"))?.to_owned())
        };
        ensure!(call("clock_add", json!({"a": 2, "b": 40})).await? == "42");
        call("notes_add_note", json!({"text": "kept"})).await?;
        ensure!(call("notes_list_notes", json!({})).await? == "kept");
        let resources = client.list_all_resources().await?;
        let uri = resources.first().context("no resources")?.uri.clone();
        let params = ReadResourceRequestParams::new(uri);
        ensure!(!Box::pin(client.read_resource(params)).await.map(|read| json!(read))?.is_null());
        client.cancel().await?;
    }
    Ok(())
}

#[tokio::test]
async fn peer_python_client_starts_it_and_calls_in_both_eras() -> Result<()> {
    let peers = Peers::find()?;
    for (mode, protocol) in [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "")] {
        let (_demo, setup) = setup().await?;
        let (_files, command) = setup.stdio(&[])?;
        let words: Vec<_> =
            command.as_std().get_args().map(|word| word.to_string_lossy()).collect();
        let program = binary::find("plugway")?;
        let mut command = vec![program.to_string_lossy()];
        command.extend(words);
        let asks =
            [r#"clock_add={"a":2,"b":3}"#, r#"notes_add_note={"text":"x"}"#, "notes_list_notes"];
        let answer = peers.mcp(&json!(command).to_string(), mode, &asks).await?;
        if !protocol.is_empty() {
            ensure!(answer["protocol"] == protocol, "{answer}");
        }
        let text = |n: usize| answer.pointer(&format!("/results/{n}/content/0/text")).cloned();
        ensure!(text(0) == Some(json!("5")) && text(2) == Some(json!("x")), "{answer}");
    }
    Ok(())
}
