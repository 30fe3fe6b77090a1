//! The player's end of HTTP, in both eras.

use std::net::SocketAddr;

use anyhow::{Result, ensure};
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use plugway_tests::{exact::Exact, http as web, rpc::MODERN, tokens::ANN};
use tokio::sync::mpsc;

const SESSION: &str = "mcp-session-id";

/// The client's end.
pub(crate) struct Http {
    address: SocketAddr,
    session: Option<String>,
    /// What the session speaks.
    revision: String,
    inbox: mpsc::Sender<Result<Exact>>,
}

impl Http {
    /// Of a server at this address.
    pub(crate) fn new(address: SocketAddr, inbox: mpsc::Sender<Result<Exact>>) -> Self {
        Self { address, session: None, revision: String::new(), inbox }
    }

    fn head(&self, request: http::request::Builder) -> http::request::Builder {
        let mut request = request
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {ANN}"));
        if let Some(session) = &self.session {
            request =
                request.header("mcp-protocol-version", &self.revision).header(SESSION, session);
        }
        request
    }

    /// Sends a message. What comes of it goes to the inbox, and so does what the session is told from its opening on.
    pub(crate) async fn post(&mut self, message: &Exact) -> Result<()> {
        let mut request = self
            .head(Request::post("/mcp"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        let meta = ["params", "_meta", "io.modelcontextprotocol/protocolVersion"];
        if message.at(&meta).is_some() {
            let method = message.method().unwrap_or_default();
            request = request.header("mcp-protocol-version", MODERN).header("mcp-method", method);
            let key = match method {
                "tools/call" | "prompts/get" => Some("name"),
                "resources/read" => Some("uri"),
                method if method.starts_with("tasks/") => Some("taskId"),
                _ => None,
            };
            if let Some(name) = key.and_then(|key| message.str_at(&["params", key])) {
                request = request.header("mcp-name", name);
            }
        }
        let request = request.body(Full::from(message.to_string()))?;
        let response = web::open(self.address, request).await?;
        let opened = response.headers().get(SESSION).and_then(|id| id.to_str().ok());
        let opened = opened.map(str::to_owned);
        let revision = message.str_at(&["params", "protocolVersion"]).unwrap_or_default();
        self.read(response);
        if let Some(session) = opened.filter(|_| self.session.is_none()) {
            self.session = Some(session);
            revision.clone_into(&mut self.revision);
            let request = self.head(Request::get("/mcp")).header("accept", "text/event-stream");
            let stream = web::open(self.address, request.body(Full::default())?).await?;
            ensure!(stream.status() == 200, "no stream: {}", stream.status());
            self.read(stream);
        }
        Ok(())
    }

    /// Reads an answer to its end, message by message.
    fn read(&self, response: http::Response<Incoming>) {
        let inbox = self.inbox.clone();
        tokio::spawn(async move {
            let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
            let events = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
            let (mut body, mut text) = (response.into_body(), Vec::new());
            while let Some(Ok(frame)) = body.frame().await {
                text.extend(frame.into_data().unwrap_or_default());
                while let Some(end) =
                    text.windows(2).position(|pair| pair == b"\n\n").filter(|_| events)
                {
                    let event: Vec<u8> = text.drain(..end + 2).collect();
                    if let Some(data) = data(&event)
                        && inbox.send(Exact::parse(&data)).await.is_err()
                    {
                        return;
                    }
                }
            }
            let text = String::from_utf8_lossy(&text);
            if !events && !text.is_empty() {
                // Nobody reads any more once the test is over.
                drop(inbox.send(Exact::parse(&text)).await);
            }
        });
    }
}

fn data(event: &[u8]) -> Option<String> {
    let event = String::from_utf8_lossy(event);
    let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
    let lines: Vec<&str> = lines.map(|data| data.strip_prefix(' ').unwrap_or(data)).collect();
    let data = lines.join("\n");
    (!data.is_empty()).then_some(data)
}
