//! Arguments that two readers would read differently are refused when a plugin reads them, and only then.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Guest, Hub, Recorder, http, rpc::Client};
use serde_json::Value;

/// A key twice, at every depth and in every disguise.
const DOUBLE: [&str; 5] = [
    r#"{"a":1,"a":2}"#,
    r#"{"a":1,"\u0061":2}"#,
    r#"{"x":{"a":1,"a":1}}"#,
    r#"{"x":[[{"y":{"z":[0,{"k":1,"k":2}]}}]]}"#,
    r#"{"boom":false,"x":1,"boom":true}"#,
];

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#;

/// A `tools/call` of `up_look` with exactly these arguments.
async fn call(address: SocketAddr, session: Option<&str>, arguments: &str) -> Result<Value> {
    let (head, meta) = match session {
        Some(id) => (format!("mcp-session-id: {id}\r\n"), ""),
        None => (
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: up_look\r\n"
                .to_owned(),
            META,
        ),
    };
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta}"name":"up_look","arguments":{arguments}}}}}"#
    );
    let length = body.len();
    let text = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{head}\r\n{body}"
    );
    http::exchange(address, text.as_bytes()).await?.json()
}

/// The ways of both eras into a hub: a session and none.
fn ways(client: &Client) -> [Option<&str>; 2] {
    [client.session(), None]
}

#[tokio::test]
async fn a_plugin_that_reads_arguments_never_sees_ambiguous_ones() -> Result<()> {
    let readers = [
        Guest::new("traps_on_argument"),
        // What the operator lets pass are failures of the plugin, and this is none.
        Guest::new("traps_on_argument").passing(),
        Guest::new("imports_echo"),
        Guest::new("admit_edit").config(serde_json::json!({"arguments": {"b": 1}})),
    ];
    for reader in readers {
        let upstream = Recorder::start().await?;
        let hub = Hub::new("hub").upstream("up", &upstream.url()).policy(reader);
        let plugway = hub.start().await?;
        let client = plugway.legacy().await?;
        for arguments in DOUBLE {
            for way in ways(&client) {
                let answer = call(plugway.address(), way, arguments).await?;
                ensure!(answer["error"]["code"] == -32602, "{arguments}: {answer}");
                let message = answer["error"]["message"].as_str().context("no message")?;
                ensure!(message.contains("ambiguous") && message.ends_with('.'), "{message}");
            }
        }
        ensure!(upstream.calls().is_empty(), "ambiguous arguments reached the upstream");
        // The plugin did nothing wrong and goes on.
        let answer = call(plugway.address(), client.session(), r#"{"a":1,"b":{"a":1}}"#).await?;
        ensure!(answer["result"].is_object(), "{answer}");
    }
    Ok(())
}

#[tokio::test]
async fn without_a_reader_arguments_pass_as_they_are() -> Result<()> {
    let attribute = serde_json::json!({"attributes": {"edit/a": "b"}});
    let hubs =
        [Hub::new("hub"), Hub::new("hub").policy(Guest::new("admit_edit").config(attribute))];
    for hub in hubs {
        let upstream = Recorder::start().await?;
        let plugway = hub.upstream("up", &upstream.url()).start().await?;
        let client = plugway.legacy().await?;
        for arguments in DOUBLE {
            for way in ways(&client) {
                let answer = call(plugway.address(), way, arguments).await?;
                ensure!(answer["result"]["content"][0]["text"] == "seen", "{arguments}: {answer}");
                let came = upstream.last()?.text();
                ensure!(came.contains(arguments), "{arguments} became {came}");
            }
        }
    }
    Ok(())
}
