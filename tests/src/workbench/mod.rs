//! agora-workbench 0.4.2 from `PyPI`: its servers that run code and its router, and real clients before them.
//!
//! Kernels start slowly, so that a test does much with the servers that it started.

mod client;
mod program;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use anyhow::{Result, ensure};
use serde_json::Value;
use tokio::process::Command;

use self::program::Program;
use crate::{binary, peers::script, scratch::Scratch, wait};

pub use self::client::{Driven, Speaks, text_of};

/// The name of a server, in its tools and for its handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// `parse_molecule` and `compute_descriptors`.
    Chem,
    /// `load_points` and `map_points`.
    Gis,
}

/// What a server does with code that takes long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It answers when the code ended.
    Sync,
    /// After a second it answers with the id of a job.
    Adaptive,
    /// After ten seconds it does.
    Patient,
    /// It answers with the id of a job at once.
    AsyncOnly,
}

/// Whom a server lets in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Everybody, as one and the same user.
    Open,
    /// `Bearer good-NAME` as the user NAME, and nobody else.
    Strict,
}

impl Domain {
    /// The server's own name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chem => "chem",
            Self::Gis => "gis",
        }
    }
}

/// The environment that `cargo xtask peers` installed.
#[derive(Debug, Clone)]
pub struct Workbench {
    python: PathBuf,
}

impl Workbench {
    /// Fails with the command to run when it is not installed.
    pub fn find() -> Result<Self> {
        let home = binary::repository().join(".cache/peers/workbench");
        ensure!(
            home.join("installed").exists(),
            "agora-workbench is not installed; install it first: cargo xtask peers"
        );
        Ok(Self { python: home.join("python/bin/python") })
    }

    /// A server that runs code, once it answers.
    pub async fn server(&self, domain: Domain, mode: Mode, door: Door) -> Result<CodeServer> {
        self.server_among(&Value::Null, domain, mode, door).await
    }

    /// The same, which may send what it has to these servers: base URLs by names.
    pub async fn server_among(
        &self,
        peers: &Value,
        domain: Domain,
        mode: Mode,
        door: Door,
    ) -> Result<CodeServer> {
        let mode = match mode {
            Mode::Sync => "sync",
            Mode::Adaptive => "adaptive",
            Mode::Patient => "patient",
            Mode::AsyncOnly => "async_only",
        };
        let door = if door == Door::Open { "open" } else { "strict" };
        let words = |port: u16| {
            let script = script("workbench/server.py").display().to_string();
            [script, domain.name().to_owned(), port.to_string(), mode.to_owned(), door.to_owned()]
        };
        let peers = (!peers.is_null()).then(|| ("AGORA_PEER_REGISTRY", peers.to_string()));
        let (home, port) = (Scratch::new()?, crate::peers::free_port()?);
        let mut command = self.command(&words(port), home.path());
        command.envs(peers.clone());
        let program = Program::start(command, port).await?;
        Ok(CodeServer { words: words(port), peers, program, home, workbench: self.clone() })
    }

    /// `chem`, whose calls last as long as the code, and `gis`, whose long code becomes jobs. Both are open.
    pub async fn pair(&self) -> Result<(CodeServer, CodeServer)> {
        let chem = self.server(Domain::Chem, Mode::Sync, Door::Open);
        let gis = self.server(Domain::Gis, Mode::Adaptive, Door::Open);
        futures_util::future::try_join(chem, gis).await
    }

    /// The reference's own router with this `RouterConfig`.
    pub async fn router(&self, config: &Value) -> Result<Router> {
        let (home, port) = (Scratch::new()?, crate::peers::free_port()?);
        let command = self.command(&router(port, config), home.path());
        Ok(Router { program: Program::start(command, port).await?, _home: home })
    }

    /// The same with one that it does not take: how it ended, and what it wrote.
    pub async fn router_to_its_end(&self, config: &Value) -> Result<Output> {
        let (home, port) = (Scratch::new()?, crate::peers::free_port()?);
        let mut command = self.command(&router(port, config), home.path());
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
        Ok(wait::within("the router ends", program::STARTED_WITHIN, output).await??)
    }

    /// What `model_dump_json()` makes of a `RouterConfig`.
    pub async fn printed(&self, config: &Value) -> Result<String> {
        self.print("print", config).await
    }

    /// What `model_dump_json()` makes of a `GatewayConfig`.
    pub async fn printed_gateway(&self, config: &Value) -> Result<String> {
        self.print("gateway", config).await
    }

    async fn print(&self, form: &str, config: &Value) -> Result<String> {
        let script = script("workbench/router.py");
        let mut command = Command::new(&self.python);
        command.arg(script).args([form, &config.to_string()]).stdin(Stdio::null());
        let output = command.kill_on_drop(true).output();
        let output = wait::within("the form is printed", program::STARTED_WITHIN, output);
        let output = output.await??;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// A real client, connected.
    pub async fn client(&self, speaks: Speaks, url: &str, token: Option<&str>) -> Result<Driven> {
        Driven::start(&self.python, speaks, url, token).await
    }

    /// A program of theirs whose scratch folder this is.
    fn command(&self, words: &[String], home: &Path) -> Command {
        let mut command = Command::new(&self.python);
        command.args(words).env_clear().env("HOME", home).current_dir(home);
        for name in ["PATH", "TMPDIR"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command
    }
}

/// The words that start a router.
fn router(port: u16, config: &Value) -> [String; 3] {
    let script = script("workbench/router.py").display().to_string();
    [script, port.to_string(), config.to_string()]
}

/// A running `CodeExecutionServer`; it ends with this value, and its kernels too.
#[derive(Debug)]
pub struct CodeServer {
    words: [String; 5],
    peers: Option<(&'static str, String)>,
    // Ends before its folder is removed.
    program: Program,
    home: Scratch,
    workbench: Workbench,
}

impl CodeServer {
    /// `http://address`, as its users write it.
    pub fn base(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Its endpoint.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address())
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.program.port()).into()
    }

    /// Ends it at once, with its kernels.
    pub async fn stop(&mut self) -> Result<()> {
        self.program.stop().await
    }

    /// Starts it again at its address.
    pub async fn start_again(&mut self) -> Result<()> {
        let port = self.program.port();
        let mut command = self.workbench.command(&self.words, self.home.path());
        command.envs(self.peers.clone());
        self.program = Program::start(command, port).await?;
        Ok(())
    }
}

/// A running `RouterServer`; it ends with this value.
#[derive(Debug)]
pub struct Router {
    program: Program,
    _home: Scratch,
}

impl Router {
    /// Its endpoint.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.program.port())
    }
}
