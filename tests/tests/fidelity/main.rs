//! Recorded exchanges of every kind of message, with members that nobody knows at every level, played to their server
//! directly and through plugway: client and server see the same, number by number, apart from what [`closed`] lists.
//!
//! The recordings are the `.jsonl` files beside this one.

use std::{fs, path::PathBuf, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, binary,
    exact::Exact,
    plugway::Setup,
    replay::Recording,
    rpc::LEGACY,
    scratch::Scratch,
    tokens::{auth, identified},
    wait,
};
use serde_json::{Value, json};
use tokio::process::Command;

mod closed;
mod http;
mod mapped;
mod player;

use closed::{Seen, seen_by_server};
use player::{Played, Player};

const BOUND: Duration = Duration::from_secs(20);
/// The name of the server that is played, and of the one beside it.
const UP: &str = "up";
const OTHER: &str = "other";

/// How two ends speak to one another.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Http,
    Pipes,
}

/// One recording, and where it is played.
struct Stage {
    era: &'static str,
    recording: Recording,
    scratch: Scratch,
    /// Servers over HTTP.
    servers: Vec<DemoHttp>,
}

impl Stage {
    /// With the recordings of an era, in which a revision stands in the place of the newest one.
    fn new(era: &'static str, revision: &str) -> Result<Self> {
        let scratch = Scratch::new()?;
        for name in [format!("{era}.jsonl"), format!("other.{era}.jsonl")] {
            let text = fs::read_to_string(recorded(&name))?;
            scratch.write(&name, text.replace(LEGACY, revision))?;
        }
        let recording = scratch.path().join(format!("{era}.jsonl"));
        let recording = Recording::parse(&fs::read_to_string(recording)?)?;
        Ok(Self { era, recording, scratch, servers: Vec::new() })
    }

    /// Where a server writes what it is sent.
    fn record(&self, name: &str) -> PathBuf {
        self.scratch.path().join(format!("{name}.record"))
    }

    /// The words that start a server of the recording `file`, which writes what it is sent as `name`.
    fn words(&self, recording: &str, name: &str) -> Vec<String> {
        [self.scratch.path().join(recording), self.record(name)]
            .map(|path| path.display().to_string())
            .to_vec()
    }

    /// The URL of such a server, which was started for it.
    async fn start(&mut self, recording: &str, name: &str) -> Result<String> {
        let words = self.words(recording, name);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let server = DemoHttp::start_program("replay-server", "127.0.0.1:0", &words).await?;
        self.servers.push(server);
        Ok(self.servers.last().context("a server")?.url().to_owned())
    }

    /// Such a server as an upstream.
    async fn upstream(&mut self, way: Way, recording: &str, name: &str) -> Result<Value> {
        let asks = ["elicitation", "sampling", "roots"];
        let place = match way {
            Way::Http => json!({"url": self.start(recording, name).await?}),
            Way::Pipes => {
                let mut words = self.words(recording, name);
                words.push("--stdio".to_owned());
                json!({"command": binary::find("replay-server")?, "args": words})
            }
        };
        let mut upstream = json!({"name": name, "server_requests": asks});
        if let (Some(upstream), Value::Object(place)) = (upstream.as_object_mut(), place) {
            upstream.extend(place);
        }
        Ok(upstream)
    }

    /// What both ends see without plugway.
    async fn directly(&mut self, way: Way) -> Result<(Vec<Played>, Seen)> {
        let recording = format!("{}.jsonl", self.era);
        let mut player = match way {
            Way::Http => {
                let url = self.start(&recording, "direct").await?;
                let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
                Player::over_http(address.parse()?, None)
            }
            Way::Pipes => {
                let mut command = Command::new(binary::find("replay-server")?);
                command.args(self.words(&recording, "direct")).arg("--stdio");
                command.stderr(Stdio::inherit()).kill_on_drop(true);
                Player::over_pipes(command, None)?
            }
        };
        let played = player.play(&self.recording).await?;
        let wanted = self.recording.exchanges.iter().flat_map(|exchange| &exchange.steps);
        let sent = wanted.filter(|step| step.received().is_none()).count();
        // Pages are asked for one by one, and that is an exchange each.
        let seen = wait::until("the server has everything", BOUND, async || {
            let seen = self.lines("direct")?;
            Ok((seen.len() >= sent).then_some(seen))
        })
        .await?;
        Ok((played, seen_by_server(seen)))
    }

    fn lines(&self, name: &str) -> Result<Vec<Exact>> {
        let text = fs::read_to_string(self.record(name)).unwrap_or_default();
        text.lines().map(Exact::parse).collect()
    }

