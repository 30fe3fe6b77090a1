//! Answers reach the client as the upstream gave them: their form, their order, their ids, their size.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use futures_util::future::{join_all, try_join};
use http_body_util::{BodyExt as _, Full};
use plugway_tests::{Plugway, Scripted, http, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const TEN_MB: usize = 10_000_000;

async fn hub(upstream: &Scripted) -> Result<Plugway> {
    Plugway::start(format!("name: hub\nupstreams: [{{name: up, url: '{}'}}]\n", upstream.url()))
        .await
}

#[tokio::test]
async fn a_response_alone_is_json_and_messages_before_it_make_a_stream() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let params = |name: &str| json!({"name": name, "arguments": {}});
        let json = client.call("tools/call", params("up_json")).await?;
        ensure!(json.header("content-type") == Some("application/json"), "{:?}", json.headers);
        let length = json.header("content-length").context("no Content-Length")?;
        ensure!(length == json.text.len().to_string());
        // The upstream is of the legacy era; a modern client requires more of a result.
        let kind = json.result()?.get("resultType").and_then(Value::as_str);
        ensure!(kind == client.session().is_none().then_some("complete"), "{kind:?}");
        // A stream that holds nothing but the response.
        let alone = client.call("tools/call", params("up_events")).await?;
        ensure!(alone.header("content-type") == Some("application/json"), "{:?}", alone.headers);
        ensure!(alone.result()?["content"][0]["text"] == "events", "{}", alone.text);
        let steps =
            json!({"name": "up_steps", "arguments": {"steps": 1}, "_meta": {"progressToken": 1}});
        upstream.release();
        let events = client.call("tools/call", steps).await?;
        let kind = events.header("content-type").unwrap_or_default();
        ensure!(kind.starts_with("text/event-stream"), "{:?}", events.headers);
        ensure!(events.header("x-accel-buffering") == Some("no"));
        ensure!(events.messages.len() == 2, "{}", events.text);
    }
    Ok(())
}

#[tokio::test]
async fn progress_arrives_before_the_result_on_the_calls_own_stream() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let params = json!({
            "name": "up_steps", "arguments": {"steps": 3}, "_meta": {"progressToken": "a token"},
        });
        let mut stream = client.open("tools/call", params).await?;
        for step in 1..=3 {
            let note = stream.next(BOUND).await?.context("the stream ended")?;
            ensure!(note["method"] == "notifications/progress", "{note}");
            ensure!(note["params"]["progressToken"] == "a token", "{note}");
            ensure!(note["params"]["progress"] == step, "{note}");
        }
        // The upstream gives the result only now: what came before cannot have waited for it.
        upstream.release();
        let last = stream.next(BOUND).await?.context("no result")?;
        ensure!(last["result"]["content"][0]["text"] == "done", "{last}");
        ensure!(stream.next(BOUND).await?.is_none(), "the stream went on after the result");
    }
    Ok(())
}

