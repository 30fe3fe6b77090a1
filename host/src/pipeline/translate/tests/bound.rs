//! What a yes is bound to, and what a no leaves.

use http::{HeaderName, HeaderValue};

use super::confirmed::{CONFIRMED, DONE, LEGACY, MODERN, retry, stage};
use super::modern::state;
use super::*;

const NO: &str = r#"{"confirmation":{"action":"decline"}}"#;

/// What a person was asked.
fn asked(answer: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
    let params = &answer["result"]["inputRequests"]["confirmation"]["params"];
    params["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_no_uses_nothing_up_and_takes_nobodys_room() {
    let (stage, _) = stage(MODERN, LEGACY).await;
    let stage = Stage { caller: Arc::new(Caller::anybody()), ..stage };
    let state = state(&stage.response(&call("7", "")).await);
    for answers in [NO, r#"{"confirmation":{"action":"accept"}}"#, "{}", r#"{"other":{}}"#] {
        let no = call("7", &retry(answers, &state));
        for _ in 0..3 {
            assert_eq!(stage.refusal(&no).await, Code::NotConfirmed, "{answers}");
        }
    }
    assert!(stage.server.got().is_empty());
    assert_eq!(stage.connector.confirming.counts(), (0, 0));
    stage.server.answers_text(DONE);
    let yes = call("7", &retry(CONFIRMED, &state));
    assert_eq!(stage.response(&yes).await, DONE);
    assert_eq!(stage.connector.confirming.counts(), (0, 1));
    assert_eq!(stage.refusal(&yes).await, Code::InvalidParams, "it was used");
    // A no is a no, also of a state that was used.
    assert_eq!(stage.refusal(&call("7", &retry(NO, &state))).await, Code::NotConfirmed);
}

#[tokio::test]
async fn what_stands_beside_the_arguments_is_shown_and_confirmed_with_them() {
    const DRY: &str = r#""acme/dryRun":true,"progressToken":1,"traceparent":"00-a","io.modelcontextprotocol/x":1"#;
    let (stage, _) = stage(MODERN, LEGACY).await;
    let params = |meta: &str| format!(r#","override":"yes","_meta":{{{meta}}}"#);
    for (meta, code) in [
        (DRY, None),
        (r#""traceparent":"00-b","acme\/dryRun":true"#, None),
        ("", Some(Code::NotConfirmed)),
        (r#""acme/dryRun":false"#, Some(Code::NotConfirmed)),
        (r#""acme/dryRun":true,"acme/force":1"#, Some(Code::NotConfirmed)),
        (r#""acme/dryRun":true,"requestState":"x""#, Some(Code::NotConfirmed)),
    ] {
        let first = stage.response(&call("7", &params(DRY))).await;
        let text = asked(&first);
        assert!(text.contains("\n  \"override\": \"yes\",\n"), "{text}");
        assert!(text.contains("\n    \"acme/dryRun\": true\n"), "{text}");
        for other in ["progressToken", "traceparent", "io.modelcontextprotocol"] {
            assert!(!text.contains(other), "{text}");
        }
        let again = params(meta) + &retry(CONFIRMED, &state(&first));
        if let Some(code) = code {
            assert_eq!(stage.refusal(&call("7", &again)).await, code, "{meta}");
            assert!(stage.server.got().is_empty(), "{meta}");
        } else {
            stage.server.answers_text(DONE);
            assert_eq!(stage.response(&call("7", &again)).await, DONE, "{meta}");
            assert_eq!(stage.server.got().len(), 1);
        }
    }
    let plain = asked(&stage.response(&call("7", r#","_meta":{"progressToken":1}"#)).await);
    assert!(!plain.contains("Further members") && !plain.contains("Headers"), "{plain}");
}

#[tokio::test]
async fn headers_that_go_along_are_shown_and_confirmed_too() {
    let (stage, _) = stage(MODERN, LEGACY).await;
    let with = |text: &str, headers: &[(&'static str, &'static str)]| {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        Request { passed: headers.collect(), ..stage.request(text) }
    };
    let (one, two) = (("mcp-param-region", "eu"), ("mcp-param-zone", "b"));
    let confirmed: &[_] = &[one, two];
    for (headers, passes) in [
        (confirmed, true),
        (&[two, one], true),
        (&[one], false),
        (&[one, ("mcp-param-zone", "c")], false),
        (&[one, two, two], false),
        (&[], false),
    ] {
        let first = dispatch(&stage.connector, with(&call("7", ""), confirmed)).await.unwrap();
        let first = response(items(first).next().await);
        let text = asked(&first);
        assert!(text.contains("\n  \"mcp-param-region\": \"eu\",\n"), "{text}");
        let again = call("7", &retry(CONFIRMED, &state(&first)));
        if passes {
            stage.server.answers_text(DONE);
        }
        let answer = dispatch(&stage.connector, with(&again, headers)).await;
        assert_eq!(stage.server.got().len(), usize::from(passes), "{headers:?}");
        let code = answer.err().map(|fault| fault.code());
        assert_eq!(code, (!passes).then_some(Code::NotConfirmed), "{headers:?}");
    }
}

#[tokio::test]
async fn nobody_is_asked_where_nothing_comes_before_the_response() {
    let (stage, _) = stage(LEGACY, LEGACY).await;
    let request = Request { streams: false, ..stage.request(&call("7", "")) };
    let fault = dispatch(&stage.connector, request).await.err().unwrap();
    assert_eq!(fault.code(), Code::CannotConfirm);
    assert!(fault.public().contains("JSON-RPC batch"), "{}", fault.public());
    assert_eq!(stage.connector.confirming.counts(), (0, 0));
}
