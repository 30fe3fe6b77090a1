//! Answers as messages, one after the other.

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};

use super::output::Output;
use crate::fault::{Code, Fault};
use crate::pipeline::collect;
use crate::pipeline::port::{Answer, Body, Chunks, Form};
use crate::protocol::{Kind, Message, sse};

/// Largest message to the client: a line is written once it is whole.
const MESSAGE: usize = 64 * 1024 * 1024;

/// Sends the messages of an answer, the response last. An error means that no response was sent.
pub(super) async fn send(answer: Answer, output: &Output) -> Result<(), Fault> {
    match answer.form {
        Form::Json => {
            let response = collect::response(answer, MESSAGE).await?;
            output.send(response.text().clone()).await;
            Ok(())
        }
        Form::Events => events(chunks(answer.body), output).await,
    }
}

fn chunks(body: Body) -> Chunks {
    match body {
        Body::Whole(bytes) => Box::pin(stream::iter([Ok(bytes)])),
        Body::Stream(chunks, _) => chunks,
    }
}

async fn events(mut chunks: Chunks, output: &Output) -> Result<(), Fault> {
    let mut reader = sse::Reader::new(MESSAGE);
    let mut answered = false;
    while let Some(chunk) = chunks.next().await {
        match chunk.and_then(|chunk| messages(&mut reader, &chunk)) {
            Ok(messages) => {
                for message in messages {
                    answered |= message.kind() == Kind::Response;
                    output.send(message.text().clone()).await;
                }
            }
            Err(_late) if answered => return Ok(()),
            Err(fault) => return Err(fault),
        }
    }
    if answered {
        return Ok(());
    }
    Err(Fault::new(Code::UpstreamBroken, "The server ended the stream without an answer."))
}

/// The messages that are whole with this chunk.
fn messages(reader: &mut sse::Reader, chunk: &Bytes) -> Result<Vec<Message>, Fault> {
    reader.push(chunk);
    let mut found = Vec::new();
    loop {
        let event = reader.next_event().map_err(|error| {
            Fault::new(Code::UpstreamTooLarge, "The answer is too large.").because(error)
        })?;
        let Some(event) = event else { return Ok(found) };
        if event.is_message() {
            found.push(Message::parse(event.data).map_err(|error| {
                let text = "The server answered what is not JSON-RPC.";
                Fault::new(Code::UpstreamBroken, text).because(error)
            })?);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    fn answer(form: Form, chunks: Vec<Result<Bytes, Fault>>) -> Answer {
        Answer { form, body: Body::Stream(Box::pin(stream::iter(chunks)), None) }
    }

    fn event(message: &str) -> Bytes {
        sse::encode(message.as_bytes())
    }

    /// The lines that came out, and how it ended.
    async fn sent(answer: Answer) -> (String, Option<Code>) {
        let mut written = Vec::new();
        let (output, writer) = Output::new(&mut written);
        let sending = async move { send(answer, &output).await.err().map(|fault| fault.code()) };
        let (code, ()) = tokio::join!(sending, writer.run());
        (String::from_utf8(written).unwrap(), code)
    }

    #[tokio::test]
    async fn an_event_stream_becomes_its_messages_in_their_order() {
        let broke = || Err(Fault::new(Code::UpstreamTimeout, "It broke off."));
        for (chunks, lines, code) in [
            (vec![Ok(event(NOTE)), Ok(event(DONE))], format!("{NOTE}\n{DONE}\n"), None),
            (vec![Ok(event(DONE)), broke()], format!("{DONE}\n"), None),
            (vec![Ok(event(NOTE)), broke()], format!("{NOTE}\n"), Some(Code::UpstreamTimeout)),
            (vec![Ok(event(NOTE))], format!("{NOTE}\n"), Some(Code::UpstreamBroken)),
            (vec![Ok(event("{}"))], String::new(), Some(Code::UpstreamBroken)),
            (vec![], String::new(), Some(Code::UpstreamBroken)),
        ] {
            assert_eq!(sent(answer(Form::Events, chunks)).await, (lines, code));
        }
    }

    #[tokio::test]
    async fn a_json_answer_is_one_line_whatever_its_pieces() {
        let pieces = |text: &str| {
            text.as_bytes().chunks(5).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect()
        };
        let pretty = "{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 1,\n  \"result\": {}\n}";
        let (line, code) = sent(answer(Form::Json, pieces(pretty))).await;
        assert_eq!(line.matches('\n').count(), 1);
        assert!(code.is_none() && line.contains("\"result\": {}"), "{line}");
        let (line, code) = sent(answer(Form::Json, pieces("<html>"))).await;
        assert_eq!((line.as_str(), code), ("", Some(Code::UpstreamBroken)));
    }
}
