//! A JSON-RPC client of either era that hides nothing: statuses, headers and every message of an answer.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::http as web;

mod channel;
mod events;
mod reply;

pub use self::{
    channel::Channel,
    events::{Event, Events},
    reply::Reply,
};

/// The newest revision with sessions.
pub const LEGACY: &str = "2025-11-25";
/// The stateless revision.
pub const MODERN: &str = "2026-07-28";

const ACCEPT: &str = "application/json, text/event-stream";

/// One client of one endpoint.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    path: String,
    era: Era,
    next_id: AtomicU64,
    token: Option<String>,
    /// What it speaks where it opens a session.
    revision: &'static str,
    /// Headers of every request, besides those of the protocol.
    headers: Vec<(String, String)>,
}

#[derive(Debug)]
enum Era {
    Legacy { session: Option<String>, initialized: Value },
    Modern { capabilities: Value },
}

impl Client {
    /// Opens a legacy session: `initialize`, then `notifications/initialized`.
    pub async fn legacy(address: SocketAddr, path: &str) -> Result<Self> {
        Self::legacy_with(address, path, json!({})).await
    }

    /// Opens a legacy session as far as `initialize`: `notifications/initialized` is left to the test.
    pub async fn introduced(address: SocketAddr, path: &str) -> Result<Self> {
        Self::introduce(address, path, json!({}), (None, LEGACY)).await
    }

    /// Opens a legacy session with these client capabilities.
    pub async fn legacy_with(address: SocketAddr, path: &str, capabilities: Value) -> Result<Self> {
        Self::open_session(address, path, capabilities, (None, LEGACY)).await
    }

    /// Opens a session of this revision.
    pub async fn legacy_of(
        address: SocketAddr,
        path: &str,
        revision: &'static str,
    ) -> Result<Self> {
        Self::open_session(address, path, json!({}), (None, revision)).await
    }

    /// Opens a legacy session with a bearer token.
    pub async fn legacy_as(address: SocketAddr, path: &str, token: &str) -> Result<Self> {
        Self::open_session(address, path, json!({}), (Some(token.to_owned()), LEGACY)).await
    }

    /// Opens a legacy session with these client capabilities and a bearer token.
    pub async fn legacy_with_as(
        address: SocketAddr,
        path: &str,
        capabilities: Value,
        token: &str,
    ) -> Result<Self> {
        Self::open_session(address, path, capabilities, (Some(token.to_owned()), LEGACY)).await
    }

    async fn open_session(
        address: SocketAddr,
        path: &str,
        capabilities: Value,
        who: (Option<String>, &'static str),
    ) -> Result<Self> {
        let client = Self::introduce(address, path, capabilities, who).await?;
        client.notify("notifications/initialized", json!({})).await?;
        Ok(client)
    }

    async fn introduce(
        address: SocketAddr,
        path: &str,
        capabilities: Value,
        (token, revision): (Option<String>, &'static str),
    ) -> Result<Self> {
        let era = Era::Legacy { session: None, initialized: Value::Null };
        let mut client = Self { token, revision, ..Self::new(address, path, era) };
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": {"name": "plugway-tests", "version": "0"},
        });
        let reply = client.call("initialize", params).await?;
        let initialized = reply.result()?.clone();
        let session = reply.header("mcp-session-id").map(str::to_owned);
        client.era = Era::Legacy { session, initialized };
        Ok(client)
    }

    /// A modern client without capabilities.
    pub fn modern(address: SocketAddr, path: &str) -> Self {
        Self::modern_with(address, path, json!({}))
    }

    /// A modern client with these capabilities in every request.
    pub fn modern_with(address: SocketAddr, path: &str, capabilities: Value) -> Self {
        Self::new(address, path, Era::Modern { capabilities })
    }

