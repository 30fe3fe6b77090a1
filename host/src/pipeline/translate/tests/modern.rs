//! Clients of the modern era: what a server's answer becomes for them.

use super::*;

const URLS: &str = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"Go there","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://a.example/","message":"Pay","x":1.0}]}}}"#;

async fn stage(server: Revision) -> Stage {
    Stage::new(Revision::V2026_07_28, server).await
}

#[tokio::test]
async fn a_modern_servers_questions_pass_byte_for_byte_but_for_the_servers_name() {
    let stage = stage(Revision::V2026_07_28).await;
    let unchanged = r#"{"result": {"requestState":"s\u002f","inputRequests":{ "r" :{"method":"roots/list"},"s":{"params":{"n":1.0},"method":"sampling\/createMessage"}},"x":9007199254740993,"resultType":"input_required"} ,"jsonrpc":"2.0","id":7}"#;
    stage.server.answers_text(unchanged);
    assert_eq!(stage.response(&call("7", "")).await, unchanged);
    let named = unchanged.replace(
        r#"{"method":"roots/list"}"#,
        r#"{"method":"elicitation/create","params":{"x":1.0, "message":"Who?"}}"#,
    );
    stage.server.answers_text(named.clone());
    assert_eq!(stage.response(&call("7", "")).await, named.replace("Who?", "[srv] Who?"));
    stage.server.answers(Answer::messages(stream::iter([last(&named)])));
    assert_eq!(stage.response(&call("7", "")).await, named.replace("Who?", "[srv] Who?"));
}

#[tokio::test]
async fn a_modern_server_asks_for_nothing_that_it_may_not() {
    let stage = stage(Revision::V2026_07_28).await;
    *stage.server.may_ask.lock().unwrap() = vec!["roots/list"];
    let asking = |word: &str, method: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"result":{{"resultType":"{word}","inputRequests":{{"r":{{"method":"roots/list"}},"s":{{"method":"{method}","params":{{}}}}}}}}}}"#
        )
    };
    for (word, method) in [
        ("input_required", "sampling/createMessage"),
        ("input_\\u0072equired", "sampling/createMessage"),
        ("input_required", "tools/call"),
    ] {
        stage.server.answers_text(asking(word, method));
        assert_eq!(stage.refusal(&call("7", "")).await, Code::UpstreamBroken, "{word} {method}");
    }
    let fine = asking("input_required", "roots/list");
    stage.server.answers_text(fine.clone());
    assert_eq!(stage.response(&call("7", "")).await, fine);
}

/// What a task that waits for its client says of itself.
fn waiting(status: &str, method: &str) -> String {
    format!(
        r#"{{ "taskId":"t","status" : "{status}","n":1.0,"inputRequests":{{"k" : {{"method":"{method}","params":{{"message":"Who?"}}}}}}}}"#
    )
}

#[tokio::test]
async fn what_a_task_asks_for_is_allowed_and_named_like_everything_else() {
    let stage = stage(Revision::V2026_07_28).await;
    let got = |task: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"result":{task}}}"#);
    let told = |task: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{task}}}"#)
    };
    let done = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    for status in ["input_required", "input\\u005frequired"] {
        let asks = waiting(status, "elicitation/create");
        let named = asks.replace("Who?", "[srv] Who?");
        stage.server.answers_text(got(&asks));
        assert_eq!(stage.response(&call("7", "")).await, got(&named));
        let strange = waiting(status, "tools/call");
        stage.server.answers_text(got(&strange));
        assert_eq!(stage.refusal(&call("7", "")).await, Code::UpstreamBroken);
        stage.server.answers_text(got(&strange.replace("\"method\"", "\"m\"")));
        assert_eq!(stage.refusal(&call("7", "")).await, Code::UpstreamBroken);
        let messages = [&strange, &asks].map(|task| notification(&told(task)));
        let messages = stream::iter(messages).chain(stream::iter([last(done)]));
        stage.server.answers(Answer::messages(messages));
        let mut items = stage.call(&call("7", "")).await;
        assert_eq!(note(items.next().await), told(&named));
        assert_eq!(response(items.next().await), done);
    }
    // Nobody reads these as questions.
    let asks = waiting("input_required", "elicitation/create");
    for other in [asks.replace("input_required", "working"), asks.replace("taskId", "task")] {
        stage.server.answers_text(got(&other));
        assert_eq!(stage.response(&call("7", "")).await, got(&other));
    }
}

