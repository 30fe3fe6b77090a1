//! The suite talks to plugway: behind one connector stand the fixture, under its own names, the reference server over
//! stdio, a server that is down and one that is slow. Every scenario counts what it counts directly.

use anyhow::Result;
use plugway_tests::{
    DemoHttp, Plugway,
    conformance::{Exception, Revision, Suite, baseline, grade},
    fixture_path,
    peers::Peers,
    plugway::Setup,
};
use serde_json::{Value, json};

/// 2025-11-25 through plugway: everything passes.
const NOT_YET_LEGACY: &[Exception] = &[];

/// 2026-07-28 through plugway: everything passes.
const NOT_YET_MODERN: &[Exception] = &[];

/// 2025-11-25 with the fixture over stdio: what does not pass yet. Nobody polls pipes.
const NOT_YET_STDIO: &[Exception] =
    &[("server-sse-polling", "a server over stdio has no stream that it could end")];

/// Everything that a server may ask of clients.
const ALLOWED: [&str; 3] = ["elicitation", "sampling", "roots"];

/// Everything behind plugway, and plugway.
struct Merged {
    _slow: DemoHttp,
    plugway: Plugway,
}

impl Merged {
    /// A connector with this fixture before the others.
    async fn start(fixture: Value) -> Result<Self> {
        let peers = Peers::find()?;
        let slow = DemoHttp::start(&["--delay-ms", "2000"]).await?;
        let everything = json!({
            "name": "everything",
            "command": peers.node(),
            "args": [peers.everything_script(), "stdio"],
        });
        // Nobody listens on the port that the system keeps for nobody.
        let down = json!({"name": "down", "url": "http://127.0.0.1:1/mcp"});
        let slow_upstream = json!({"name": "slow", "url": slow.url()});
        let configuration = json!({
            "name": "hub",
            "upstreams": [fixture, everything, down, slow_upstream],
        });
        let plugway = Setup::new(configuration.to_string()).absent("down").start().await?;
        Ok(Self { _slow: slow, plugway })
    }

    async fn check(
        &self,
        revision: Revision,
        direct: &[(&'static str, usize)],
        not_yet: &[Exception],
    ) -> Result<()> {
        let report = Suite::find()?.server(&self.plugway.mcp_url(), revision).await?;
        grade(&report, direct, not_yet)
    }
}

fn remote(fixture: &DemoHttp) -> Value {
    json!({
        "name": "fixture", "url": fixture.url(), "prefix": "never", "server_requests": ALLOWED,
    })
}

#[tokio::test]
async fn peer_conformance_through_plugway_with_sessions() -> Result<()> {
    let fixture = DemoHttp::start_fixture(&[]).await?;
    let merged = Merged::start(remote(&fixture)).await?;
    merged.check(Revision::Legacy, baseline::LEGACY, NOT_YET_LEGACY).await
}

#[tokio::test]
async fn peer_conformance_through_plugway_without_sessions() -> Result<()> {
    let fixture = DemoHttp::start_fixture(&[]).await?;
    let merged = Merged::start(remote(&fixture)).await?;
    merged.check(Revision::Modern, baseline::MODERN, NOT_YET_MODERN).await
}

#[tokio::test]
async fn peer_conformance_before_a_server_that_checks_no_host_with_sessions() -> Result<()> {
    let fixture = DemoHttp::start_fixture(&["--no-host-check"]).await?;
    let merged = Merged::start(remote(&fixture)).await?;
    merged.check(Revision::Legacy, baseline::LEGACY, NOT_YET_LEGACY).await
}

#[tokio::test]
async fn peer_conformance_before_a_server_that_checks_no_host_without_sessions() -> Result<()> {
    let fixture = DemoHttp::start_fixture(&["--no-host-check"]).await?;
    let merged = Merged::start(remote(&fixture)).await?;
    merged.check(Revision::Modern, baseline::MODERN, NOT_YET_MODERN).await
}

#[tokio::test]
async fn peer_conformance_of_a_server_over_stdio() -> Result<()> {
    let fixture = json!({
        "name": "fixture", "command": fixture_path()?, "args": ["--stdio"], "prefix": "never",
        "server_requests": ALLOWED,
    });
    let merged = Merged::start(fixture).await?;
    merged.check(Revision::Legacy, baseline::LEGACY, NOT_YET_STDIO).await
}
