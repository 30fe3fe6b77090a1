//! Calls through plugway against calls through the `RouterServer` of agora-workbench, before one of its own servers.
//!
//! The tool is one that answers without a kernel, so that what stands between client and server shows.

use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::process::Command;

use crate::process::Running;
use crate::target::{self, CONNECTIONS, Target};
use crate::{load, report, startup};

/// A tool of the server `chem`, and what its answer holds.
const TOOL: &str = "chem_list_sessions";
const PROOF: &[u8] = b"sessions";

/// Where the Python programs are.
#[derive(Debug)]
pub(crate) struct Scripts<'a> {
    /// The interpreter with agora-workbench.
    pub(crate) python: &'a Path,
    /// The folder of `server.py` and `router.py`.
    pub(crate) folder: &'a Path,
}

impl Scripts<'_> {
    fn command(&self, script: &str, home: &Path) -> Command {
        let mut command = Command::new(self.python);
        command.arg(self.folder.join(script)).env("HOME", home).current_dir(home);
        command
    }
}

/// Measures and prints.
pub(crate) async fn run(plugway: &Path, scripts: &Scripts<'_>, quick: bool) -> Result<()> {
    let (rounds, time) = if quick { (1, 3) } else { (5, 10) };
    let time = Duration::from_secs(time);
    let folder = std::env::temp_dir().join(format!("plugway-bench-{}", std::process::id()));
    let targets = measured(plugway, scripts, &folder, (rounds, time)).await;
    let targets = targets.inspect_err(|_| report::remove(&folder))?;
    println!(
        "{rounds} rounds of {time:?} each, in turns; {CONNECTIONS} connections, each with a session;"
    );
    println!("tools/call {TOOL} of agora-workbench; medians of the rounds\n");
    target::print_rows(&targets)?;
    let [_, theirs, ours] = &targets;
    target::print_ratios("ratio", ours, theirs);
    drop(targets);
    report::remove(&folder);
    Ok(())
}

async fn measured(
    plugway: &Path,
    scripts: &Scripts<'_>,
    folder: &Path,
    (rounds, time): (usize, Duration),
) -> Result<[Target; 3]> {
    let home = folder.join("home");
    std::fs::create_dir_all(&home).with_context(|| format!("cannot make {}", home.display()))?;
    let server = started(scripts, "server.py", &home, |command, port| {
        command.args(["chem", port, "sync", "open"]);
    })
    .await?;
    let base = format!("http://{}", server.address);
    let config = json!({"name": "hub", "upstreams": [{"name": "chem", "url": base}]}).to_string();
    let theirs = started(scripts, "router.py", &home, |command, port| {
        command.args([port, &config]);
    })
    .await?;
    let configuration = report::configure(folder, &format!("{base}/mcp"))?;
    let ours = Running::plugway(plugway, &configuration).await?;
    startup::until_ready(ours.address).await?;
    let call = |tool: &str| load::call(tool, &json!({}), PROOF);
    let mut targets = [
        Target::new("server alone", server, call(TOOL)).await?,
        Target::new("RouterServer", theirs, call(TOOL)).await?,
        Target::new("plugway", ours, call("up_list_sessions")).await?,
    ];
    target::rounds(&mut targets, rounds, time).await?;
    Ok(targets)
}

async fn started(
    scripts: &Scripts<'_>,
    script: &str,
    home: &Path,
    words: impl Fn(&mut Command, &str),
) -> Result<Running> {
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut command = scripts.command(script, home);
    words(&mut command, &port.to_string());
    Running::healthy(command, port).await
}
