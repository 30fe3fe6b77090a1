//! Over HTTP: with sessions and a stream for each where the recording is one of the legacy era.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited, StreamBody, combinators::BoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpListener, sync::mpsc};

use super::server::{Answer, Replay};
use crate::exact::Exact;

type Reply = Response<BoxBody<Bytes, Infallible>>;

const SESSION: &str = "mcp-session-id";
const BODY_MAX: usize = 4 * 1024 * 1024;

/// Serves until the process ends.
pub async fn serve(listener: TcpListener, replay: Arc<Replay>) -> Result<()> {
    let sessions = Arc::new(AtomicU64::new(0));
    loop {
        let (stream, _) = listener.accept().await?;
        let (replay, sessions) = (Arc::clone(&replay), Arc::clone(&sessions));
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let (replay, sessions) = (Arc::clone(&replay), Arc::clone(&sessions));
                async move { answer(&replay, &sessions, request).await }
            });
            // A client that breaks its own connection is no event here.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn answer(
    replay: &Arc<Replay>,
    sessions: &AtomicU64,
    request: Request<Incoming>,
) -> Result<Reply> {
    let session = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
    let session = session.unwrap_or_default().to_owned();
    match *request.method() {
        Method::POST => {}
        Method::GET if replay.has_sessions() => {
            let (sender, receiver) = mpsc::channel(32);
            replay.listens(&session, sender);
            return events(receiver);
        }
        Method::DELETE if replay.has_sessions() => {
            replay.ended(&session)?;
            return whole(StatusCode::OK, "");
        }
        _ => return whole(StatusCode::METHOD_NOT_ALLOWED, ""),
    }
    let body = Limited::new(request.into_body(), BODY_MAX).collect().await;
    let body = body.map_err(|error| anyhow::anyhow!(error))?.to_bytes();
    let message = Exact::parse(std::str::from_utf8(&body)?)?;
    let opens = replay.has_sessions() && message.method() == Some("initialize");
    match replay.take(message, &session)? {
        None => whole(StatusCode::ACCEPTED, ""),
        Some(Answer::Stream(messages)) => events(messages),
        Some(Answer::Whole(message)) => {
            let unknown = message.at(&["error", "code"]) == Some(&Exact::Token("-32601".into()));
            let status = if unknown && !replay.has_sessions() { 404 } else { 200 };
            let mut reply = whole(StatusCode::from_u16(status)?, message.to_string())?;
            if opens {
                let number = sessions.fetch_add(1, Ordering::SeqCst);
                reply.headers_mut().insert(SESSION, format!("replay-{number}").parse()?);
            }
            Ok(reply)
        }
    }
}

fn whole(status: StatusCode, body: impl Into<Bytes>) -> Result<Reply> {
    let body = Full::new(body.into()).boxed();
    let reply = Response::builder().status(status).header("content-type", "application/json");
    reply.body(body).context("an answer")
}

fn events(messages: mpsc::Receiver<String>) -> Result<Reply> {
    let frames = futures_util::stream::unfold(messages, |mut messages| async {
        let message = messages.recv().await?;
        let event = Bytes::from(format!("event: message\ndata: {message}\n\n"));
        Some((Ok::<_, Infallible>(Frame::data(event)), messages))
    });
    let reply = Response::builder().header("content-type", "text/event-stream");
    reply.body(BodyExt::boxed(StreamBody::new(frames))).context("an answer")
}
