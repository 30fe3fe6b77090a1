//! Fleets of two eras: the whole suite of one era in front of a fixture that speaks only the other one.

use anyhow::Result;
use plugway_tests::{
    DemoHttp, Plugway,
    conformance::{Exception, Revision, Suite, baseline, grade},
};
use serde_json::json;

/// 2025-11-25 before a server without sessions: what has no counterpart there.
const NOTHING_MODERN: &[Exception] =
    &[("server-sse-polling", "a stream without a session cannot be left and come back to")];

/// The same: what does not pass yet.
const NOT_YET_BEFORE_MODERN: &[Exception] = &[];

const TASKS: &str = "the tasks of sessions are others, and this server has none";
const NAMED: &str = "requests of sessions carry no name: a retry cannot name what it answers";

/// 2026-07-28 before a server with sessions: what has no counterpart there.
const NOTHING_LEGACY: &[Exception] = &[
    ("input-required-result-basic-elicitation", NAMED),
    ("tasks-lifecycle", TASKS),
    ("tasks-capability-negotiation", TASKS),
    ("tasks-wire-fields", TASKS),
    ("tasks-request-state-removal", TASKS),
    ("tasks-mrtr-input", TASKS),
    ("tasks-request-headers", TASKS),
    ("tasks-dispatch-and-envelope", TASKS),
    ("tasks-required-task-error", TASKS),
    ("tasks-mrtr-composition", TASKS),
];

const FIRST: &str = "a server with sessions refuses what is not declared in its own words, before plugway could know";

/// The same: what does not pass yet.
const NOT_YET_BEFORE_LEGACY: &[Exception] = &[
    ("server-stateless:sep-2575-server-rejects-undeclared-capability", FIRST),
    ("server-stateless:sep-2575-missing-capability-http-400", FIRST),
];

async fn check(
    era: &str,
    revision: Revision,
    direct: &[(&'static str, usize)],
    exceptions: [&[Exception]; 2],
) -> Result<()> {
    let fixture = DemoHttp::start_fixture(&["--era", era]).await?;
    let upstream = json!({"name": "fixture", "url": fixture.url(), "prefix": "never", "server_requests": ["elicitation", "sampling", "roots"]});
    let configuration = json!({"name": "hub", "upstreams": [upstream]});
    let plugway = Plugway::start(configuration.to_string()).await?;
    let report = Suite::find()?.server(&plugway.mcp_url(), revision).await?;
    grade(&report, direct, &exceptions.concat())
}

#[tokio::test]
async fn peer_conformance_of_sessions_before_a_modern_server() -> Result<()> {
    let exceptions = [NOTHING_MODERN, NOT_YET_BEFORE_MODERN];
    check("modern", Revision::Legacy, baseline::LEGACY, exceptions).await
}

#[tokio::test]
async fn peer_conformance_without_sessions_before_a_legacy_server() -> Result<()> {
    let exceptions = [NOTHING_LEGACY, NOT_YET_BEFORE_LEGACY];
    check("legacy", Revision::Modern, baseline::MODERN, exceptions).await
}
