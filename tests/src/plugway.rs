//! The real binary, started for one test.

use std::{
    fs::{self, Permissions},
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::ExitStatus,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use rustix::process::Signal;
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::{http, log::Log, process, rpc, run::output, scratch::Scratch, wait};

pub use crate::run::{Output, command, run, run_in};

const STARTED_WITHIN: Duration = Duration::from_secs(30);
const STOPPED_WITHIN: Duration = Duration::from_secs(15);
const CONFIGURATION: &str = "plugway.yaml";

/// How to start it; [`Plugway::start`] is the short way.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    configuration: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    files: Vec<(String, Vec<u8>, u32)>,
    folder_mode: Option<u32>,
    starts_unready: bool,
    absent: Vec<String>,
    chooses_address: bool,
    desktop: Option<String>,
}

impl Setup {
    /// A start with this configuration file.
    pub fn new(configuration: impl Into<String>) -> Self {
        Self { configuration: configuration.into(), ..Self::default() }
    }

    /// One more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// One more environment variable.
    #[must_use]
    pub fn environment(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// One more file beside the configuration, which may name it without a folder.
    #[must_use]
    pub fn file(self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.file_with_mode(name, content, 0o644)
    }

    /// One more file beside the configuration, which these may read and write.
    #[must_use]
    pub fn file_with_mode(mut self, name: &str, content: impl Into<Vec<u8>>, mode: u32) -> Self {
        self.files.push((name.to_owned(), content.into(), mode));
        self
    }

    /// Who may read and write the folder of the configuration.
    #[must_use]
    pub fn folder_mode(mut self, mode: u32) -> Self {
        self.folder_mode = Some(mode);
        self
    }

    /// Listens where configuration and environment say, instead of on a free port of 127.0.0.1.
    #[must_use]
    pub fn chooses_address(mut self) -> Self {
        self.chooses_address = true;
        self
    }

    /// Its configuration is a file of a desktop client, which has this name.
    #[must_use]
    pub fn desktop(mut self, name: &str) -> Self {
        self.desktop = Some(name.to_owned());
        self
    }

    /// Does not wait for this upstream.
    #[must_use]
    pub fn absent(mut self, upstream: &str) -> Self {
        self.absent.push(upstream.to_owned());
        self
    }

    /// Does not wait for `/ready` nor for any upstream, only for the listener.
    #[must_use]
    pub fn unready(mut self) -> Self {
        self.starts_unready = true;
        self
    }

    /// Runs `plugway check` on it, to its end.
    pub async fn check(&self) -> Result<Output> {
        let (scratch, configuration) = self.lay_out()?;
        let configuration = configuration.to_string_lossy();
        let words = [&["check"], self.flags(), &[&*configuration]].concat();
        self.end(&scratch, &words).await
    }

    /// Runs another subcommand on it, to its end: these words, then its configuration.
    pub async fn run(&self, words: &[&str]) -> Result<Output> {
        let (scratch, configuration) = self.lay_out()?;
        let configuration = configuration.to_string_lossy();
        self.end(&scratch, &[words, &[&*configuration]].concat()).await
    }

    /// Runs `plugway serve` on it, which must end by itself because something is wrong with it.
    pub async fn serve_to_its_end(&self) -> Result<Output> {
        let (scratch, configuration) = self.lay_out()?;
        let configuration = configuration.to_string_lossy();
        self.end(&scratch, &["serve", &configuration, "--listen", "127.0.0.1:0"]).await
    }

    async fn end(&self, scratch: &Scratch, words: &[&str]) -> Result<Output> {
        let mut command = command()?;
        command.args(words).args(&self.arguments).current_dir(scratch.path());
        command.envs(self.environment.clone());
        output(command).await
    }

    /// What stands before the name of its configuration.
    fn flags(&self) -> &'static [&'static str] {
        if self.desktop.is_some() { &["--mcp-servers"] } else { &[] }
    }

    /// Puts its configuration, and its files as far as they are new, in the place of those of a plugway that runs.
    pub fn put(&self, plugway: &Plugway) -> Result<()> {
        for (name, content, _) in &self.files {
            if fs::read(plugway.folder().join(name)).ok().as_ref() != Some(content) {
                plugway.write(name, content)?;
            }
        }
        plugway.reconfigure(&self.configuration)
    }

