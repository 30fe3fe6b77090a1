//! A replay server that runs for a test, or will.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::{DemoHttp, binary, exact::Exact, scratch::Scratch, wait};

const BOUND: std::time::Duration = std::time::Duration::from_secs(20);
const RECORDING: &str = "recording.jsonl";
const RECORD: &str = "server.record";

/// A server that answers by a recording; it ends with this value.
#[derive(Debug)]
pub struct Replayed {
    scratch: Scratch,
    /// Where it is over HTTP.
    server: Option<DemoHttp>,
}

impl Replayed {
    /// Starts one over HTTP with the text of a recording.
    pub async fn over_http(recording: &str) -> Result<Self> {
        let mut replayed = Self::over_pipes(recording)?;
        let words = replayed.words();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let server = DemoHttp::start_program("replay-server", "127.0.0.1:0", &words).await?;
        replayed.server = Some(server);
        Ok(replayed)
    }

    /// One that plugway starts as a child.
    pub fn over_pipes(recording: &str) -> Result<Self> {
        let scratch = Scratch::new()?;
        scratch.write(RECORDING, recording)?;
        Ok(Self { scratch, server: None })
    }

    fn words(&self) -> Vec<String> {
        let path = |name: &str| self.scratch.path().join(name).display().to_string();
        vec![path(RECORDING), path(RECORD)]
    }

    /// It as an upstream, which may ask everything.
    pub fn upstream(&self, name: &str) -> Result<Value> {
        let asks = ["elicitation", "sampling", "roots"];
        if let Some(server) = &self.server {
            return Ok(json!({"name": name, "url": server.url(), "server_requests": asks}));
        }
        let mut words = self.words();
        words.push("--stdio".to_owned());
        let program = binary::find("replay-server")?;
        Ok(json!({"name": name, "command": program, "args": words, "server_requests": asks}))
    }

    /// What it was sent so far.
    pub fn seen(&self) -> Result<Vec<Exact>> {
        let text = fs::read_to_string(self.scratch.path().join(RECORD)).unwrap_or_default();
        text.lines().map(Exact::parse).collect()
    }

    /// The requests of a method that it was sent so far.
    pub fn asked(&self, method: &str) -> Result<Vec<Exact>> {
        let is_it = |message: &Exact| message.method() == Some(method);
        Ok(self.seen()?.into_iter().filter(is_it).collect())
    }

    /// Waits until it is told that this request, which it was sent, was given up.
    pub async fn until_given_up(&self, request: &Exact) -> Result<()> {
        let id = request.at(&["id"]).context("a request has an id")?;
        wait::until("the server is told", BOUND, async || {
            let cancelled = self.asked("notifications/cancelled")?;
            let is_it = |one: &Exact| one.at(&["params", "requestId"]) == Some(id);
            Ok(cancelled.iter().any(is_it).then_some(()))
        })
        .await
    }
}
