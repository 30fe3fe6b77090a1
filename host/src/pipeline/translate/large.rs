//! Answers that stream because they are large: one that asks for input is found all the same.

use std::sync::Arc;

use bytes::BytesMut;
use futures_util::{StreamExt as _, stream};

use super::result_type::ResultType;
use super::{Connector, asks, speaks_modern};
use crate::fault::{Code, Fault};
use crate::pipeline::port::{Answer, Body, Chunks, Json, Upstream};
use crate::protocol::Method;

/// The answer of a server to this method. Where it may ask for input, it is held back until it says what kind of result it
/// is, up to as many bytes as plugins may look into; what is larger passes as it comes, as long as it asks for nothing.
pub(in crate::pipeline) async fn looked_into(
    connector: &Connector,
    method: Method,
    upstream: &dyn Upstream,
    answer: Answer,
) -> Result<Answer, Fault> {
    match answer {
        Answer::Json(Json { body: Body::Stream(chunks, length), refusal })
            if asks(method) && speaks_modern(upstream) =>
        {
            let body = held(chunks, length, connector.review_max, upstream.name());
            Ok(Answer::Json(Json { body: Box::pin(body).await?, refusal }))
        }
        answer => Ok(answer),
    }
}

async fn held(
    mut chunks: Chunks,
    length: Option<u64>,
    limit: usize,
    upstream: &Arc<str>,
) -> Result<Body, Fault> {
    let mut kind = ResultType::default();
    let mut start = BytesMut::new();
    while kind.asks() || (kind.is_unknown() && start.len() <= limit) {
        let Some(chunk) = chunks.next().await else { return Ok(Body::Whole(start.freeze())) };
        let chunk = chunk?;
        kind.read(&chunk);
        start.extend_from_slice(&chunk);
        if kind.asks() && start.len() > limit {
            return Err(too_large(upstream));
        }
    }
    let upstream = upstream.clone();
    let rest = chunks.map(move |chunk| {
        let chunk = chunk?;
        kind.read(&chunk);
        // The answer breaks off before its end: no client reads it as a question.
        if kind.asks() { Err(too_large(&upstream)) } else { Ok(chunk) }
    });
    let start = stream::iter([Ok(start.freeze())]);
    Ok(Body::Stream(Box::pin(start.chain(rest)), length))
}

fn too_large(upstream: &str) -> Fault {
    let text =
        format!("The server {upstream:?} asks for input in an answer that is too large for it.");
    Fault::new(Code::UpstreamTooLarge, text)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const ASKS: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"x":[1,{"resultType":"complete"}],"resultType":"input_required"}}"#;
    const COMPLETE: &str =
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","x":"input_required"}}"#;

    async fn passed(text: &str, piece: usize, limit: usize) -> (bool, Result<String, Code>) {
        let pieces: Vec<_> =
            text.as_bytes().chunks(piece).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let body = held(Box::pin(stream::iter(pieces)), None, limit, &"s".into()).await;
        match body {
            Ok(Body::Whole(text)) => (true, Ok(String::from_utf8(text.to_vec()).unwrap())),
            Ok(Body::Stream(mut chunks, _)) => {
                let mut all = Vec::new();
                while let Some(chunk) = chunks.next().await {
                    match chunk {
                        Ok(chunk) => all.extend_from_slice(&chunk),
                        Err(fault) => return (false, Err(fault.code())),
                    }
                }
                (false, Ok(String::from_utf8(all).unwrap()))
            }
            Err(fault) => (false, Err(fault.code())),
        }
    }

    #[tokio::test]
    async fn what_asks_is_held_whole_or_refused_and_everything_else_passes() {
        for piece in [1, 7, 4096] {
            assert_eq!(passed(ASKS, piece, 4096).await, (true, Ok(ASKS.to_owned())));
            assert_eq!(passed(ASKS, piece, 20).await.1, Err(Code::UpstreamTooLarge), "{piece}");
            assert_eq!(passed(COMPLETE, piece, 20).await.1, Ok(COMPLETE.to_owned()));
        }
        assert!(!passed(COMPLETE, 7, 4096).await.0, "it streams as soon as its kind is known");
    }
}