    /// Its files, in a folder of their own.
    fn lay_out(&self) -> Result<(Scratch, PathBuf)> {
        let scratch = Scratch::new()?;
        for (name, content, mode) in &self.files {
            scratch.write(name, content)?;
            fs::set_permissions(scratch.path().join(name), Permissions::from_mode(*mode))?;
        }
        if let Some(mode) = self.folder_mode {
            fs::set_permissions(scratch.path(), Permissions::from_mode(mode))?;
        }
        let configuration =
            scratch.write(self.desktop.as_deref().unwrap_or(CONFIGURATION), &self.configuration)?;
        Ok((scratch, configuration))
    }

    /// The command by which a client starts `plugway stdio` on it, with these words besides, and its files.
    pub fn stdio(self, words: &[&str]) -> Result<(Scratch, Command)> {
        let (scratch, configuration) = self.lay_out()?;
        let mut command = command()?;
        command.arg("stdio").args(["--log-format", "json"]).args(words);
        if !words.contains(&"--mcp-servers") {
            command.arg(configuration);
        }
        command.args(self.arguments).envs(self.environment).current_dir(scratch.path());
        Ok((scratch, command))
    }

    /// Starts it and waits.
    pub async fn start(self) -> Result<Plugway> {
        let (scratch, configuration) = self.lay_out()?;
        let mut command = command()?;
        command
            .arg("serve")
            .args(self.flags())
            .arg(&configuration)
            .args(["--log-format", "json"])
            .args(if self.chooses_address { &[][..] } else { &["--listen", "127.0.0.1:0"] })
            .args(&self.arguments)
            .envs(self.environment)
            .current_dir(scratch.path());
        let mut plugway = Plugway::of(command, scratch).await?;
        if !self.starts_unready {
            plugway.wait_until_ready().await?;
            plugway.wait_until_all_connected(&self.absent).await?;
        }
        Ok(plugway)
    }
}

/// A running plugway; it is killed with this value.
#[derive(Debug)]
pub struct Plugway {
    address: SocketAddr,
    child: Child,
    log: Log,
    scratch: Scratch,
}

impl Plugway {
    /// Starts it with this configuration on a free port and waits until it and all of its upstreams are ready.
    pub async fn start(configuration: impl Into<String>) -> Result<Self> {
        Setup::new(configuration).start().await
    }

    /// What this command starts, once it listens; it must log in JSON. The folder is the one of its configuration.
    pub async fn of(mut command: Command, scratch: Scratch) -> Result<Self> {
        let mut child = command.spawn()?;
        let log = Log::default();
        let stderr = child.stderr.take().context("plugway has no stderr")?;
        tokio::spawn(log.clone().follow(stderr));
        let mut plugway = Self { address: ([127, 0, 0, 1], 0).into(), child, log, scratch };
        plugway.address = plugway.wait_until_listening().await?;
        Ok(plugway)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where a client on this machine reaches it.
    fn reached(&self) -> SocketAddr {
        if self.address.ip().is_unspecified() {
            return ([127, 0, 0, 1], self.address.port()).into();
        }
        self.address
    }

    /// `http://address` without a path.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The endpoint of a lone connector.
    pub fn mcp_url(&self) -> String {
        format!("{}/mcp", self.base_url())
    }

    /// Its process.
    pub fn pid(&self) -> Result<u32> {
        self.child.id().context("plugway has ended")
    }

    /// The folder of its configuration.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// Replaces a file in this folder atomically.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        self.scratch.write(name, content)
    }

    /// Replaces its configuration file.
    pub fn reconfigure(&self, configuration: &str) -> Result<()> {
        self.write(CONFIGURATION, configuration).map(drop)
    }

    /// A legacy session on the lone connector: `initialize`, then `notifications/initialized`.
    pub async fn legacy(&self) -> Result<rpc::Client> {
        rpc::Client::legacy(self.address, "/mcp").await
    }

    /// A modern client of the lone connector.
    pub fn modern(&self) -> rpc::Client {
        rpc::Client::modern(self.address, "/mcp")
    }

