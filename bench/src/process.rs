//! Processes under measurement, and what the kernel says about them.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use crate::{load, startup};

const STARTED_WITHIN: Duration = Duration::from_mins(2);
/// The kernel counts processor time in hundredths of a second.
const US_PER_TICK: f64 = 10_000.0;

/// A started process; killed with this value.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Kept open so that the process can go on writing.
    _output: Option<Lines<BufReader<ChildStdout>>>,
}

impl Running {
    /// A role of this program: it prints its address.
    pub(crate) async fn role<S: AsRef<OsStr>>(words: &[S]) -> Result<Self> {
        let this = std::env::current_exe()?;
        let mut command = Command::new(this);
        command.args(words).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        let line = tokio::time::timeout(STARTED_WITHIN, lines.next_line()).await??;
        let address = line.context("a role ended at once")?.parse()?;
        Ok(Self { child, address, _output: Some(lines) })
    }

    /// plugway with this configuration: its log names the address.
    pub(crate) async fn plugway(binary: &Path, configuration: &Path) -> Result<Self> {
        let mut child = Command::new(binary)
            .arg("serve")
            .arg(configuration)
            .args(["--listen", "127.0.0.1:0", "--log-format", "json"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let stderr = child.stderr.take().context("no stderr")?;
        let (address, rest) = tokio::time::timeout(STARTED_WITHIN, listening(stderr)).await??;
        tokio::spawn(drain(rest));
        Ok(Self { child, address, _output: None })
    }

    /// A program with this port on loopback, once its `/health` answers 200.
    pub(crate) async fn healthy(mut command: Command, port: u16) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.kill_on_drop(true).spawn().context("cannot start Python")?;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let deadline = load::now() + STARTED_WITHIN;
        while !startup::answers(address, "/health").await.unwrap_or(false) {
            ensure!(child.try_wait()?.is_none(), "the program ended while it started");
            ensure!(load::now() < deadline, "the program did not answer in time");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Self { child, address, _output: None })
    }

    fn pid(&self) -> Result<u32> {
        self.child.id().context("the process has ended")
    }

    /// Processor time so far, user and system, in microseconds.
    pub(crate) fn cpu_us(&self) -> Result<f64> {
        let stat = read(&format!("/proc/{}/stat", self.pid()?))?;
        // Fields are counted after the command in parentheses, which may hold anything.
        let (_, fields) = stat.rsplit_once(')').context("broken stat")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let tick = |place: usize| -> Result<f64> {
            Ok(fields.get(place).context("broken stat")?.parse::<f64>()?)
        };
        Ok((tick(11)? + tick(12)?) * US_PER_TICK)
    }

    /// Resident memory in MiB.
    pub(crate) fn resident_mib(&self) -> Result<f64> {
        let status = read(&format!("/proc/{}/status", self.pid()?))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: f64 =
            line.and_then(|l| l.split_whitespace().next()).context("no VmRSS")?.parse()?;
        Ok(kib / 1024.0)
    }
}

async fn listening(stderr: ChildStderr) -> Result<(SocketAddr, Lines<BufReader<ChildStderr>>)> {
    let mut lines = BufReader::new(stderr).lines();
    while let Some(line) = lines.next_line().await? {
        let event: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        let fields = if event["fields"].is_object() { &event["fields"] } else { &event };
        if let Some(address) = fields["address"].as_str() {
            return Ok((address.parse()?, lines));
        }
    }
    bail!("plugway ended before it listened")
}

async fn drain(mut lines: Lines<BufReader<ChildStderr>>) {
    while let Ok(Some(_)) = lines.next_line().await {}
}

fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}