#[tokio::test]
async fn a_result_of_10_mb_passes_whole_in_both_forms_and_eras() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for form in ["json", "events"] {
            let big = client.call_text("up_big", json!({"bytes": TEN_MB, "form": form})).await?;
            ensure!(big.len() == TEN_MB && big.bytes().all(|byte| byte == b'x'), "{form}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_id_comes_back_exactly_as_it_was_written() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let session = client.session().context("no session")?;
    let head = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    for id in [
        "0",
        "-1",
        "7",
        "9007199254740993",
        "9223372036854775807",
        "18446744073709551615",
        r#""""#,
        r#""7""#,
        r#""a word""#,
        r#""\u00e9\n\"\\""#,
        r#""日本""#,
    ] {
        for (tool, name) in [("up_json", "tools/call"), ("up_events", "tools/call"), ("", "ping")] {
            let params = json!({"name": tool, "arguments": {}});
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{name}","params":{params}}}"#);
            let answer = http::post(plugway.address(), "/mcp", &head, text).await?;
            let wanted: Value = serde_json::from_str(id)?;
            let text = answer.text();
            let data = text.lines().find_map(|line| line.strip_prefix("data:")).unwrap_or(&text);
            let message: Value = serde_json::from_str(data).with_context(|| text.clone())?;
            ensure!(message["id"] == wanted && message["result"].is_object(), "{id}: {text}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn two_clients_with_the_same_ids_and_tokens_get_their_own_answers() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let pairs = [
        (plugway.legacy().await?, plugway.legacy().await?),
        (plugway.modern(), plugway.modern()),
        (plugway.legacy().await?, plugway.modern()),
    ];
    let address = plugway.address();
    for (one, two) in &pairs {
        let call = |client, word| async move {
            let request = sent_with(client, word, r#""same id""#, "same token")?;
            let response = http::open(address, request).await?;
            let body = wait::within("the whole answer", BOUND, response.into_body().collect());
            anyhow::Ok(String::from_utf8(body.await??.to_bytes().to_vec())?)
        };
        // Neither call is answered before both are at the upstream.
        let (first, second) = try_join(call(one, "first"), call(two, "second")).await?;
        for (answer, own, other) in [(&first, "first", "second"), (&second, "second", "first")] {
            let messages: Vec<Value> = answer
                .lines()
                .filter_map(|line| line.strip_prefix("data:").filter(|data| *data != " "))
                .map(serde_json::from_str)
                .collect::<Result<_, _>>()?;
            ensure!(messages.len() == 2, "{answer}");
            ensure!(messages[0]["params"]["progressToken"] == "same token", "{answer}");
            ensure!(messages[1]["id"] == "same id", "{answer}");
            ensure!(answer.contains(own) && !answer.contains(other), "mixed up: {answer}");
        }
    }
    Ok(())
}

/// A call of `pair` with this id and progress token.
fn sent_with(
    client: &Client,
    word: &str,
    id: &str,
    token: &str,
) -> Result<::http::Request<Full<Bytes>>> {
    let params = json!({
        "name": "up_pair", "arguments": {"word": word}, "_meta": {"progressToken": token},
    });
    let (own, request) = client.request("tools/call", params)?;
    let (head, body) = request.into_parts();
    let body = futures_util::FutureExt::now_or_never(body.collect()).context("a body in pieces")?;
    let text = String::from_utf8(body?.to_bytes().to_vec())?;
    let text = text.replacen(&format!("\"id\":{own}"), &format!("\"id\":{id}"), 1);
    Ok(::http::Request::from_parts(head, Full::from(text)))
}

#[tokio::test]
async fn one_answer_goes_to_one_stream_only() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let mut own = client.listen().await?;
    for tool in ["up_json", "up_events"] {
        for _ in 0..5 {
            client.call_tool(tool, json!({})).await?;
        }
    }
    client.delete().await?;
    let stray = own.next(BOUND).await?;
    ensure!(stray.is_none(), "a message came on the session's stream: {stray:?}");
    Ok(())
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_up_nobody() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let stalled_session = plugway.legacy().await?;
    let mut stalled = Vec::new();
    for form in ["json", "events"] {
        for client in [&stalled_session, &plugway.modern()] {
            let params = json!({"name": "up_big", "arguments": {"bytes": TEN_MB, "form": form}});
            let (_, request) = client.request("tools/call", params)?;
            // The head is here, 10 MB are not: no buffer between holds them all.
            stalled.push(http::open(plugway.address(), request).await?);
        }
    }
    let others = [plugway.legacy().await?, plugway.modern()];
    let calls = others.iter().flat_map(|client| {
        (0..20).map(async |n| {
            let tool = if n % 2 == 0 { "up_json" } else { "up_events" };
            client.call_tool(tool, json!({})).await
        })
    });
    let answers = wait::within("others are answered", BOUND, join_all(calls)).await?;
    for answer in answers {
        ensure!(answer?["content"][0]["text"].is_string());
    }
    ensure!(stalled_session.call_text("up_json", json!({})).await? == "json");
    // And what was not read is there when somebody reads it.
    for response in stalled {
        let body = wait::within("the stalled answer", BOUND, response.into_body().collect());
        ensure!(body.await??.to_bytes().len() > TEN_MB);
    }
    Ok(())
}

#[tokio::test]
async fn a_server_killed_between_calls_is_opened_anew_once() -> Result<()> {
    let first = plugway_tests::DemoHttp::start(&[]).await?;
    let address = first.address().to_string();
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: clock, url: '{}'}}]\n",
        first.url()
    ))
    .await?;
    let clients = [plugway.legacy().await?, plugway.legacy().await?];
    for client in &clients {
        ensure!(client.call_text("clock_count", json!({})).await? == "1");
    }
    first.kill().await?;
    let again = plugway_tests::DemoHttp::start_at(&address, &[]).await?;
    let mut seen = BTreeMap::new();
    for (number, client) in clients.iter().enumerate() {
        let text = wait::until("the restarted server answers", BOUND, async || {
            let result = client.call_tool("clock_count", json!({})).await?;
            Ok((result["isError"] != true).then(|| result["content"][0]["text"].to_string()))
        })
        .await?;
        seen.insert(number, text);
    }
    ensure!(seen.values().all(|text| text == "\"1\""), "{seen:?}");
    // One session for each client; plugway's own at most once more.
    let opened = again.count("initialize").await?;
    ensure!((2..=3).contains(&opened), "{opened} sessions for two clients");
    Ok(())
}

/// The two answers could not be told apart.
#[tokio::test]
async fn an_id_that_is_in_flight_is_refused_and_its_call_goes_on() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let (id, mut first) = client
        .open_as("tools/call", json!({"name": "up_steps", "arguments": {"steps": 1}}))
        .await?;
    first.next(BOUND).await?.context("the call has begun")?;
    let session = client.session().context("no session")?;
    let head = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    for method in ["tools/call", "ping"] {
        let params = json!({"name": "up_json", "arguments": {}});
        let again = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let refused = http::post(plugway.address(), "/mcp", &head, again.to_string()).await?;
        let error = &refused.json()?["error"];
        ensure!(refused.status == 400, "{method}: {}", refused.text());
        ensure!(error["data"]["code"] == "duplicate-id", "{method}: {error}");
    }
    upstream.release();
    let last = first.next(BOUND).await?.context("no result")?;
    ensure!(last["id"] == id && last["result"]["content"][0]["text"] == "done", "{last}");
    ensure!(upstream.calls() == 1, "the second one reached the server");
    // Now that its call is over, the id is free.
    let again = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
    ensure!(http::post(plugway.address(), "/mcp", &head, again).await?.status == 200);
    Ok(())
}
