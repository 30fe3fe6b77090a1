//! What is asked is what will be done: edits, several policies, and rules that change meanwhile.

use anyhow::{Result, ensure};
use plugway_tests::{Guest, Hub, Recorder};
use serde_json::{Value, json};

use super::{
    again, careful, confirming, done, ensure_refused, look, modern, question, reconfigure,
    required, session, text_of, yes,
};

fn edit(patch: &Value) -> Guest {
    Guest::new("admit_edit").config(json!({ "arguments": patch }))
}

fn message(params: &Value) -> &str {
    params["message"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn the_edit_of_a_later_policy_is_shown_and_several_policies_ask_once() -> Result<()> {
    let upstream = Recorder::start().await?;
    let first = confirming(json!({"says": "First says: ", "reads": true})).named("first");
    let last = confirming(json!({"says": "Last says so."})).named("last");
    let hub = Hub::new("hub")
        .upstream("up", &upstream.url())
        .policy(first)
        .policy(edit(&json!({"text": "edited", "gone": null})))
        .policy(last);
    let plugway = hub.start().await?;
    let call = look(&json!({"text": "as sent", "gone": 1}));
    let client = modern(&plugway);
    let (asked, state) = required(&client.call("tools/call", call.clone()).await?)?;
    let session = session(&plugway).await?;
    let mut stream = session.open("tools/call", call.clone()).await?;
    let wanted = question(&mut stream).await?;
    for text in [message(&asked), message(&wanted["params"])] {
        ensure!(text.contains("\n  \"text\": \"edited\"\n"), "{text}");
        ensure!(!text.contains("as sent") && !text.contains("gone"), "{text}");
        // Who read the arguments was asked again about those that will be sent.
        ensure!(text.contains("\nfirst: First says: {\"text\":\"edited\"}\n"), "{text}");
        ensure!(text.contains("\nlast: Last says so.\n"), "{text}");
    }
    let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
    ensure!(text_of(reply.response()?)? == "edited", "{reply:?}");
    session.answer(&wanted, yes()).await?;
    ensure!(text_of(&done(&mut stream).await?)? == "edited");
    ensure!(upstream.calls().len() == 2);
    Ok(())
}

#[tokio::test]
async fn what_is_edited_another_way_after_it_was_confirmed_is_refused() -> Result<()> {
    let upstream = Recorder::start().await?;
    let hub = |patch: Value| careful(&upstream).policy(edit(&patch));
    let plugway = hub(json!({"text": "one"})).start().await?;
    let call = look(&json!({}));
    let client = modern(&plugway);
    let (asked, state) = required(&client.call("tools/call", call.clone()).await?)?;
    ensure!(message(&asked).contains("\"one\""), "{asked}");
    let session = session(&plugway).await?;
    let mut stream = session.open("tools/call", call.clone()).await?;
    let wanted = question(&mut stream).await?;
    reconfigure(&plugway, &hub(json!({"text": "two"}))).await?;
    let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
    ensure_refused(reply.response()?, "not what was confirmed")?;
    session.answer(&wanted, yes()).await?;
    ensure_refused(&done(&mut stream).await?, "not what was confirmed")?;
    ensure!(upstream.calls().is_empty(), "a call was made that nobody confirmed");
    Ok(())
}

#[tokio::test]
async fn a_rule_that_denies_by_then_denies_and_one_more_that_asks_is_not_answered() -> Result<()> {
    let upstream = Recorder::start().await?;
    let call = look(&json!({}));
    for (more, words) in [
        (Guest::new("admit_reject").config(json!({"message": "Not any more."})), "Not any more."),
        (confirming(json!({})).named("another"), "not what was confirmed"),
    ] {
        let plugway = careful(&upstream).policy(edit(&json!({}))).setup()?;
        let plugway = plugway.file(&more.file(), more.bytes()?).start().await?;
        let client = modern(&plugway);
        let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
        let session = session(&plugway).await?;
        let mut stream = session.open("tools/call", call.clone()).await?;
        let wanted = question(&mut stream).await?;
        reconfigure(&plugway, &careful(&upstream).policy(more)).await?;
        let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
        session.answer(&wanted, yes()).await?;
        for response in [reply.response()?, &done(&mut stream).await?] {
            ensure!(response["result"]["isError"] == true, "{response}");
            ensure!(text_of(response)?.contains(words), "{response}");
        }
    }
    ensure!(upstream.calls().is_empty());
    Ok(())
}

#[tokio::test]
async fn a_rule_that_is_gone_by_then_lets_the_confirmed_call_pass() -> Result<()> {
    let upstream = Recorder::start().await?;
    let plugway = careful(&upstream).start().await?;
    let call = look(&json!({}));
    let client = modern(&plugway);
    let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
    reconfigure(&plugway, &Hub::new("hub").upstream("up", &upstream.url())).await?;
    let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
    ensure!(text_of(reply.response()?)? == "seen", "{reply:?}");
    Ok(())
}

#[tokio::test]
async fn a_confirmed_call_is_charged_once() -> Result<()> {
    let upstream = Recorder::start().await?;
    let rate = Guest::new("admit_rate").config(json!({"limit": 2, "window_ms": 600_000}));
    let plugway = careful(&upstream).policy(rate).start().await?;
    let call = look(&json!({}));
    let (client, session) = (modern(&plugway), session(&plugway).await?);
    for _ in 0..2 {
        let (_, state) = required(&client.call("tools/call", call.clone()).await?)?;
        let reply = client.call("tools/call", again(&call, &state, &yes())).await?;
        ensure!(text_of(reply.response()?)? == "seen", "{reply:?}");
        let mut stream = session.open("tools/call", call.clone()).await?;
        let wanted = question(&mut stream).await?;
        session.answer(&wanted, yes()).await?;
        ensure!(text_of(&done(&mut stream).await?)? == "seen");
    }
    // A third one is refused before anybody is asked.
    for client in [client, session] {
        let reply = client.call("tools/call", call.clone()).await?;
        ensure!(text_of(reply.response()?)?.contains("Too many calls"), "{reply:?}");
    }
    Ok(())
}

#[tokio::test]
async fn who_answers_in_the_place_of_the_server_calls_nothing_and_nobody_is_asked() -> Result<()> {
    let upstream = Recorder::start().await?;
    let answering = Guest::new("admit_answer").config(json!({"text": "mine"}));
    let plugway = careful(&upstream).policy(answering).start().await?;
    for client in [session(&plugway).await?, modern(&plugway)] {
        let reply = client.call("tools/call", look(&json!({}))).await?;
        ensure!(text_of(reply.response()?)? == "mine", "{reply:?}");
    }
    ensure!(upstream.calls().is_empty());
    Ok(())
}