    /// What both ends see through plugway.
    async fn through(
        &mut self,
        client: Way,
        server: Way,
        seen: &Seen,
    ) -> Result<(Vec<Played>, Seen)> {
        let upstreams = [
            self.upstream(server, &format!("{}.jsonl", self.era), UP).await?,
            self.upstream(server, &format!("other.{}.jsonl", self.era), OTHER).await?,
        ];
        // Who is nobody in particular has a child for each request, in which no task can outlive it.
        let auth = if client == Way::Http { auth() } else { json!({"mode": "none"}) };
        let configuration = json!({"name": "hub", "auth": auth, "upstreams": upstreams});
        let setup = Setup::new(configuration.to_string());
        // Both live as long as the player plays.
        let mut running = (None, None);
        let mut player = match client {
            Way::Http => {
                let setup = identified(setup, &json!({}));
                let started = running.0.insert(setup.start().await?);
                Player::over_http(started.address(), Some(UP))
            }
            Way::Pipes => {
                let (scratch, mut command) = setup.stdio(&[])?;
                running.1 = Some(scratch);
                command.stderr(Stdio::inherit());
                Player::over_pipes(command, Some(UP))?
            }
        };
        let played = player.play(&self.recording).await?;
        let all = wait::until("the server has everything", BOUND, async || {
            let all = seen_by_server(self.lines(UP)?);
            Ok(seen.missing_in(&all).is_empty().then_some(all))
        });
        let all = match all.await {
            Ok(all) => all,
            Err(_late) => seen_by_server(self.lines(UP)?),
        };
        drop(running);
        Ok((played, all))
    }
}

fn recorded(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fidelity").join(name)
}

/// Plays a recording both ways and tells of every difference.
async fn compare(era: &'static str, client: Way, server: Way) -> Result<()> {
    compare_in(era, LEGACY, client, server).await
}

async fn compare_in(era: &'static str, revision: &str, client: Way, server: Way) -> Result<()> {
    let mut stage = Stage::new(era, revision)?;
    let (direct, seen) = stage.directly(client).await?;
    for (played, exchange) in direct.iter().zip(&stage.recording.exchanges) {
        played.ensure_as_recorded(exchange)?;
    }
    let (through, also) = stage.through(client, server, &seen).await?;
    ensure!(direct.len() == through.len(), "exchanges are missing");
    let mut differences = Vec::new();
    for (one, other) in direct.iter().zip(&through) {
        differences.extend(one.difference(other));
    }
    let missing = seen.missing_in(&also);
    differences.extend(missing.iter().map(|one| format!("the server did not get\n  {one}")));
    let more = also.missing_in(&seen);
    differences.extend(more.iter().map(|one| format!("the server got besides\n  {one}")));
    for own in seen.introductions() {
        if !also.introductions().any(|one| one == own) {
            let all: Vec<String> = also.introductions().map(|one| format!("  {one}")).collect();
            differences.push(format!("nobody came as\n  {own}\nbut as\n{}", all.join("\n")));
        }
    }
    ensure!(differences.is_empty(), "\n{}", differences.join("\n\n"));
    Ok(())
}

#[tokio::test]
async fn legacy_over_http() -> Result<()> {
    compare("legacy", Way::Http, Way::Http).await
}

#[tokio::test]
async fn legacy_over_pipes() -> Result<()> {
    compare("legacy", Way::Pipes, Way::Pipes).await
}

#[tokio::test]
async fn legacy_over_http_before_pipes() -> Result<()> {
    compare("legacy", Way::Http, Way::Pipes).await
}

#[tokio::test]
async fn legacy_over_pipes_before_http() -> Result<()> {
    compare("legacy", Way::Pipes, Way::Http).await
}

/// Servers and clients of older revisions say what they like: nobody takes it out.
#[tokio::test]
async fn every_revision_with_sessions() -> Result<()> {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let compared = compare_in("legacy", revision, Way::Http, Way::Http).await;
        compared.with_context(|| revision.to_owned())?;
    }
    Ok(())
}

#[tokio::test]
async fn modern_over_http() -> Result<()> {
    compare("modern", Way::Http, Way::Http).await
}

#[tokio::test]
async fn modern_over_pipes() -> Result<()> {
    compare("modern", Way::Pipes, Way::Pipes).await
}

#[tokio::test]
async fn modern_over_http_before_pipes() -> Result<()> {
    compare("modern", Way::Http, Way::Pipes).await
}

#[tokio::test]
async fn modern_over_pipes_before_http() -> Result<()> {
    compare("modern", Way::Pipes, Way::Http).await
}
