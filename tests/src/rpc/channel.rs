//! A client of HTTP+SSE (2024-11-05): one stream for everything that comes, one address to post to.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::BytesMut;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::events::event_message;
use crate::{http as web, wait};

const BOUND: Duration = Duration::from_secs(20);

/// One open channel.
#[derive(Debug)]
pub struct Channel {
    address: SocketAddr,
    /// Where messages are posted to: path and query.
    pub messages: String,
    token: Option<String>,
    body: Incoming,
    buffer: BytesMut,
}

impl Channel {
    /// Opens the stream at `path` and waits for the address to post to.
    pub async fn open(address: SocketAddr, path: &str, token: Option<&str>) -> Result<Self> {
        let mut request = Request::get(path)
            .header("host", address.to_string())
            .header("accept", "text/event-stream");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let response = web::open(address, request.body(Full::default())?).await?;
        ensure!(response.status() == 200, "{}", response.status());
        let (token, messages) = (token.map(str::to_owned), String::new());
        let body = response.into_body();
        let mut channel = Self { address, messages, token, body, buffer: BytesMut::new() };
        let first = channel.event().await?.context("the stream ended")?;
        let named = first.strip_prefix("event: endpoint\ndata: ").context(first.clone())?;
        named.trim_end().clone_into(&mut channel.messages);
        Ok(channel)
    }

    /// Opens a session on it.
    pub async fn initialize(&mut self) -> Result<Value> {
        self.initialize_with(json!({})).await
    }

    /// Opens a session on it with these client capabilities.
    pub async fn initialize_with(&mut self, capabilities: Value) -> Result<Value> {
        let info = json!({"name": "plugway-tests", "version": "0"});
        let params = json!({"protocolVersion": "2024-11-05", "capabilities": capabilities, "clientInfo": info});
        let answer = self.call(0, "initialize", params).await?;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        ensure!(self.post(&ready.to_string()).await? == 202);
        Ok(answer)
    }

    /// Posts a message; the status.
    pub async fn post(&self, message: &str) -> Result<u16> {
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let headers: Vec<(&str, &str)> =
            bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
        Ok(web::post(self.address, &self.messages, &headers, message.to_owned()).await?.status)
    }

    /// Posts a request, which is taken with nothing in the answer, and waits for its response on the stream.
    pub async fn call(&mut self, id: u64, method: &str, params: Value) -> Result<Value> {
        self.ask(id, method, params).await?;
        loop {
            let message = self.next().await?.context("the stream ended")?;
            if message.get("id").is_some_and(|found| *found == id) {
                return Ok(message);
            }
        }
    }

    /// The next message of this method; what comes before it is skipped.
    pub async fn next_of(&mut self, method: &str) -> Result<Value> {
        loop {
            let message = self.next().await?.with_context(|| format!("the end before {method}"))?;
            if message.get("method").is_some_and(|found| *found == method) {
                return Ok(message);
            }
        }
    }

    /// Posts a notification.
    pub async fn notify(&self, method: &str, params: Value) -> Result<()> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        ensure!(self.post(&message.to_string()).await? == 202);
        Ok(())
    }

    /// Posts a request, whose response comes on the stream.
    pub async fn ask(&self, id: u64, method: &str, params: Value) -> Result<()> {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        ensure!(self.post(&message.to_string()).await? == 202);
        Ok(())
    }

    /// The next message of the stream; none at its end.
    pub async fn next(&mut self) -> Result<Option<Value>> {
        loop {
            let Some(event) = self.event().await? else { return Ok(None) };
            if let Some(message) = event_message(&event)? {
                return Ok(Some(message));
            }
        }
    }

    async fn event(&mut self) -> Result<Option<String>> {
        wait::within("the next event", BOUND, async {
            loop {
                if let Some(end) = self.buffer.windows(2).position(|window| window == b"\n\n") {
                    let event = self.buffer.split_to(end + 2);
                    return Ok(Some(String::from_utf8_lossy(&event).into_owned()));
                }
                let Some(frame) = self.body.frame().await else { return Ok(None) };
                self.buffer.extend(frame?.into_data().unwrap_or_default());
            }
        })
        .await?
    }
}
