//! Bad input, as a table for each era: the HTTP status and the JSON-RPC code, one clear sentence, and nobody else hurt.
#![expect(clippy::too_many_lines, reason = "each function is one table")]

use std::net::SocketAddr;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Plugway, http};
use serde_json::Value;

/// One request and what it must be answered with.
struct Row {
    what: &'static str,
    /// Header lines beside Host and Content-Length, which are added.
    head: String,
    body: Vec<u8>,
    status: u16,
    /// None where the answer carries no JSON-RPC error.
    code: Option<i64>,
}

const JSON: &str =
    "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn row(what: &'static str, head: &str, body: impl AsRef<[u8]>, status: u16, code: i64) -> Row {
    let body = body.as_ref().to_vec();
    Row { what, head: format!("{JSON}{head}"), body, status, code: Some(code) }
}

async fn check(address: SocketAddr, rows: Vec<Row>) -> Result<()> {
    for row in rows {
        let mut bytes = format!(
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\nconnection: close\r\n{}\r\n",
            row.body.len(),
            row.head,
        )
        .into_bytes();
        bytes.extend_from_slice(&row.body);
        let answer = http::exchange(address, &bytes).await.context(row.what)?;
        ensure!(answer.status == row.status, "{}: {} {}", row.what, answer.status, answer.text());
        let Some(code) = row.code else { continue };
        let json = answer.json().context(row.what)?;
        let error = |member: &str| json.pointer(&format!("/error/{member}"));
        ensure!(error("code") == Some(&code.into()), "{}: {json}", row.what);
        let message = error("message").and_then(Value::as_str).unwrap_or_default();
        ensure!(message.ends_with('.') && message.len() < 400, "{}: {message}", row.what);
        ensure!(error("data/requestId").is_some_and(Value::is_string), "{}: {json}", row.what);
    }
    Ok(())
}

fn call(name: &str, extra: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{{}}{extra}}}}}"#
    )
}

