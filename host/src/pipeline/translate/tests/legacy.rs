//! Clients of the legacy era at a server of the modern era.

use futures_util::FutureExt as _;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::pipeline::translate::input;

async fn stage() -> Stage {
    Stage::new(Revision::V2025_11_25, Revision::V2026_07_28).await
}

fn required(members: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"input_required",{members}}}}}"#)
}

/// Answers a question with a result.
fn give(ask: Ask, result: &str) {
    ask.reply.answer(&message(&format!(r#"{{"jsonrpc":"2.0","id":0,"result":{result}}}"#)));
}

const DONE: &str = r#"{"jsonrpc":"2.0", "id" : "x","result":{"content":[],"n":1.0}}"#;

#[tokio::test]
async fn questions_are_asked_and_the_call_is_sent_again_with_the_answers() {
    let stage = stage().await;
    stage.server.answers_text(required(
        r#""inputRequests":{"b":{"method":"elicitation/create","params":{"message":"Who?","x":1.0}},"a\u0062":{"params":{ },"method":"roots/list"}},"requestState":"s\u002f/""#,
    ));
    stage.server.answers_text(DONE);
    let first = call("7", r#","arguments":{"n":9007199254740993}"#);
    let mut items = stage.call(&first).await;
    let asked = ask(items.next().await);
    let roots = ask(items.next().await);
    assert!(items.next().now_or_never().is_none(), "the answers are waited for");
    assert_eq!(&*asked.message.method_name(), "elicitation/create");
    assert_eq!(asked.message.params(), Some(r#"{"message":"[srv] Who?","x":1.0}"#));
    assert_eq!(roots.message.params(), Some("{ }"));
    give(roots, r#"{"roots":[]}"#);
    assert!(items.next().now_or_never().is_none());
    give(asked, r#"{"action":"accept","content":{"n":1.0}}"#);
    let done = response(items.next().await);
    assert_eq!(done, DONE.replace("\"x\"", "7"));
    assert!(items.next().await.is_none());
    let got = stage.server.got();
    let id = message(&got[1]).id().unwrap().to_string();
    assert_ne!(id, "7", "a retry has an id of its own");
    let again = r#"{"inputResponses":{"b":{"action":"accept","content":{"n":1.0}},"a\u0062":{"roots":[]}},"requestState":"s\u002f/","name""#;
    assert_eq!(with_id(&got[1], "7"), first.replace(r#"{"name""#, again));
}

#[tokio::test]
async fn rounds_follow_one_another_and_have_an_end() {
    let stage = stage().await;
    let (more, note) = (required(r#""requestState":"s""#), r#"{"jsonrpc":"2.0","method":"m"}"#);
    stage.server.answers_text(more.clone());
    // The second round is a stream, and so large an answer comes in pieces.
    stage.server.answers(Answer::messages(stream::iter([notification(note), last(&more)])));
    let pieces: Vec<_> =
        DONE.as_bytes().chunks(9).map(|part| Ok(Bytes::from_static(part))).collect();
    stage.server.answers(Answer::streamed(Box::pin(stream::iter(pieces)), None));
    let mut items = stage.call(&call("\"i\"", "")).await;
    assert_eq!(super::note(items.next().await), note);
    assert_eq!(response(items.next().await), DONE.replace("\"x\"", "\"i\""));
    let ids: Vec<_> =
        stage.server.got().iter().map(|got| message(got).id().unwrap().to_string()).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");

    for _ in 0..20 {
        stage.server.answers_text(more.clone());
    }
    assert_eq!(stage.refusal(&call("1", "")).await, Code::UpstreamBroken);
    assert_eq!(stage.server.got().len(), 11);
}

#[tokio::test]
async fn a_clients_error_is_the_answer() {
    let stage = stage().await;
    stage.server.answers_text(required(
        r#""inputRequests":{"a":{"method":"sampling/createMessage","params":{}}}"#,
    ));
    let mut items = stage.call(&call("7", "")).await;
    let asked = ask(items.next().await);
    let error = r#"{"code":-1,"message":"User rejected it","data":1.0}"#;
    asked.reply.answer(&message(&format!(r#"{{"jsonrpc":"2.0","id":3,"error":{error}}}"#)));
    let want = format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#);
    assert_eq!(response(items.next().await), want);
    assert_eq!(stage.server.got().len(), 1);
}

#[tokio::test]
async fn what_may_not_be_asked_or_cannot_be_read_fails_the_call() {
    let stage = stage().await;
    *stage.server.may_ask.lock().unwrap() = vec!["elicitation/create"];
    let many: Vec<_> = (0..65)
        .map(|n| format!(r#""{n}":{{"method":"elicitation/create","params":{{}}}}"#))
        .collect();
    let many = format!(r#""inputRequests":{{{}}}"#, many.join(","));
    for members in [
        r#""inputRequests":{"a":{"method":"elicitation/create","params":{}},"b":{"method":"roots/list"}}"#,
        r#""inputRequests":{"a":{"method":"tools/call"}}"#,
        r#""inputRequests":{}"#,
        r#""inputRequests":[]"#,
        r#""inputRequests":{"a":{}}"#,
        r#""inputRequests":{"a":{"method":"elicitation/create"},"\u0061":{"method":"elicitation/create"}}"#,
        r#""requestState":5"#,
        r#""x":1"#,
        &many,
    ] {
        stage.server.answers_text(required(members));
        assert_eq!(stage.refusal(&call("7", "")).await, Code::UpstreamBroken, "{members}");
        assert_eq!(stage.server.got().len(), 1);
    }
}

#[tokio::test]
async fn any_other_answer_passes_as_it_is() {
    let stage = stage().await;
    for text in [
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"text":"input_required \u0041"}]}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"input_required"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"x":{"resultType":"input_required"}}}"#,
    ] {
        stage.server.answers_text(text);
        let Ok(Answer::Json(Json { body: Body::Whole(got), .. })) =
            stage.send(&call("7", "")).await
        else {
            panic!("it is no JSON answer any more");
        };
        assert_eq!(got, text);
    }
    // Larger than plugins may look into.
    let large = "x".repeat(stage.connector.review_max + 1);
    let pieces = large.as_bytes().chunks(1 << 18).map(Bytes::copy_from_slice).map(Ok);
    let pieces = stream::iter(pieces.collect::<Vec<_>>());
    stage.server.answers(Answer::streamed(Box::pin(pieces), None));
    let Ok(Answer::Json(Json { body: Body::Stream(chunks, _), .. })) =
        stage.send(&call("7", "")).await
    else {
        panic!("it does not stream any more");
    };
    let all: Vec<Bytes> = chunks.map(Result::unwrap).collect().await;
    assert_eq!(all.concat(), large.as_bytes());
}

#[tokio::test]
async fn an_escaped_word_and_an_answer_in_pieces_are_read() {
    let stage = stage().await;
    let escaped =
        required(r#""requestState":"s""#).replace("input_required", "\\u0069nput_required");
    let pieces: Vec<_> =
        escaped.as_bytes().chunks(9).map(|part| Ok(Bytes::copy_from_slice(part))).collect();
    stage.server.answers(Answer::streamed(Box::pin(stream::iter(pieces)), None));
    stage.server.answers_text(DONE);
    assert_eq!(stage.response(&call("7", "")).await, DONE.replace("\"x\"", "7"));
}

#[tokio::test]
async fn a_cancelled_call_ends_and_the_server_hears_of_it_by_its_own_id() {
    let stage = stage().await;
    stage.server.answers_text(required(r#""requestState":"s""#));
    let held = Held::default();
    stage.server.answers(held.open(vec![notification(r#"{"jsonrpc":"2.0","method":"m"}"#)]));
    let request = stage.request(&call("7", ""));
    let flight = request.flight.clone();
    let mut items = items(dispatch(&stage.connector, request).await.unwrap());
    note(items.next().await);
    assert!(items.next().now_or_never().is_none() && !held.is_dropped());
    flight.cancel();
    assert!(items.next().await.is_none() && held.is_dropped());
    let id = message(&stage.server.got()[1]).id().unwrap().to_string();
    let told = stage.server.told.lock().unwrap().join("");
    assert!(told.contains("notifications/cancelled") && told.contains(&id), "{told}");
}

#[tokio::test]
async fn a_call_that_is_cancelled_before_its_answer_begins_ends_without_one() {
    let stage = stage().await;
    stage.server.hangs.store(true, Ordering::Relaxed);
    let request = stage.request(&call("7", ""));
    request.flight.cancel();
    let mut items = items(dispatch(&stage.connector, request).await.unwrap());
    assert!(items.next().await.is_none(), "not even an error");
    assert_eq!(stage.server.got().len(), 1);
}

#[tokio::test]
async fn who_does_not_answer_in_time_fails_the_call() {
    let stage = stage().await.patient_for(Duration::from_millis(1));
    stage.server.answers_text(required(r#""inputRequests":{"a":{"method":"roots/list"}}"#));
    let mut items = stage.call(&call("7", "")).await;
    let asked = ask(items.next().await);
    assert!(items.next().await.unwrap().is_err());
    drop(asked);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_retry_is_the_call_and_nothing_but_the_input_more(
        words in prop::collection::btree_map("[a-z]{1,6}", "[ -~\u{e4}\u{1f600}]{0,12}", 0..6),
        answers in prop::collection::btree_map("[a-z]{1,3}", any::<i64>(), 0..4),
        state in prop::option::of("[ -~\u{e4}]{0,12}"),
        spaces in "[ \t\r\n]{0,3}",
    ) {
        let mut params = json!({"name": "t"});
        for (word, value) in &words {
            params[format!("x-{word}")] = json!(value);
        }
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let text = text.to_string().replacen(':', &format!("{spaces}:{spaces}"), 1);
        let before = message(&text);
        let pairs: Vec<_> = answers
            .iter()
            .map(|(key, answer)| (json!(key).to_string(), json!({"n": answer}).to_string()))
            .collect();
        let written = state.as_ref().map(|state| json!(state).to_string());
        let id = Id::parse("\"new\"").unwrap();
        let again = input::again(&before, &id, &pairs, written.as_deref()).unwrap();
        let mut want: Value = serde_json::from_slice(before.text()).unwrap();
        want["id"] = json!("new");
        if !answers.is_empty() {
            let all = answers.iter().map(|(key, answer)| (key.clone(), json!({"n": answer})));
            want["params"]["inputResponses"] = Value::Object(all.collect());
        }
        if let Some(state) = &state {
            want["params"]["requestState"] = json!(state);
        }
        prop_assert_eq!(serde_json::from_slice::<Value>(again.text()).unwrap(), want);
        let first = input::first(&again).unwrap();
        let first = with_id(std::str::from_utf8(first.text()).unwrap(), "1");
        prop_assert_eq!(
            serde_json::from_str::<Value>(&first).unwrap(),
            serde_json::from_slice::<Value>(before.text()).unwrap()
        );
    }
}
