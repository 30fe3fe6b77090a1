//! `plugway stdio`: what is a message, what is none, and how each is answered.

use anyhow::{Result, ensure};
use plugway_tests::{Pipe, demo_notes_path, faulty, faulty::Faulty};
use serde_json::{Value, json};

fn notes(extra: &str) -> Result<Pipe> {
    Pipe::start(format!(
        "name: hub\n{extra}upstreams: [{{name: notes, command: '{}'}}]\n",
        demo_notes_path()?.display()
    ))
}

/// Lines that are no message, the code of the one error that each gets, and its id where it can be read.
const MALFORMED: [(&[u8], i64, Option<u64>); 12] = [
    (b"what is this", -32700, None),
    (b"{", -32700, None),
    (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", -32700, None),
    (b"\xff\xfe", -32700, None),
    (b"1", -32600, None),
    (b"null", -32600, None),
    (b"{}", -32600, None),
    (b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600, Some(1)),
    (b"{\"jsonrpc\":\"2.0\",\"id\":14,\"method\":\"tools/call\",\"params\":[]}", -32600, Some(14)),
    (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, None),
    (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32600, None),
    (b"[]", -32600, None),
];

#[tokio::test]
async fn a_line_that_is_no_message_gets_one_error_and_hurts_nobody() -> Result<()> {
    let mut pipe = notes("")?;
    pipe.initialize().await?;
    for (line, code, id) in MALFORMED {
        let shown = String::from_utf8_lossy(line);
        pipe.write(&[line, b"\n"].concat()).await?;
        let error = pipe.read().await?.unwrap_or_default();
        ensure!(error["error"]["code"] == code && error["id"] == json!(id), "{shown}: {error}");
        ensure!(pipe.call("ping", json!({})).await?["result"] == json!({}), "{shown}");
    }
    ensure!(pipe.others().is_empty());
    Ok(())
}

#[tokio::test]
async fn line_ends_of_every_kind_and_empty_lines_are_taken() -> Result<()> {
    let mut pipe = notes("")?;
    let ping = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let text = format!("\n\r\n  \t \n{}\r\n{}\n", ping(1), ping(2));
    // In pieces, as pipes deliver them.
    for piece in text.as_bytes().chunks(7) {
        pipe.write(piece).await?;
    }
    for id in [1, 2] {
        ensure!(pipe.response(&json!(id)).await?["result"] == json!({}));
    }
    // The last line may lack its end.
    pipe.write(ping(3).to_string().as_bytes()).await?;
    pipe.close_input();
    ensure!(pipe.response(&json!(3)).await?["result"] == json!({}));
    ensure!(pipe.read().await?.is_none());
    ensure!(pipe.ended().await?.success());
    Ok(())
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_and_the_next_one_taken() -> Result<()> {
    let mut pipe = notes("limits: {max_body: 1KiB}\n")?;
    pipe.initialize().await?;
    let long = json!({"name": "notes_add_note", "arguments": {"text": "x".repeat(100_000)}});
    pipe.ask("tools/call", long).await?;
    let error = pipe.read().await?.unwrap_or_default();
    ensure!(error["error"]["data"]["code"] == "body-too-large", "{error}");
    ensure!(pipe.tool("notes_list_notes", json!({})).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn ids_come_back_as_they_were_and_responses_of_the_client_are_no_questions() -> Result<()> {
    let mut pipe = notes("")?;
    pipe.initialize().await?;
    pipe.send(&json!({"jsonrpc": "2.0", "id": 7, "result": {}})).await?;
    for id in [json!("a"), json!("\u{e4}\n"), json!(-5), json!(0), json!("1"), json!(1)] {
        pipe.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})).await?;
        ensure!(pipe.response(&id).await?["result"]["tools"].is_array(), "{id}");
    }
    ensure!(pipe.others().is_empty());
    Ok(())
}

#[tokio::test]
async fn batches_are_of_one_revision_only() -> Result<()> {
    let batch = json!([
        {"jsonrpc": "2.0", "id": "a", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "notes_list_notes"}},
        {"jsonrpc": "2.0", "id": "c", "method": "no/such"},
    ]);
    let mut pipe = notes("")?;
    pipe.initialize_as("2025-03-26").await?;
    pipe.send(&batch).await?;
    let answers = pipe.read().await?.unwrap_or_default();
    let ids: Vec<&Value> = answers.as_array().into_iter().flatten().map(|one| &one["id"]).collect();
    ensure!(ids == [&json!("a"), &json!("b"), &json!("c")], "{answers}");
    ensure!(answers[1]["result"].is_object() && answers[2]["error"]["code"] == -32601);
    // Nothing in it asks for an answer.
    pipe.send(&json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}])).await?;
    ensure!(pipe.call("ping", json!({})).await?["result"] == json!({}));
    ensure!(pipe.others().is_empty());

    let mut pipe = notes("")?;
    for initialized in [false, true] {
        if initialized {
            pipe.initialize().await?;
        }
        pipe.send(&batch).await?;
        let error = pipe.read().await?.unwrap_or_default();
        ensure!(error["error"]["code"] == -32600, "{error}");
    }
    Ok(())
}

fn pretty(message: &Value, _count: u64) -> Option<faulty::Raw> {
    (message["method"] == "tools/call").then_some(())?;
    let result = json!({"content": [{"type": "text", "text": "two\nlines"}]});
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    let text = serde_json::to_string_pretty(&answer).unwrap_or_default();
    Some((200, "application/json", None, text.replace('\n', "\r\n")))
}

#[tokio::test]
async fn an_answer_of_many_lines_becomes_one() -> Result<()> {
    let upstream = Faulty::start(pretty).await?;
    let mut pipe =
        Pipe::start(format!("name: hub\nupstreams: [{{name: web, url: '{}'}}]\n", upstream.url()))?;
    pipe.initialize().await?;
    ensure!(pipe.tool("web_good", json!({})).await? == "two\nlines");
    Ok(())
}

#[tokio::test]
async fn large_answers_arrive_whole() -> Result<()> {
    let upstream = plugway_tests::Scripted::start().await?;
    let mut pipe =
        Pipe::start(format!("name: hub\nupstreams: [{{name: web, url: '{}'}}]\n", upstream.url()))?;
    pipe.initialize().await?;
    for form in ["json", "events"] {
        for bytes in [100, 200_000, 6_000_000] {
            let text = pipe.tool("web_big", json!({"bytes": bytes, "form": form})).await?;
            ensure!(text.len() == bytes, "{form}: {} instead of {bytes}", text.len());
        }
    }
    Ok(())
}