    /// A modern client with a bearer token.
    pub fn modern_as(address: SocketAddr, path: &str, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..Self::modern(address, path) }
    }

    /// Sends another bearer token from here on, or none.
    #[must_use]
    pub fn with_token(mut self, token: Option<&str>) -> Self {
        self.token = token.map(str::to_owned);
        self
    }

    /// Asks at another path from here on, or with another query.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// Sends these headers with every request from here on, and no others.
    #[must_use]
    pub fn with_headers(mut self, headers: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.headers = headers.iter().map(owned).collect();
        self
    }

    fn new(address: SocketAddr, path: &str, era: Era) -> Self {
        let (path, headers) = (path.to_owned(), Vec::new());
        let next_id = AtomicU64::new(1);
        Self { address, path, era, next_id, token: None, revision: LEGACY, headers }
    }

    /// The id of the legacy session.
    pub fn session(&self) -> Option<&str> {
        match &self.era {
            Era::Legacy { session, .. } => session.as_deref(),
            Era::Modern { .. } => None,
        }
    }

    /// What `initialize` answered.
    pub fn initialized(&self) -> Option<&Value> {
        match &self.era {
            Era::Legacy { initialized, .. } => Some(initialized),
            Era::Modern { .. } => None,
        }
    }

    /// Sends a request and reads its whole answer, be it JSON or an event stream.
    pub async fn call(&self, method: &str, params: Value) -> Result<Reply> {
        let (id, request) = self.request(method, params)?;
        Ok(Reply::new(id, web::send(self.address, request).await?))
    }

    /// `tools/call`; the answer's result.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value> {
        let params = json!({"name": name, "arguments": arguments});
        Ok(self.call("tools/call", params).await?.result()?.clone())
    }

    /// `tools/call`; the text of the first content block.
    pub async fn call_text(&self, name: &str, arguments: Value) -> Result<String> {
        let result = self.call_tool(name, arguments).await?;
        let text = result.pointer("/content/0/text").and_then(Value::as_str);
        text.map(str::to_owned).with_context(|| format!("no text in {result}"))
    }

    /// The names of all tools, over all pages, in their order.
    pub async fn tool_names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let mut params = json!({});
        loop {
            let reply = self.call("tools/list", params).await?;
            let result = reply.result()?;
            let tools = result.get("tools").and_then(Value::as_array).context("no `tools`")?;
            let named = tools.iter().filter_map(|tool| tool.get("name")?.as_str());
            names.extend(named.map(str::to_owned));
            let Some(cursor) = result.get("nextCursor") else { return Ok(names) };
            params = json!({"cursor": cursor});
        }
    }

    /// Sends a notification; the status.
    pub async fn notify(&self, method: &str, params: Value) -> Result<u16> {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let request = self.post(method, None, message.to_string())?;
        Ok(web::send(self.address, request).await?.status)
    }

    /// Answers a request of the server; the status.
    pub async fn answer(&self, request: &Value, result: Value) -> Result<u16> {
        let id = request.get("id").context("a request has an id")?;
        let response = json!({"jsonrpc": "2.0", "id": id, "result": result});
        let request = self.post("", None, response.to_string())?;
        Ok(web::send(self.address, request).await?.status)
    }

    /// Refuses a request of the server with this error; the status.
    pub async fn refuse(&self, request: &Value, error: Value) -> Result<u16> {
        let id = request.get("id").context("a request has an id")?;
        let response = json!({"jsonrpc": "2.0", "id": id, "error": error});
        let request = self.post("", None, response.to_string())?;
        Ok(web::send(self.address, request).await?.status)
    }

    /// Sends a request and returns its stream of events as they come.
    pub async fn open(&self, method: &str, params: Value) -> Result<Events> {
        Ok(self.open_as(method, params).await?.1)
    }

    /// The same with the id of the request.
    pub async fn open_as(&self, method: &str, params: Value) -> Result<(u64, Events)> {
        let (id, request) = self.request(method, params)?;
        Ok((id, Events::new(web::open(self.address, request).await?)?))
    }

    /// Sends a request: the first message of its answer, and the rest of the stream where it is one.
    pub async fn begin(&self, method: &str, params: Value) -> Result<(Value, Option<Events>)> {
        let (_, request) = self.request(method, params)?;
        Events::begun(web::open(self.address, request).await?).await
    }

    /// The stream on which a legacy server speaks by itself (GET).
    pub async fn listen(&self) -> Result<Events> {
        Events::new(web::open(self.address, self.get(None)?).await?)
    }

    /// The rest of a stream that broke off after the event of this id.
    pub async fn resume(&self, last: &str) -> Result<Events> {
        Events::new(web::open(self.address, self.get(Some(last))?).await?)
    }

    /// The request for a stream, in its HTTP form.
    pub fn get(&self, last: Option<&str>) -> Result<Request<Full<Bytes>>> {
        let mut request = self.head(Method::GET).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        Ok(request.body(Full::default())?)
    }

    /// Ends the legacy session (DELETE); the status.
    pub async fn delete(&self) -> Result<u16> {
        let request = self.head(Method::DELETE).body(Full::default())?;
        Ok(web::send(self.address, request).await?.status)
    }

    /// A request's id and its HTTP form, for tests that change it before they send it.
    pub fn request(&self, method: &str, mut params: Value) -> Result<(u64, Request<Full<Bytes>>)> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        if let Era::Modern { capabilities } = &self.era {
            let params = params.as_object_mut().context("params are no object")?;
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            let meta = meta.as_object_mut().context("`_meta` is no object")?;
            let key = |name: &str| format!("io.modelcontextprotocol/{name}");
            meta.entry(key("protocolVersion")).or_insert_with(|| json!(MODERN));
            meta.entry(key("clientCapabilities")).or_insert_with(|| capabilities.clone());
            let info = json!({"name": "plugway-tests", "version": "0"});
            meta.entry(key("clientInfo")).or_insert(info);
        }
        let name = ["name", "uri", "taskId"].into_iter().find_map(|key| params.get(key)?.as_str());
        let name = name.map(str::to_owned);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        Ok((id, self.post(method, name.as_deref(), message.to_string())?))
    }

    fn post(&self, method: &str, name: Option<&str>, body: String) -> Result<Request<Full<Bytes>>> {
        let mut request = self
            .head(Method::POST)
            .header("content-type", "application/json")
            .header("accept", ACCEPT);
        if matches!(self.era, Era::Modern { .. }) {
            request = request.header("mcp-method", method);
            if let Some(name) = name
                && (["tools/call", "prompts/get", "resources/read"].contains(&method)
                    || method.starts_with("tasks/"))
            {
                request = request.header("mcp-name", name);
            }
        }
        Ok(request.body(Full::from(body))?)
    }

    fn head(&self, method: Method) -> http::request::Builder {
        let mut request = Request::builder()
            .method(method)
            .uri(&self.path)
            .header("host", self.address.to_string());
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        match &self.era {
            Era::Modern { .. } => request = request.header("mcp-protocol-version", MODERN),
            Era::Legacy { session: Some(session), .. } => {
                request = request
                    .header("mcp-protocol-version", self.revision)
                    .header("mcp-session-id", session);
            }
            Era::Legacy { session: None, .. } => {}
        }
        request
    }
}
