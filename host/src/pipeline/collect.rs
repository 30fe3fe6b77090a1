//! Answers as a whole, for those who have to look into them.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;

use super::port::{Answer, Body, Chunks, Form};
use crate::fault::{Code, Fault};
use crate::protocol::{Kind, Message, sse};

/// The JSON-RPC response of an answer of at most `limit` bytes, whatever its form.
pub async fn response(answer: Answer, limit: usize) -> Result<Message, Fault> {
    match answer.form {
        Form::Json => parse(whole(answer.body, limit).await?),
        Form::Events => {
            let mut chunks = match answer.body {
                Body::Whole(bytes) => Box::pin(futures_util::stream::iter([Ok(bytes)])) as Chunks,
                Body::Stream(chunks, _) => chunks,
            };
            let mut reader = sse::Reader::new(limit);
            while let Some(chunk) = chunks.next().await {
                reader.push(&chunk?);
                while let Some(event) =
                    reader.next_event().map_err(|error| large(limit).because(error))?
                {
                    if event.is_message() {
                        let message = parse(event.data)?;
                        if message.kind() == Kind::Response {
                            return Ok(message);
                        }
                    }
                }
            }
            Err(Fault::new(Code::UpstreamBroken, "The server ended the stream without an answer."))
        }
    }
}

/// All bytes of a body of at most `limit` bytes.
pub(super) async fn whole(body: Body, limit: usize) -> Result<Bytes, Fault> {
    match body {
        Body::Whole(bytes) if bytes.len() <= limit => Ok(bytes),
        Body::Whole(_) => Err(large(limit)),
        Body::Stream(mut chunks, length) => {
            if length.is_some_and(|length| length > limit as u64) {
                return Err(large(limit));
            }
            let mut all = BytesMut::new();
            while let Some(chunk) = chunks.next().await {
                all.extend_from_slice(&chunk?);
                if all.len() > limit {
                    return Err(large(limit));
                }
            }
            Ok(all.freeze())
        }
    }
}

/// The message of a response.
pub(super) fn parse(text: Bytes) -> Result<Message, Fault> {
    Message::parse(text).map_err(|error| {
        Fault::new(Code::UpstreamBroken, "The server answered what is not JSON-RPC.").because(error)
    })
}

fn large(limit: usize) -> Fault {
    let text = format!("The answer is larger than the {limit} bytes that can be held back.");
    Fault::new(Code::UpstreamTooLarge, text)
}
