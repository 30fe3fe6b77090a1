//! Answers as messages, one after the other.

use futures_util::StreamExt as _;

use super::output::Output;
use crate::fault::Fault;
use crate::pipeline::collect;
use crate::pipeline::port::{Answer, Chunks, Messages};
use crate::protocol::{Kind, Message};

/// Largest message to the client: a line is written once it is whole.
const MESSAGE: usize = 64 * 1024 * 1024;

/// Sends the messages of an answer, the response last; says whether there was one. An error means that there was none.
pub(super) async fn send(
    answer: Answer,
    output: &Output,
    hand_over: impl FnOnce(Messages) -> Chunks,
) -> Result<bool, Fault> {
    match answer {
        Answer::Json(_) => {
            let response = collect::response(answer, MESSAGE).await?;
            output.send(response.text().clone()).await;
        }
        Answer::Messages(messages) => {
            let mut texts = hand_over(messages);
            let mut last = None;
            while let Some(text) = texts.next().await {
                let text = text?;
                output.send(text.clone()).await;
                last = Some(text);
            }
            let last = last.and_then(|text| Message::parse(text).ok());
            return Ok(last.is_some_and(|last| last.kind() == Kind::Response));
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::stream;

    use super::*;
    use crate::fault::Code;
    use crate::pipeline::port::{Incoming, Notification};
    use crate::transport::handover;
    use crate::transport::stdio::writer;

    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    /// The lines that came out, and how it ended.
    async fn sent(answer: Answer) -> (String, Option<Code>) {
        let mut written = Vec::new();
        let (output, queue) = Output::new();
        let sending = async move {
            send(answer, &output, handover::stateless).await.err().map(|fault| fault.code())
        };
        let (code, ()) = tokio::join!(sending, writer::run(&mut written, queue));
        (String::from_utf8(written).unwrap(), code)
    }

    #[tokio::test]
    async fn messages_become_lines_in_their_order() {
        let note = || {
            let (upstream, text) = ("a".into(), Bytes::from_static(NOTE.as_bytes()));
            Ok(Incoming::Notification(Notification { upstream, text }))
        };
        let done = || Ok(Incoming::Response(Bytes::from_static(DONE.as_bytes())));
        let broke = || Err(Fault::new(Code::UpstreamTimeout, "It broke off."));
        for (messages, lines, code) in [
            (vec![note(), done()], format!("{NOTE}\n{DONE}\n"), None),
            (vec![note(), broke()], format!("{NOTE}\n"), Some(Code::UpstreamTimeout)),
        ] {
            assert_eq!(sent(Answer::messages(stream::iter(messages))).await, (lines, code));
        }
    }

    #[tokio::test]
    async fn a_json_answer_is_one_line_whatever_its_pieces() {
        let pieces = |text: &str| {
            let pieces: Vec<_> =
                text.as_bytes().chunks(5).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
            Answer::streamed(Box::pin(stream::iter(pieces)), None)
        };
        let pretty = "{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 1,\n  \"result\": {}\n}";
        let (line, code) = sent(pieces(pretty)).await;
        assert_eq!(line.matches('\n').count(), 1);
        assert!(code.is_none() && line.contains("\"result\": {}"), "{line}");
        let (line, code) = sent(pieces("<html>")).await;
        assert_eq!((line.as_str(), code), ("", Some(Code::UpstreamBroken)));
    }
}
