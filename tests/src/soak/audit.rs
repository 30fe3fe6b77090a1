//! Calls at full load, each with its line in the audit: none is lost, none torn, none there twice.

use std::{
    collections::HashSet,
    net::SocketAddr,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use futures_util::future::try_join_all;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::Report;
use crate::{Plugway, Scripted, audit, plugway::Setup, process, wait};

/// Clients at once.
pub const CLIENTS: u64 = 64;
/// A call has to be answered in this time.
const BOUND: Duration = Duration::from_mins(1);

/// What passed.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Calls that were answered.
    pub calls: u64,
    /// Lines of all kinds.
    pub lines: u64,
    /// Files.
    pub files: usize,
    /// How long the calls took.
    pub took: Duration,
}

/// A hub before a server at this URL, whose audit is chained and put aside at this size.
pub fn setup(url: &str, size: &str) -> Setup {
    let audit = json!({
        "file": audit::FILE, "chain": true, "rotate": {"size": size, "keep": 1000},
        "digest_key": "env://KEY",
    });
    let configuration =
        json!({"name": "hub", "audit": audit, "upstreams": [{"name": "up", "url": url}]});
    Setup::new(configuration.to_string()).environment("KEY", "0123456789abcdef")
}

/// Sends so many calls in all, ends plugway, and counts.
pub async fn run(calls: u64, size: &str) -> Result<Measured> {
    let upstream = Scripted::start().await?;
    let plugway = setup(&upstream.url(), size).start().await?;
    let (address, began) = (plugway.address(), Instant::now());
    let each = calls / CLIENTS;
    let clients = (0..CLIENTS).map(|client| async move {
        let mut caller = Caller::connect(address).await?;
        for number in client * each..(client + 1) * each {
            ensure!(caller.call(number).await?, "a call was not answered");
        }
        Ok(())
    });
    try_join_all(clients).await?;
    let took = began.elapsed();
    let (folder, lines) = stopped(plugway).await?;
    let numbers = numbers(&lines)?;
    ensure!(numbers.len() as u64 == each * CLIENTS, "{} calls have a line", numbers.len());
    let verified = audit::verify(&folder.0, &["--key", "env://KEY", "--closed"]).await?;
    ensure!(verified.status.success(), "{}", verified.stderr);
    let files = audit::files(&folder.0)?.len();
    Ok(Measured { calls: each * CLIENTS, lines: lines.len() as u64, files, took })
}

/// The folder of a plugway that ended, removed with this value.
#[derive(Debug)]
pub struct Kept(pub PathBuf);

impl Drop for Kept {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Ends plugway in order, and gives its lines.
pub async fn stopped(plugway: Plugway) -> Result<(Kept, Vec<Value>)> {
    process::signal(plugway.pid()?, Signal::TERM)?;
    ended(plugway).await
}

/// Waits until plugway ended in order, and gives its lines.
pub async fn ended(plugway: Plugway) -> Result<(Kept, Vec<Value>)> {
    let kept = Kept(plugway.folder().with_extension("kept"));
    let ended = plugway.ended_keeping(&kept.0).await?;
    ensure!(ended.success(), "{ended}");
    let lines = audit::all(&kept.0)?;
    Ok((kept, lines))
}

/// The numbers of the calls that have a line, each once.
pub fn numbers(lines: &[Value]) -> Result<HashSet<u64>> {
    let (mut numbers, mut requests) = (HashSet::new(), HashSet::new());
    for line in lines.iter().filter(|line| line["kind"] == "call") {
        let trace = line["trace_id"].as_str().context("no trace")?;
        let number = u64::from_str_radix(trace, 16)?;
        ensure!(numbers.insert(number - 1), "call {number} has two lines");
        let request = line["request_id"].as_str().context("no request id")?;
        ensure!(requests.insert(request.to_owned()), "{request} has two lines");
        ensure!(line["outcome"] == "ok", "{line}");
    }
    Ok(numbers)
}

/// One connection of a client of the modern era.
#[derive(Debug)]
pub struct Caller {
    address: SocketAddr,
    sender: http1::SendRequest<Full<Bytes>>,
}

impl Caller {
    /// Connects.
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { address, sender })
    }

    /// Sends the call with this number; whether it was answered.
    pub async fn call(&mut self, number: u64) -> Result<bool> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({"name": "up_json", "arguments": {"n": number}, "_meta": meta});
        let body =
            json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params});
        let request = Request::post("/mcp")
            .header("host", self.address.to_string())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "up_json")
            .header("traceparent", format!("00-{:032x}-00000000000000ff-01", number + 1))
            .body(Full::from(body.to_string()))?;
        self.sender.ready().await?;
        let answer = wait::within("an answer", BOUND, self.sender.send_request(request)).await??;
        let ok = answer.status() == 200;
        let text = answer.into_body().collect().await?.to_bytes();
        Ok(ok && text.windows(10).any(|part| part == b"\"result\":{"))
    }
}

/// The report of a run.
pub fn report(measured: Measured) -> Report {
    let what = format!(
        "Calls of {CLIENTS} clients at full load through plugway with an audit that is chained; every call has exactly one line, no line is torn, and `plugway audit verify` passes."
    );
    let mut report = Report::new("Audit", &what);
    report.head(&["calls", "lines", "files", "s", "calls per s"]);
    let seconds = measured.took.as_secs().max(1);
    report.row(&[
        measured.calls.to_string(),
        measured.lines.to_string(),
        measured.files.to_string(),
        measured.took.as_secs().to_string(),
        (measured.calls / seconds).to_string(),
    ]);
    report
}