/// What is wrong whatever the era: the text itself, and the HTTP request around it.
fn either_era(head: &str) -> Vec<Row> {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let many =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":"{}"}}"#, "x".repeat(5 << 20));
    let no_type = "accept: application/json, text/event-stream\r\n".to_owned();
    let mut rows = vec![
        row("no JSON", head, "{", 400, -32700),
        row("an empty body", head, "", 400, -32700),
        row("two values", head, format!("{PING}{PING}"), 400, -32700),
        row(
            "invalid UTF-8",
            head,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
            400,
            -32700,
        ),
        row(
            "a lone control character",
            head,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\u{1}\"}",
            400,
            -32700,
        ),
        row("nesting", head, deep, 400, -32700),
        row("no object", head, "7", 400, -32600),
        row("no version", head, r#"{"id":1,"method":"ping"}"#, 400, -32600),
        row("a wrong version", head, r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600),
        row("id null", head, r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600),
        row("a fractional id", head, r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, -32600),
        row("a structured id", head, r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, 400, -32600),
        row("no string method", head, r#"{"jsonrpc":"2.0","id":1,"method":7}"#, 400, -32600),
        row(
            "params no object",
            head,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            400,
            -32600,
        ),
        row(
            "request and response",
            head,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
            400,
            -32600,
        ),
        row(
            "result and error",
            head,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            400,
            -32600,
        ),
        row("a key twice", head, r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, 400, -32600),
        row(
            "a key twice, once escaped",
            head,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"x"}"#,
            400,
            -32600,
        ),
        row("a key twice in params", head, call("a", r#","name":"b""#), 400, -32600),
        row(
            "a key twice in _meta",
            head,
            call("a", r#","_meta":{"progressToken":1,"progressToken":2}"#),
            400,
            -32600,
        ),
        row("Method", head, r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#, 400, -32600),
        row(
            "a long s",
            head,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}"#,
            400,
            -32600,
        ),
        row("NAME", head, call("a", r#","NAME":"b""#), 400, -32600),
        row("progresstoken", head, call("a", r#","_meta":{"progresstoken":1}"#), 400, -32600),
        row("a body over 4 MiB", head, many, 413, -32600),
        row("a compressed body", &format!("{head}content-encoding: gzip\r\n"), PING, 415, -32600),
        row(
            "the content type twice",
            &format!("{head}content-type: text/plain\r\n"),
            PING,
            400,
            -32600,
        ),
        row(
            "the version twice",
            &format!(
                "{head}mcp-protocol-version: 2025-06-18\r\nmcp-protocol-version: 2025-11-25\r\n"
            ),
            PING,
            400,
            -32600,
        ),
        row(
            "an origin of somebody else",
            &format!("{head}origin: http://evil.example\r\n"),
            PING,
            403,
            -32600,
        ),
        row(
            "an unknown revision in the header",
            &format!("{head}mcp-protocol-version: 2020-01-01\r\n"),
            PING,
            400,
            -32022,
        ),
    ];
    for (what, header, status) in [
        ("no content type", no_type.clone(), 415),
        ("another content type", format!("{no_type}content-type: text/plain\r\n"), 415),
        (
            "an Accept without events",
            "content-type: application/json\r\naccept: application/json\r\n".to_owned(),
            406,
        ),
    ] {
        let header = format!("{header}{head}");
        rows.push(Row { what, head: header, body: PING.into(), status, code: Some(-32600) });
    }
    rows
}

#[tokio::test]
async fn the_legacy_era_answers_bad_input_as_the_table_says() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "connectors:\n  - name: hub\n    path: /\n    upstreams: [{{name: clock, url: '{url}'}}]\n  - name: other\n    path: /other\n    upstreams: [{{name: clock, url: '{url}'}}]\n",
        url = upstream.url()
    ))
    .await?;
    let client = plugway.legacy().await?;
    let foreign = plugway_tests::rpc::Client::legacy(plugway.address(), "/other/mcp").await?;
    let foreign = foreign.session().context("no session")?;
    let session = format!("mcp-session-id: {}\r\n", client.session().context("no session")?);

    let mut rows = either_era("");
    rows.extend(either_era(&session));
    let unknown = "mcp-session-id: v1.00000000000000000000000000000000\r\n";
    let initialize =
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    rows.extend([
        row("no session", "", PING, 400, -32600),
        row("an unknown session", unknown, PING, 404, -32600),
        row(
            "a session of another connector",
            &format!("mcp-session-id: {foreign}\r\n"),
            PING,
            404,
            -32600,
        ),
        row("no session id at all", "mcp-session-id: hello\r\n", PING, 404, -32600),
        row("two sessions", &format!("{session}{session}"), PING, 400, -32600),
        row("a batch in 2025-11-25", &session, format!("[{PING}]"), 400, -32600),
        row(
            "a method of the other era",
            &session,
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
            200,
            -32601,
        ),
        row("an unknown tool", &session, call("no_such", ""), 200, -32602),
        row(
            "a call without a name",
            &session,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#,
            200,
            -32602,
        ),
        row(
            "a name that is no string",
            &session,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
            200,
            -32602,
        ),
        row(
            "a cursor of nobody",
            &session,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#,
            200,
            -32602,
        ),
        row("initialize without a version", "", initialize, 200, -32602),
    ]);
    check(plugway.address(), rows).await?;

    ensure!(client.delete().await? == 204, "the session did not end");
    let ended = vec![row("a session that ended", &session, PING, 404, -32600)];
    check(plugway.address(), ended).await?;
    let alive = plugway.legacy().await?;
    ensure!(
        alive
            .call_text("clock_echo", serde_json::json!({"message": "still here"}))
            .await?
            .contains("still here")
    );
    Ok(())
}

#[tokio::test]
async fn the_modern_era_answers_bad_input_as_the_table_says() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}'}}]\n",
        upstream.url()
    ))
    .await?;
    let version = "mcp-protocol-version: 2026-07-28\r\n";
    let head = format!("{version}mcp-method: tools/call\r\nmcp-name: clock_echo\r\n");
    let good = call("clock_echo", &format!(",{META}"));
    let with_version =
        |date: &str| call("clock_echo", &format!(",{}", META.replace("2026-07-28", date)));
    let discover =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{{{META}}}}}"#);
    let mut rows = either_era(version);
    // Under a known version these rows would contradict the header that they add.
    rows.retain(|row| !row.what.contains("revision"));
    rows.extend([
        row("no _meta", &head, call("clock_echo", ""), 400, -32602),
        row(
            "no client capabilities",
            &head,
            call(
                "clock_echo",
                r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#,
            ),
            400,
            -32602,
        ),
        row(
            "no version header",
            "mcp-method: tools/call\r\nmcp-name: clock_echo\r\n",
            &good,
            400,
            -32020,
        ),
        row(
            "another version in the header",
            &head.replace("2026-07-28", "2025-11-25"),
            &good,
            400,
            -32020,
        ),
        row("no method header", &format!("{version}mcp-name: clock_echo\r\n"), &good, 400, -32020),
        row(
            "another method in the header",
            &head.replace("tools/call", "tools/list"),
            &good,
            400,
            -32020,
        ),
        row("no name header", &format!("{version}mcp-method: tools/call\r\n"), &good, 400, -32020),
        row(
            "another name in the header",
            &head.replace("clock_echo", "clock_add"),
            &good,
            400,
            -32020,
        ),
        row(
            "a name in broken base64",
            &head.replace("clock_echo", "=?base64?%%?="),
            &good,
            400,
            -32020,
        ),
        row(
            "a revision of the future",
            &head.replace("2026-07-28", "2099-01-01"),
            with_version("2099-01-01"),
            400,
            -32022,
        ),
        row(
            "a legacy revision in _meta",
            &head.replace("2026-07-28", "2025-11-25"),
            with_version("2025-11-25"),
            400,
            -32022,
        ),
        row(
            "a method of the other era",
            &format!("{version}mcp-method: logging/setLevel\r\n"),
            discover,
            404,
            -32601,
        ),
        row(
            "an unknown tool",
            &head.replace("clock_echo", "no_such"),
            good.replace("clock_echo", "no_such"),
            200,
            -32602,
        ),
        row("a batch", version, format!("[{PING}]"), 400, -32600),
        row("a response", version, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 400, -32600),
    ]);
    check(plugway.address(), rows).await?;
    let alive = plugway.modern();
    ensure!(
        alive
            .call_text("clock_echo", serde_json::json!({"message": "still here"}))
            .await?
            .contains("still here")
    );
    Ok(())
}

