//! A client that sends the same call over and over.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;

const ANSWER_LIMIT: usize = 1 << 20;

/// One connection with one legacy session.
pub(crate) struct Client {
    connection: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    session: String,
}

/// What one connection saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) latencies_us: Vec<u32>,
}

impl Client {
    /// Connects and initialises.
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (connection, driver) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(driver);
        let mut client = Self { connection, address, session: String::new() };
        client.initialize().await?;
        Ok(client)
    }

    /// Opens another session over the same connection.
    pub(crate) async fn initialize(&mut self) -> Result<()> {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        self.session.clear();
        let reply = self.send(body.to_string().into()).await?;
        ensure!(reply.status().is_success(), "initialize answered {}", reply.status());
        let session = reply.headers().get("mcp-session-id").context("no session")?;
        session.to_str()?.clone_into(&mut self.session);
        read(reply).await?;
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        read(self.send(done.to_string().into()).await?).await?;
        Ok(())
    }

    /// One call, checked to be answered.
    pub(crate) async fn call(&mut self, body: &Bytes) -> Result<()> {
        let reply = self.send(body.clone()).await?;
        ensure!(reply.status().is_success(), "a call was answered {}", reply.status());
        let answer = read(reply).await?;
        ensure!(
            memchr_text(&answer, b"xxxxxxxxxxxxxxxx"),
            "a call was answered {}",
            String::from_utf8_lossy(&answer)
        );
        Ok(())
    }

    /// Calls until the deadline.
    pub(crate) async fn run(&mut self, body: &Bytes, until: Instant) -> Result<Seen> {
        let mut seen = Seen::default();
        loop {
            let start = now();
            if start >= until {
                return Ok(seen);
            }
            self.call(body).await?;
            let took = now().duration_since(start);
            seen.latencies_us.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
        }
    }

    async fn send(&mut self, body: Bytes) -> Result<Response<Incoming>> {
        let mut request = Request::post("/mcp")
            .header("host", self.address.to_string())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25");
        if !self.session.is_empty() {
            request = request.header("mcp-session-id", &self.session);
        }
        self.connection.ready().await?;
        Ok(self.connection.send_request(request.body(Full::new(body))?).await?)
    }
}

/// The clock of the measurement.
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A call of 1 KiB.
pub(crate) fn body(tool: &str) -> Bytes {
    let text = "m".repeat(880);
    let params = json!({ "name": tool, "arguments": { "message": text } });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
        .to_string()
        .into()
}

/// Runs `clients` for `time`.
pub(crate) async fn run(
    clients: Vec<Client>,
    tool: &str,
    time: Duration,
) -> Result<(Vec<Client>, Vec<u32>)> {
    let body = body(tool);
    let until = now() + time;
    let tasks: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            let body = body.clone();
            tokio::spawn(async move { client.run(&body, until).await.map(|seen| (client, seen)) })
        })
        .collect();
    let mut back = Vec::new();
    let mut latencies = Vec::new();
    for task in tasks {
        let (client, seen) = task.await??;
        back.push(client);
        latencies.extend(seen.latencies_us);
    }
    Ok((back, latencies))
}

async fn read(reply: Response<Incoming>) -> Result<Bytes> {
    let body = Limited::new(reply.into_body(), ANSWER_LIMIT).collect().await;
    body.map(http_body_util::Collected::to_bytes).map_err(|error| anyhow::anyhow!("{error}"))
}

fn memchr_text(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
