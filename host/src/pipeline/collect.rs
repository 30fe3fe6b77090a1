//! Answers as a whole, for those who have to look into them.

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt as _, stream};

use super::port::{Answer, Body, Incoming};
use crate::fault::{Code, Fault};
use crate::protocol::Message;

/// The JSON-RPC response of an answer of at most `limit` bytes, whatever its form. What the server asks before it is
/// refused, and what it tells is dropped.
pub async fn response(answer: Answer, limit: usize) -> Result<Message, Fault> {
    match answer {
        Answer::Json(json) => parse(whole(json.body, limit).await?),
        Answer::Messages(mut messages) => {
            while let Some(message) = messages.next().await {
                match message? {
                    Incoming::Response(text) if text.len() <= limit => return parse(text),
                    Incoming::Response(_) => return Err(large(limit)),
                    Incoming::Notification(_) | Incoming::Ask(_) | Incoming::Break(_) => {}
                }
            }
            Err(Fault::new(Code::UpstreamBroken, "The server ended the stream without an answer."))
        }
    }
}

/// A body, as far as it was held back.
pub(super) enum Held {
    /// All of it.
    Whole(Bytes),
    /// It is larger than the limit; nothing of it is lost.
    Large(Body),
}

/// Holds a body back while it has at most `limit` bytes.
pub(super) async fn hold(body: Body, limit: usize) -> Result<Held, Fault> {
    match body {
        Body::Whole(bytes) if bytes.len() <= limit => Ok(Held::Whole(bytes)),
        Body::Whole(bytes) => Ok(Held::Large(Body::Whole(bytes))),
        Body::Stream(chunks, length) if length.is_some_and(|length| length > limit as u64) => {
            Ok(Held::Large(Body::Stream(chunks, length)))
        }
        Body::Stream(mut chunks, length) => {
            let mut all = BytesMut::new();
            while let Some(chunk) = chunks.next().await {
                all.extend_from_slice(&chunk?);
                if all.len() > limit {
                    let start = stream::iter([Ok(all.freeze())]);
                    return Ok(Held::Large(Body::Stream(Box::pin(start.chain(chunks)), length)));
                }
            }
            Ok(Held::Whole(all.freeze()))
        }
    }
}

/// All bytes of a body of at most `limit` bytes.
pub async fn whole(body: Body, limit: usize) -> Result<Bytes, Fault> {
    match hold(body, limit).await? {
        Held::Whole(bytes) => Ok(bytes),
        Held::Large(_) => Err(large(limit)),
    }
}

/// The message of a response.
pub(super) fn parse(text: Bytes) -> Result<Message, Fault> {
    Message::parse(text).map_err(|error| {
        Fault::new(Code::UpstreamBroken, "The server answered what is not JSON-RPC.").because(error)
    })
}

pub(super) fn large(limit: usize) -> Fault {
    let text = format!("The answer is larger than the {limit} bytes that can be held back.");
    Fault::new(Code::UpstreamTooLarge, text)
}