#[tokio::test]
async fn other_methods_and_paths_are_answered() -> Result<()> {
    let upstream = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}'}}]\n",
        upstream.url()
    ))
    .await?;
    let address = plugway.address();
    for (line, head, status) in [
        ("GET /mcp", "accept: text/event-stream\r\n", 405),
        ("DELETE /mcp", "", 405),
        ("PUT /mcp", "", 405),
        (
            "GET /mcp",
            "accept: text/event-stream\r\nmcp-session-id: v1.00000000000000000000000000000000\r\n",
            404,
        ),
        (
            "GET /mcp",
            "accept: text/html\r\nmcp-session-id: v1.00000000000000000000000000000000\r\n",
            406,
        ),
        ("DELETE /mcp", "mcp-session-id: v1.00000000000000000000000000000000\r\n", 404),
        ("GET /nowhere", "", 404),
        ("POST /health", "", 405),
        ("GET /health", "", 200),
        ("GET /healthz", "", 200),
        ("GET /ready", "", 200),
        ("GET /metrics", "", 200),
    ] {
        let text = format!("{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{head}\r\n");
        let answer = http::exchange(address, text.as_bytes()).await?;
        ensure!(answer.status == status, "{line} {head}: {} {}", answer.status, answer.text());
    }
    let rebound = "GET /health HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    ensure!(http::exchange(address, rebound.as_bytes()).await?.status == 403);
    Ok(())
}
