//! Servers of revision 2025-03-26 may answer with an array of messages.

use super::*;

const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":"c-1","result":{"n":1.0}}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;

async fn answered(kind: &'static str, body: String) -> Result<String, Code> {
    let server = Legacy::new(move |_| reply(200, kind, body.clone()));
    called(&server, Revision::V2025_03_26, Limits::default()).await
}

#[tokio::test]
async fn a_batch_is_as_many_messages_and_the_response_is_the_last() {
    let large = format!(r#"{{"jsonrpc":"2.0","method":"notifications/{}"}}"#, "x".repeat(100_000));
    for note in [NOTE, &large] {
        let batch = format!("[{RESPONSE}, {note}]");
        let want = format!("{note}\n{RESPONSE}\n");
        assert_eq!(answered("application/json", batch.clone()).await.unwrap(), want);
        let event = format!("data: {batch}\n\n");
        assert_eq!(answered("text/event-stream", event).await.unwrap(), want);
    }
    let alone = answered("application/json", format!("[{RESPONSE}]")).await;
    assert_eq!(alone.unwrap().trim_end(), RESPONSE);
    for broken in ["[]", "[1]", &format!("[{NOTE}]")] {
        let answer = answered("application/json", broken.to_owned()).await;
        assert_eq!(answer, Err(Code::UpstreamBroken), "{broken}");
    }
}
