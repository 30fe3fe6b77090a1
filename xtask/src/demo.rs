//! `cargo xtask try`: plugway in front of the two demo servers, on this machine, right now.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use crate::{run, workspace};

const ADDRESS: &str = "127.0.0.1:9000";
/// What `/ready` says of both servers once they can be called.
const SERVERS: [&str; 2] = [r#""clock":"connected""#, r#""notes":"connected""#];
const READY_WITHIN: Duration = Duration::from_secs(30);

/// What happens after the demonstration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    StayUp,
    End,
}

/// Builds, starts, shows, and ends everything it started.
pub(crate) fn run(then: Then) -> Result<()> {
    println!(
        "This builds plugway and two small MCP servers (the first time 5 to 10 minutes on 2 cores, most of it \
         wasmtime),\nstarts them, and calls a tool of each through plugway on {ADDRESS}. Nothing is installed."
    );
    // The same selection as `cargo xtask test` builds, so that nothing is compiled twice.
    let words = ["build", "--workspace", "--bins", "--tests", "--locked"];
    run::finish(run::cargo(&words))?;
    ensure_port_is_free()?;

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let bin = workspace::target()?.join("debug");
    let (_clock, upstream) = start_clock(&bin)?;
    let configuration = write_configuration(&bin, &upstream)?;
    println!("\nplugway serve {}\n", configuration.display());
    print!("{}", fs::read_to_string(&configuration)?);

    let mut plugway = Process::start(
        Command::new(bin.join("plugway"))
            .arg("serve")
            .arg(&configuration)
            .args(["--listen", ADDRESS]),
    )?;
    wait_until_ready(&mut plugway)?;
    show(&bin)?;
    if then == Then::StayUp {
        print!("{}", how_to_connect());
        plugway.wait_with(&mut signals)?;
    }
    plugway.stop()
}

fn ensure_port_is_free() -> Result<()> {
    TcpListener::bind(ADDRESS).map(drop).with_context(|| {
        format!("{ADDRESS} is taken by another program (`ss -ltnp 'sport = :9000'` names it); end it and try again")
    })
}

/// A child that ends with this value.
struct Process {
    child: Child,
}

impl Process {
    fn start(command: &mut Command) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            // Ctrl-C reaches this program alone, which then ends its children in order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self { child })
    }

    /// Waits for Ctrl-C; a child that ends by itself is an error.
    fn wait_with(&mut self, signals: &mut Signals) -> Result<()> {
        loop {
            if signals.pending().next().is_some() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("plugway ended by itself with {status}");
            }
            pause();
        }
    }

    /// Asks the child to end, then waits for it.
    fn stop(mut self) -> Result<()> {
        let pid = self.child.id().to_string();
        let asked = Command::new("sh").args(["-c", "kill -TERM \"$0\"", &pid]).status();
        let deadline = Instant::now() + Duration::from_secs(10);
        while asked.as_ref().is_ok_and(std::process::ExitStatus::success)
            && Instant::now() < deadline
        {
            if let Some(status) = self.child.try_wait()? {
                ensure!(status.success(), "plugway ended with {status}");
                return Ok(());
            }
            pause();
        }
        bail!("plugway did not end within 10 s of being asked to; it is killed now")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the pause between two looks at another process")]
fn pause() {
    std::thread::sleep(Duration::from_millis(50));
}

fn start_clock(bin: &Path) -> Result<(Process, String)> {
    let mut clock = Process::start(Command::new(bin.join("demo-clock")).stdout(Stdio::piped()))?;
    let stdout = clock.child.stdout.take().context("demo-clock has no stdout")?;
    let mut url = String::new();
    BufReader::new(stdout).read_line(&mut url)?;
    let url = url.trim().to_owned();
    ensure!(url.starts_with("http://"), "demo-clock did not print its URL but `{url}`");
    Ok((clock, url))
}

fn write_configuration(bin: &Path, url: &str) -> Result<PathBuf> {
    let folder = workspace::target()?.join("try");
    fs::create_dir_all(&folder)?;
    let path = folder.join("hub.yaml");
    let notes = bin.join("demo-notes");
    let text = format!(
        "name: hub\nupstreams:\n  - name: clock\n    url: {url}\n  - name: notes\n    command: {}\n",
        notes.display()
    );
    fs::write(&path, text)?;
    Ok(path)
}

fn wait_until_ready(plugway: &mut Process) -> Result<()> {
    let deadline = Instant::now() + READY_WITHIN;
    let mut last = "no answer".to_owned();
    while Instant::now() < deadline {
        if let Some(status) = plugway.child.try_wait()? {
            bail!("plugway ended with {status} before it was ready; its own words are above");
        }
        match answer("/ready") {
            // Ready is whoever serves one of them; what is shown are both.
            Ok(answer)
                if answer.contains(" 200 ") && SERVERS.iter().all(|it| answer.contains(it)) =>
            {
                return Ok(());
            }
            Ok(answer) => last = answer,
            Err(error) => last = error.to_string(),
        }
        pause();
    }
    bail!("plugway was not ready within {} s: {last}", READY_WITHIN.as_secs())
}

/// The whole answer to `GET path`.
fn answer(path: &str) -> Result<String> {
    let address: SocketAddr = ADDRESS.parse()?;
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {ADDRESS}\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.take(64 * 1024).read_to_string(&mut text)?;
    Ok(text)
}

fn show(bin: &Path) -> Result<()> {
    println!("\nThe tools of both servers, as one client sees them, and a call to each:\n");
    let calls = [("clock_add", r#"{"a":2,"b":40}"#), ("notes_add_note", r#"{"text":"hello"}"#)];
    let mut words = vec![format!("http://{ADDRESS}/mcp")];
    for (tool, arguments) in calls {
        words.extend(["--call".to_owned(), format!("{tool}={arguments}")]);
    }
    let mut client = Command::new(bin.join("demo-client"));
    client.args(words);
    run::finish(client)
}

fn how_to_connect() -> String {
    format!(
        r#"
plugway is up. Connect a client:

  Claude Code      claude mcp add --transport http hub http://{ADDRESS}/mcp
  Claude Desktop   Settings > Connectors speaks to public addresses only; for this one put into its JSON file
                   {{"mcpServers": {{"hub": {{"command": "npx", "args": ["mcp-remote", "http://{ADDRESS}/mcp"]}}}}}}
  VS Code          .vscode/mcp.json: {{"servers": {{"hub": {{"type": "http", "url": "http://{ADDRESS}/mcp"}}}}}}
  curl             curl -s http://{ADDRESS}/mcp -H 'Content-Type: application/json' \
                     -H 'Accept: application/json, text/event-stream' \
                     -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' \
                     -d '{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{
                          "io.modelcontextprotocol/protocolVersion":"2026-07-28",
                          "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}'

Ctrl-C ends it.
"#
    )
}
