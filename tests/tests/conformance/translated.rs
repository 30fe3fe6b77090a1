//! Fleets of two eras: the whole suite of one era in front of a fixture that speaks only the other one.

use anyhow::Result;
use plugway_tests::{
    DemoHttp, Plugway,
    conformance::{Exception, Revision, Suite, baseline, grade},
};
use serde_json::json;

/// 2025-11-25 before a server without sessions: what has no counterpart there, or does not pass yet.
const MODERN_SERVER: &[Exception] = &[];

/// 2026-07-28 before a server with sessions: what has no counterpart there, or does not pass yet.
const LEGACY_SERVER: &[Exception] = &[];

async fn check(
    era: &str,
    revision: Revision,
    baseline: &[(&str, usize)],
    exceptions: &[Exception],
) -> Result<()> {
    let fixture = DemoHttp::start_fixture(&["--era", era]).await?;
    let upstream = json!({"name": "fixture", "url": fixture.url(), "prefix": "never"});
    let configuration = json!({"name": "hub", "upstreams": [upstream]});
    let plugway = Plugway::start(configuration.to_string()).await?;
    let report = Suite::find()?.server(&plugway.mcp_url(), revision).await?;
    grade(&report, baseline, exceptions)
}

#[tokio::test]
async fn peer_conformance_of_sessions_before_a_modern_server() -> Result<()> {
    check("modern", Revision::Legacy, baseline::LEGACY, MODERN_SERVER).await
}

#[tokio::test]
async fn peer_conformance_without_sessions_before_a_legacy_server() -> Result<()> {
    check("legacy", Revision::Modern, baseline::MODERN, LEGACY_SERVER).await
}
