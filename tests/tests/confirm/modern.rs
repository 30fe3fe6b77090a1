//! Clients of the modern era, which come back with the answer.

use anyhow::{Context as _, Result, ensure};
use futures_util::future::join_all;
use plugway_tests::{
    Pipe, Recorder,
    rpc::Client,
    tokens::{self, ANN, BOB},
};
use serde_json::{Value, json};

use super::{again, asked, careful, ensure_refused, look, modern, required, text_of, yes};

#[tokio::test]
async fn only_a_yes_calls_the_server() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    let client = modern(&plugway);
    let call = look(&json!({"text": "ok"}));
    let reply = client.call("tools/call", call.clone()).await?;
    let (question, state) = required(&reply)?;
    ensure!(question["mode"] == "form", "{question}");
    let message = question["message"].as_str().context("no message")?;
    ensure!(message.contains("\"text\": \"ok\""), "{message}");
    ensure!(upstream.calls().is_empty(), "it was called before it was confirmed");
    let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
    ensure!(text_of(reply.response()?)? == "ok");
    let came = upstream.last()?.text();
    ensure!(!came.contains("inputResponses") && !came.contains("requestState"), "{came}");
    for (answer, words) in [
        (json!({"action": "decline"}), "declined"),
        (json!({"action": "accept", "content": {"confirmed": false}}), "declined"),
        (json!({"action": "cancel"}), "dismissed"),
        (json!({"action": "accept"}), "no clear yes"),
        (Value::Null, "no clear yes"),
    ] {
        let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
        let reply = client.call("tools/call", again(&call, &state, &answer)).await?;
        ensure_refused(reply.response()?, words)?;
        // A no uses nothing up: it is as good as none.
        let reply = client.call("tools/call", again(&call, &state, &answer)).await?;
        ensure_refused(reply.response()?, words)?;
    }
    let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
    let mut unanswered = again(&call, &state, &yes());
    unanswered["inputResponses"] = json!({"other": yes()});
    let reply = client.call("tools/call", unanswered).await?;
    ensure_refused(reply.response()?, "no clear yes")?;
    ensure!(upstream.calls().len() == 1, "a no called the server");
    Ok(())
}

#[tokio::test]
async fn a_client_that_declares_nothing_is_told_what_it_has_to_declare() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let client = Client::modern_with(plugway.address(), "/mcp", capabilities);
        let reply = client.call("tools/call", look(&json!({}))).await?;
        ensure!(reply.status == 400 && reply.error_code()? == -32021, "{reply:?}");
        let data = &reply.response()?["error"]["data"];
        ensure!(data["requiredCapabilities"] == json!({"elicitation": {"form": {}}}), "{reply:?}");
    }
    ensure!(upstream.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_confirmation_is_good_once_for_this_call_of_this_caller() -> Result<()> {
    let upstream = Recorder::start().await?;
    let hub = careful(&upstream).top("auth", tokens::auth());
    let plugway = tokens::identified(hub.setup()?, &json!({})).start().await?;
    let client = |token: &str| modern(&plugway).with_token(Some(token));
    let (ann, bob) = (client(ANN), client(BOB));
    let call = look(&json!({"text": "ok", "n": [1, {"a": 1}]}));
    let (_, state) = required(&ann.call("tools/call", call.clone()).await?)?;
    let mut refused = vec![
        (&bob, again(&call, &state, &yes())),
        (&ann, again(&look(&json!({"text": "ok", "n": [1, {"a": 2}]})), &state, &yes())),
        (&ann, again(&look(&json!({})), &state, &yes())),
    ];
    let mut other = again(&call, &state, &yes());
    other["name"] = json!("up_look_events");
    refused.push((&ann, other));
    let text = state.as_str().context("no state")?;
    let cut = text.get(..text.len() - 2).unwrap_or_default();
    for forged in ["", "x", cut, &text.replace("plugway", "plugwaz")] {
        refused.push((&ann, again(&call, &json!(forged), &yes())));
    }
    for (client, params) in refused {
        let reply = client.call("tools/call", params.clone()).await?;
        // A foreign state is refused where the server gives none, or the call begins without a confirmation.
        let is_refused = match reply.error_code() {
            Ok(code) => code == -32602,
            Err(_) => reply.response()?["result"]["isError"] == true,
        };
        ensure!(is_refused, "{params}: {reply:?}");
    }
    ensure!(upstream.calls().is_empty(), "it was not confirmed");
    // None of this used it up. Of many that come at once one calls.
    let retries = (0..16).map(|_| ann.call("tools/call", again(&call, &state, &yes())));
    let mut done = 0;
    for reply in join_all(retries).await {
        let reply = reply?;
        match reply.result() {
            Ok(_) => done += 1,
            Err(_) => ensure!(reply.error_code()? == -32602, "{reply:?}"),
        }
    }
    ensure!(done == 1 && upstream.calls().len() == 1, "{done} calls with one confirmation");
    Ok(())
}

#[tokio::test]
async fn a_confirmation_ends_after_its_time() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).key("confirm_timeout", json!("1s")).start().await?;
    let client = modern(&plugway);
    let call = look(&json!({}));
    let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
    let asked = std::time::Instant::now();
    plugway_tests::wait::until("a second is over", super::BOUND, async || {
        Ok((asked.elapsed() >= std::time::Duration::from_secs(1)).then_some(()))
    })
    .await?;
    let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
    ensure_refused(reply.response()?, "within 1 s")?;
    ensure!(upstream.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_client_over_pipes_comes_back_with_the_answer() -> Result<()> {
    let upstream = Recorder::start().await?;
    let mut pipe = Pipe::of(careful(&upstream).setup()?, &[])?;
    let declared = json!({"io.modelcontextprotocol/clientCapabilities": asked()});
    let mut call = look(&json!({}));
    call["_meta"] = declared;
    let response = pipe.call_modern("tools/call", call.clone()).await?;
    let state = response["result"]["requestState"].clone();
    ensure!(state.is_string(), "{response}");
    let response = pipe.call_modern("tools/call", again(&call, &state, &yes())).await?;
    ensure!(text_of(&response)? == "seen", "{response}");
    Ok(())
}
