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
use serde_json::{Value, json};
use tokio::net::TcpStream;

const ANSWER_LIMIT: usize = 1 << 20;

/// One connection with one legacy session.
pub(crate) struct Client {
    connection: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    session: String,
}

/// What is sent over and over, and a text that its answer holds.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    body: Bytes,
    proof: &'static [u8],
}

/// What one connection saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) latencies_us: Vec<u32>,
}

impl Client {
    /// Connects and initialises.
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let connection = dial(address).await?;
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
    pub(crate) async fn call(&mut self, call: &Call) -> Result<()> {
        let reply = self.send(call.body.clone()).await?;
        ensure!(reply.status().is_success(), "a call was answered {}", reply.status());
        let answer = read(reply).await?;
        ensure!(
            memchr_text(&answer, call.proof),
            "a call was answered {}",
            String::from_utf8_lossy(&answer)
        );
        Ok(())
    }

    /// Calls until the deadline.
    pub(crate) async fn run(&mut self, call: &Call, until: Instant) -> Result<Seen> {
        let mut seen = Seen::default();
        // Some servers close what was idle while others had their turn.
        if self.connection.is_closed() {
            self.connection = dial(self.address).await?;
        }
        loop {
            let start = now();
            if start >= until {
                return Ok(seen);
            }
            self.call(call).await?;
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

/// A call of 1 KiB, answered by [`crate::echo`].
pub(crate) fn echo(tool: &str) -> Call {
    call(tool, &json!({ "message": "m".repeat(880) }), b"xxxxxxxxxxxxxxxx")
}

/// A call whose answer holds `proof`.
pub(crate) fn call(tool: &str, arguments: &Value, proof: &'static [u8]) -> Call {
    let params = json!({ "name": tool, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    Call { body: body.to_string().into(), proof }
}

/// Runs `clients` for `time`.
pub(crate) async fn run(
    clients: Vec<Client>,
    call: &Call,
    time: Duration,
) -> Result<(Vec<Client>, Vec<u32>)> {
    let until = now() + time;
    let tasks: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            let call = call.clone();
            tokio::spawn(async move { client.run(&call, until).await.map(|seen| (client, seen)) })
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

async fn dial(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (connection, driver) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(driver);
    Ok(connection)
}

async fn read(reply: Response<Incoming>) -> Result<Bytes> {
    let body = Limited::new(reply.into_body(), ANSWER_LIMIT).collect().await;
    body.map(http_body_util::Collected::to_bytes).map_err(|error| anyhow::anyhow!("{error}"))
}

fn memchr_text(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}