#[tokio::test]
async fn a_servers_own_state_is_the_servers_matter() {
    let retry = call("8", r#","inputResponses":{"a":{}},"requestState":"s\u002f""#);
    let modern = stage(Revision::V2026_07_28).await;
    let done = r#"{"jsonrpc":"2.0","id":8,"result":{"resultType":"complete"}}"#;
    modern.server.answers_text(done);
    assert_eq!(modern.response(&retry).await, done);
    assert_eq!(modern.server.got().join(""), retry);
    // A server of the legacy era never gave one.
    let legacy = stage(Revision::V2025_11_25).await;
    assert_eq!(legacy.refusal(&retry).await, Code::InvalidParams);
    assert!(legacy.server.got().is_empty());
}

#[tokio::test]
async fn a_page_to_visit_becomes_a_question_and_the_retry_calls_again() {
    let stage = stage(Revision::V2025_11_25).await;
    stage.server.answers_text(URLS);
    let more = r#","arguments":{"a":1.0}"#;
    let asked = stage.response(&call("7", more)).await;
    let state = state(&asked);
    assert_eq!(
        asked.replace(&state, "S"),
        r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"url-1":{"method":"elicitation/create","params":{"mode":"url","elicitationId":"e","url":"https://a.example/","message":"[srv] Pay","x":1.0}}},"requestState":"S"}}"#
    );
    let done = r#"{"jsonrpc":"2.0","id":8,"result":{"resultType":"complete"}}"#;
    stage.server.answers_text(done);
    let retry = format!(
        r#"{more},"inputResponses":{{"url-1":{{"action":"accept"}}}},"requestState":"{state}""#
    );
    assert_eq!(stage.response(&call("8", &retry)).await, done);
    assert_eq!(stage.server.got(), [call("7", more), call("8", more)]);
    assert_eq!(stage.refusal(&call("9", &retry)).await, Code::InvalidParams, "once");
}

#[tokio::test]
async fn codes_that_the_modern_era_does_not_have_are_not_sent() {
    let stage = stage(Revision::V2025_11_25).await;
    let missing = r#"{"jsonrpc":"2.0","id":7,"error":{"data":{"code":-32002}, "code" : -32002 ,"message":"-32002"}}"#;
    stage
        .server
        .answers(Answer::Json(Json { body: Body::Whole(missing.into()), refusal: Some(-32002) }));
    let Ok(Answer::Json(Json { body: Body::Whole(text), refusal })) =
        stage.send(&call("7", "")).await
    else {
        panic!("it was a JSON answer");
    };
    assert_eq!(text, missing.replace(r#""code" : -32002"#, r#""code" : -32602"#));
    assert_eq!(refusal, Some(-32602));
    stage.server.answers_text(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"m"}}"#);
    assert_eq!(stage.refusal(&call("7", "")).await, Code::UpstreamBroken);
    *stage.server.may_ask.lock().unwrap() = vec![];
    stage.server.answers_text(URLS);
    assert_eq!(stage.refusal(&call("7", "")).await, Code::UpstreamBroken);
    // A legacy client gets what the server says.
    let legacy = Stage::new(Revision::V2025_11_25, Revision::V2025_11_25).await;
    legacy.server.answers_text(URLS);
    assert_eq!(legacy.response(&call("7", "")).await, URLS);
}

/// The state in a response that asks for input.
pub(super) fn state(response: &str) -> String {
    let response: serde_json::Value = serde_json::from_str(response).unwrap();
    response["result"]["requestState"].as_str().unwrap().to_owned()
}
