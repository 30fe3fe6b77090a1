//! Clients of the legacy era, which are asked on the stream of the call.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Guest, Hub, Pipe, Recorder, http,
    rpc::Client,
    tokens::{self, ANN, BOB},
};
use serde_json::{Value, json};

use super::{
    BOUND, asked, careful, confirming, done, ensure_refused, look, next, question, session,
    text_of, yes,
};

#[tokio::test]
async fn only_a_yes_calls_the_server_and_the_audit_says_what_became_of_it() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    let client = session(&plugway).await?;
    let call = look(&json!({"n": 1.5, "text": "ok"}));
    let mut stream = client.open("tools/call", call.clone()).await?;
    let asked = question(&mut stream).await?;
    let message = asked["params"]["message"].as_str().context("no message")?;
    for line in [
        "tool: \"up_look\"",
        "the server's own name for it: \"look\"",
        "server: \"up\" behind \"hub\"",
        "  \"n\": 1.5,",
        "  \"text\": \"ok\"",
        "confirming: Really call up_look?",
    ] {
        ensure!(
            message.lines().any(|found| found.trim_end_matches(',') == line.trim_end_matches(',')),
            "{line}: {message}"
        );
    }
    ensure!(asked["params"]["mode"] == "form", "{asked}");
    let schema = &asked["params"]["requestedSchema"];
    ensure!(schema["properties"]["confirmed"]["type"] == "boolean", "{asked}");
    ensure!(schema["required"] == json!(["confirmed"]), "{asked}");
    ensure!(upstream.calls().is_empty(), "it was called before it was confirmed");
    ensure!(client.answer(&asked, yes()).await? == 202);
    ensure!(text_of(&done(&mut stream).await?)? == "ok");
    ensure!(upstream.calls().len() == 1);
    for (answer, words, reason) in [
        (json!({"action": "decline"}), "declined", "declined"),
        (json!({"action": "accept", "content": {"confirmed": false}}), "declined", "declined"),
        (json!({"action": "cancel"}), "dismissed", "dismissed"),
        (json!({"action": "accept"}), "no clear yes", "unclear"),
        (json!({"action": "accept", "content": {"confirmed": "true"}}), "no clear yes", "unclear"),
    ] {
        let mut stream = client.open("tools/call", call.clone()).await?;
        let asked = question(&mut stream).await?;
        client.answer(&asked, answer).await?;
        ensure_refused(&done(&mut stream).await?, words)?;
        plugway.logged(&format!("\"reason\":\"{reason}\""), BOUND).await?;
    }
    let mut stream = client.open("tools/call", call).await?;
    let asked = question(&mut stream).await?;
    client.refuse(&asked, json!({"code": -1, "message": "no"})).await?;
    ensure_refused(&done(&mut stream).await?, "the client did not answer")?;
    ensure!(upstream.calls().len() == 1, "a no called the server");
    let lines = plugway.stderr();
    let audit = |result: &str| {
        let of = |line: &&String| {
            line.contains(r#""target":"audit""#)
                && line.contains(r#""action":"confirm""#)
                && line.contains(r#""object":"hub/up/up_look""#)
                && line.contains(&format!(r#""result":"{result}""#))
        };
        lines.iter().filter(of).count()
    };
    ensure!([audit("asked"), audit("confirmed"), audit("refused")] == [7, 1, 6], "{lines:#?}");
    Ok(())
}

#[tokio::test]
async fn who_takes_too_long_or_cannot_be_asked_is_refused_in_bounded_time() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).key("confirm_timeout", json!("1s")).start().await?;
    let client = session(&plugway).await?;
    let mut stream = client.open("tools/call", look(&json!({}))).await?;
    let asked = question(&mut stream).await?;
    let told = next(&mut stream).await?;
    ensure!(told["method"] == "notifications/cancelled", "{told}");
    ensure!(told["params"]["requestId"] == asked["id"], "{told}");
    ensure_refused(&done(&mut stream).await?, "within 1 s")?;
    ensure!(client.answer(&asked, yes()).await? == 202, "a late answer is for nobody");
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"roots": {}})] {
        let client = Client::legacy_with(plugway.address(), "/mcp", capabilities).await?;
        let reply = client.call("tools/call", look(&json!({}))).await?;
        ensure_refused(reply.response()?, "declares no elicitation")?;
    }
    ensure!(upstream.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn nobody_answers_for_another_session_or_another_caller() -> Result<()> {
    let upstream = Recorder::start().await?;
    let hub = careful(&upstream).top("auth", tokens::auth());
    let plugway = tokens::identified(hub.setup()?, &json!({})).start().await?;
    let session =
        async |token| Client::legacy_with_as(plugway.address(), "/mcp", asked(), token).await;
    let (ann, other, bob) = (session(ANN).await?, session(ANN).await?, session(BOB).await?);
    let mut stream = ann.open("tools/call", look(&json!({"text": "ann"}))).await?;
    let wanted = question(&mut stream).await?;
    // Sessions number their questions alike: an answer reaches the question of its own session alone.
    let mut others = Vec::new();
    for client in [&other, &bob] {
        ensure!(client.answer(&wanted, yes()).await? == 202);
        let mut stream = client.open("tools/call", look(&json!({}))).await?;
        let asked = question(&mut stream).await?;
        ensure!(asked["id"] == wanted["id"], "{asked}");
        client.answer(&wanted, json!({"action": "decline"})).await?;
        ensure_refused(&done(&mut stream).await?, "declined")?;
        others.push(stream);
    }
    // The session of somebody else is one that never was.
    let bearer = format!("Bearer {BOB}");
    let headers = [
        ("authorization", &*bearer),
        ("mcp-session-id", ann.session().context("no session")?),
        ("mcp-protocol-version", "2025-11-25"),
        ("accept", "application/json, text/event-stream"),
    ];
    let answer = json!({"jsonrpc": "2.0", "id": wanted["id"], "result": yes()}).to_string();
    let reply = http::post(plugway.address(), "/mcp", &headers, answer).await?;
    ensure!(reply.status == 404, "{}", reply.status);
    ensure!(upstream.calls().is_empty(), "somebody else confirmed it");
    ann.answer(&wanted, yes()).await?;
    ensure!(text_of(&done(&mut stream).await?)? == "ann");
    Ok(())
}

#[tokio::test]
async fn a_call_that_nobody_wants_any_more_is_forgotten() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    // Cancelled by its client.
    let client = session(&plugway).await?;
    let (id, mut stream) = client.open_as("tools/call", look(&json!({}))).await?;
    let asked = question(&mut stream).await?;
    client.notify("notifications/cancelled", json!({"requestId": id})).await?;
    ensure!(stream.next(BOUND).await?.is_none(), "an answer to a call that was given up");
    client.answer(&asked, yes()).await?;
    // Of a session that ends.
    let mut stream = client.open("tools/call", look(&json!({}))).await?;
    question(&mut stream).await?;
    client.delete().await?;
    ensure!(stream.next(BOUND).await?.is_none(), "an answer in a session that ended");
    plugway.logged("\"reason\":\"given-up\"", BOUND).await?;
    ensure!(upstream.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_stop_waits_for_no_answer() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    let client = session(&plugway).await?;
    let mut stream = client.open("tools/call", look(&json!({}))).await?;
    question(&mut stream).await?;
    let (stopped, told) = tokio::join!(plugway.stop(), async {
        let told = next(&mut stream).await?;
        ensure!(told["method"] == "notifications/cancelled", "{told}");
        done(&mut stream).await
    });
    ensure!(stopped?.success());
    ensure_refused(&told?, "stopping")?;
    ensure!(upstream.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_client_over_pipes_is_asked_on_its_pipe() -> Result<()> {
    let upstream = Recorder::start().await?;
    let mut pipe = Pipe::of(careful(&upstream).setup()?, &[])?;
    pipe.initialize_with("2025-11-25", asked()).await?;
    for (answer, calls) in [(json!({"action": "decline"}), 0), (yes(), 1)] {
        let id = pipe.ask("tools/call", look(&json!({}))).await?;
        let wanted = pipe.read().await?.context("the output ended")?;
        ensure!(wanted["method"] == "elicitation/create", "{wanted}");
        pipe.send(&json!({"jsonrpc": "2.0", "id": wanted["id"], "result": answer})).await?;
        let response = pipe.response(&id).await?;
        ensure!((response["result"]["isError"] == true) == (calls == 0), "{response}");
        ensure!(upstream.calls().len() == calls);
    }
    Ok(())
}

#[tokio::test]
async fn prompts_are_confirmed_too_and_refused_as_errors_of_the_protocol() -> Result<()> {
    let server = DemoHttp::start_fixture(&[]).await?;
    let only = json!({"only": ["up_test_simple_prompt", "test://static-text"]});
    let hub = Hub::new("hub").upstream("up", server.url()).policy(confirming(only));
    let plugway = hub.start().await?;
    let client = session(&plugway).await?;
    for (method, params, kind) in [
        ("prompts/get", json!({"name": "up_test_simple_prompt"}), "prompt: "),
        ("resources/read", json!({"uri": "test://static-text"}), "resource: "),
    ] {
        for answer in [yes(), json!({"action": "decline"})] {
            let mut stream = client.open(method, params.clone()).await?;
            let asked = question(&mut stream).await?;
            let message = asked["params"]["message"].as_str().unwrap_or_default();
            ensure!(
                message.contains(kind) && message.contains("It has no arguments."),
                "{message}"
            );
            client.answer(&asked, answer.clone()).await?;
            let response = done(&mut stream).await?;
            if answer == yes() {
                ensure!(response["result"].is_object(), "{response}");
            } else {
                ensure!(response["error"]["code"] == -32603, "{response}");
                ensure!(response["error"]["data"]["code"] == "not-confirmed", "{response}");
            }
        }
    }
    Ok(())
}

/// What is asked of methods that have no answer but their own.
#[tokio::test]
async fn a_method_that_cannot_be_confirmed_is_refused_and_so_is_the_request_of_a_plugin()
-> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    for client in [session(&plugway).await?, super::modern(&plugway)] {
        let reply = client.call("example/unknown", json!({})).await?;
        ensure!(reply.error_code()? == -32603, "{reply:?}");
        ensure!(reply.text.contains("cannot-confirm"), "{reply:?}");
    }
    let router = Guest::new("answer_upstreams").grants(json!({"upstreams": true}));
    let only = confirming(json!({"only": ["look"]}));
    let hub = Hub::new("hub").upstream("up", &upstream.url()).router(router).policy(only);
    let plugway = hub.start().await?;
    let arguments = json!({
        "upstream": "up", "method": "tools/call", "params": {"name": "look", "arguments": {}},
    });
    for client in [session(&plugway).await?, super::modern(&plugway)] {
        let result: Value = client.call_tool("ask", arguments.clone()).await?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(text.contains("nobody is asked for a plugin"), "{result}");
    }
    ensure!(upstream.calls().is_empty());
    Ok(())
}