    /// `GET path`.
    pub async fn get(&self, path: &str) -> Result<http::Answer> {
        http::get(self.reached(), path).await
    }

    /// Every line of its stderr so far.
    pub fn stderr(&self) -> Vec<String> {
        self.log.lines().clone()
    }

    /// Waits for a line of its stderr that contains this text.
    pub async fn logged(&self, text: &str, bound: Duration) -> Result<String> {
        wait::until(&format!("`{text}` in the log"), bound, async || Ok(self.log.find(text)))
            .await
            .with_context(|| self.log.tail())
    }

    /// Waits until `/ready` answers 200.
    pub async fn wait_until_ready(&mut self) -> Result<()> {
        let address = self.reached();
        let mut last = String::from("no answer");
        let deadline = std::time::Instant::now() + STARTED_WITHIN;
        while std::time::Instant::now() < deadline {
            self.ensure_running()?;
            match http::get(address, "/ready").await {
                Ok(answer) if answer.status == 200 => return Ok(()),
                Ok(answer) => last = format!("{} {}", answer.status, answer.text()),
                Err(error) => last = format!("{error:#}"),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        bail!("plugway was not ready within {STARTED_WITHIN:?}: {last}\n{}", self.log.tail())
    }

    /// Waits until these upstreams are connected, where `/ready` is content with one.
    pub async fn wait_until_connected(&self, upstreams: &[&str]) -> Result<()> {
        wait::until("the upstreams are connected", STARTED_WITHIN, async || {
            let health = self.get("/health").await?.json()?;
            let phases = health.get("upstreams").context("no `upstreams`")?;
            let is_there = |name: &&str| phases.get(name).is_some_and(|phase| phase == "connected");
            // Ready only while the catalogue holds what everybody who is connected offers.
            let is_ready =
                upstreams.iter().all(is_there) && self.get("/ready").await?.status == 200;
            Ok(is_ready.then_some(()))
        })
        .await
    }

    /// Waits until every upstream is connected, but for these.
    async fn wait_until_all_connected(&self, absent: &[String]) -> Result<()> {
        wait::until("every upstream is connected", STARTED_WITHIN, async || {
            let answer = self.get("/ready").await?;
            let ready = answer.json()?;
            let connectors = ready.get("connectors").and_then(Value::as_object);
            let mut upstreams = connectors
                .into_iter()
                .flat_map(serde_json::Map::values)
                .filter_map(|connector| connector.get("upstreams")?.as_object())
                .flatten();
            let here = upstreams.all(|(name, state)| state == "connected" || absent.contains(name));
            // Ready only while the catalogue holds what everybody who is connected offers.
            Ok((here && answer.status == 200).then_some(()))
        })
        .await
        .with_context(|| self.log.tail())
    }

    /// Asks it to end (SIGTERM) and waits.
    pub async fn stop(mut self) -> Result<ExitStatus> {
        process::signal(self.pid()?, Signal::TERM)?;
        self.ended().await
    }

    /// Waits until it ended by itself; its folder is moved there, and left to the caller.
    pub async fn ended_keeping(mut self, to: &Path) -> Result<ExitStatus> {
        let status = self.ended().await?;
        fs::rename(self.folder(), to)?;
        Ok(status)
    }

    /// Waits until it ended by itself.
    pub async fn ended(&mut self) -> Result<ExitStatus> {
        let status = wait::within("plugway ends", STOPPED_WITHIN, self.child.wait()).await;
        Ok(status.with_context(|| self.log.tail())??)
    }

    /// Ends it with SIGKILL.
    pub async fn kill(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    async fn wait_until_listening(&mut self) -> Result<SocketAddr> {
        let deadline = std::time::Instant::now() + STARTED_WITHIN;
        while std::time::Instant::now() < deadline {
            if let Some(address) = self.log.listening() {
                return Ok(address);
            }
            self.ensure_running()?;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bail!("plugway did not listen within {STARTED_WITHIN:?}\n{}", self.log.tail())
    }

    fn ensure_running(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("plugway ended with {status}\n{}", self.log.tail());
        }
        Ok(())
    }
}
