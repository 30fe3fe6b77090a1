//! The demo servers as upstreams.

use std::{net::SocketAddr, path::PathBuf, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::{binary, http, wait};

const STARTED_WITHIN: Duration = Duration::from_secs(10);

/// A running `demo-clock`, or another server that starts as it does; it ends with this value.
#[derive(Debug)]
pub struct DemoHttp {
    url: String,
    address: SocketAddr,
    child: Child,
}

impl DemoHttp {
    /// Starts one with these flags on a free port.
    pub async fn start(flags: &[&str]) -> Result<Self> {
        Self::start_at("127.0.0.1:0", flags).await
    }

    /// Starts one where an earlier one may have been.
    pub async fn start_at(listen: &str, flags: &[&str]) -> Result<Self> {
        Self::start_program("demo-clock", listen, flags).await
    }

    /// Starts a `demo-board` that speaks this era: `legacy`, `modern` or `both`.
    pub async fn board(listen: &str, era: &str) -> Result<Self> {
        Self::start_program("demo-board", listen, &["--era", era]).await
    }

    /// Starts the server of the conformance suite instead, with these flags.
    pub async fn start_fixture(flags: &[&str]) -> Result<Self> {
        Self::start_program("conformance-server", "127.0.0.1:0", flags).await
    }

    /// Starts another server that prints its URL.
    pub async fn start_program(program: &str, listen: &str, flags: &[&str]) -> Result<Self> {
        let mut child = Command::new(binary::find(program)?)
            .args(["--listen", listen])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("the server has no stdout")?;
        let mut url = String::new();
        let mut reader = BufReader::new(stdout);
        wait::within("the server prints its URL", STARTED_WITHIN, reader.read_line(&mut url))
            .await??;
        let url = url.trim().to_owned();
        let authority = url.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = authority.with_context(|| format!("{program} printed `{url}`"))?.parse()?;
        Ok(Self { url, address, child })
    }

    /// Its endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked so far: `connections`, `requests`, `initialize`, `tools/list`, `tools/call`.
    pub async fn stats(&self) -> Result<Value> {
        let answer = http::get(self.address, "/stats").await?;
        ensure!(answer.status == 200, "the server answered {}", answer.status);
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// One of these counters.
    pub async fn count(&self, name: &str) -> Result<u64> {
        let stats = self.stats().await?;
        stats.get(name).and_then(Value::as_u64).with_context(|| format!("no counter `{name}`"))
    }

    /// Ends it at once, as a crash would.
    pub async fn kill(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }
}

/// A notice board over stdio as an upstream, with its note `a` changing all the time where `busy`: each child is a board of
/// its own.
pub fn board_upstream(name: &str, era: &str, busy: bool) -> Result<Value> {
    let command = binary::find("demo-board")?;
    let busy = if busy { &["--every-ms", "20"][..] } else { &[] };
    let args = [&["--stdio", "--era", era], busy].concat();
    Ok(serde_json::json!({"name": name, "command": command, "args": args}))
}

/// The stdio demo server, for `command:`.
pub fn demo_notes_path() -> Result<PathBuf> {
    binary::find("demo-notes")
}

/// The server of the conformance suite, for `command:` with `--stdio`.
pub fn fixture_path() -> Result<PathBuf> {
    binary::find("conformance-server")
}
