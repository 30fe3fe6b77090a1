//! A stream of events, as it comes.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::BytesMut;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::Value;

use crate::wait;

const BEGUN_WITHIN: Duration = Duration::from_secs(20);

/// One event, as it came.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Its id.
    pub id: Option<String>,
    /// The wait before a reconnect that it names.
    pub retry: Option<u64>,
    /// The message in its data.
    pub message: Option<Value>,
}

/// An event stream, read message by message.
#[derive(Debug)]
pub struct Events {
    body: Incoming,
    buffer: BytesMut,
}

impl Events {
    pub(super) fn new(response: http::Response<Incoming>) -> Result<Self> {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        ensure!(is_stream, "{} with {kind:?} instead of an event stream", response.status());
        Ok(Self { body: response.into_body(), buffer: BytesMut::new() })
    }

    /// The first message of an answer, and the rest where it is a stream.
    pub(super) async fn begun(response: http::Response<Incoming>) -> Result<(Value, Option<Self>)> {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("application/json")) {
            let whole =
                wait::within("the whole answer", BEGUN_WITHIN, response.into_body().collect());
            return Ok((serde_json::from_slice(&whole.await??.to_bytes())?, None));
        }
        let mut events = Self::new(response)?;
        let first = events.next(BEGUN_WITHIN).await?.context("the stream ended")?;
        Ok((first, Some(events)))
    }

    /// The next message; nothing at the stream's end. Comments and empty events are skipped.
    pub async fn next(&mut self, bound: Duration) -> Result<Option<Value>> {
        while let Some(event) = self.next_event(bound).await? {
            if event.message.is_some() {
                return Ok(event.message);
            }
        }
        Ok(None)
    }

    /// The next event; nothing at the stream's end. Comments are skipped.
    pub async fn next_event(&mut self, bound: Duration) -> Result<Option<Event>> {
        wait::within("the next event", bound, async {
            loop {
                if let Some(event) = self.take_buffered()? {
                    return Ok(Some(event));
                }
                let Some(frame) = self.body.frame().await else { return Ok(None) };
                self.buffer.extend(frame?.into_data().unwrap_or_default());
            }
        })
        .await?
    }

    fn take_buffered(&mut self) -> Result<Option<Event>> {
        while let Some(end) = self.buffer.windows(2).position(|window| window == b"\n\n") {
            let text = self.buffer.split_to(end + 2);
            let text = String::from_utf8_lossy(&text);
            let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
            let event = Event {
                id: field("id: ").map(str::to_owned),
                retry: field("retry: ").and_then(|wait| wait.parse().ok()),
                message: event_message(&text)?,
            };
            if event != Event::default() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

/// The message in an event's data, if it has any.
pub(super) fn event_message(event: &str) -> Result<Option<Value>> {
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let data: Vec<&str> = lines.map(|data| data.strip_prefix(' ').unwrap_or(data)).collect();
    let data = data.join("\n");
    if data.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&data)
        .map(Some)
        .with_context(|| format!("an event that is no JSON: {data}"))
}
