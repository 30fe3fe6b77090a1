//! The suite talks to the fixture itself: every required scenario passes, and so does every unscored one that checks
//! anything. What plugway must not change is measured against these counts.

use anyhow::{Result, ensure};
use plugway_tests::{
    DemoHttp,
    conformance::{Revision, Suite, baseline, grade},
};

#[tokio::test]
async fn peer_conformance_of_the_fixture_with_sessions() -> Result<()> {
    let fixture = DemoHttp::start_fixture(&[]).await?;
    let report = Suite::find()?.server(fixture.url(), Revision::Legacy).await?;
    ensure!(report.len() == 33, "{} scenarios", report.len());
    grade(&report, baseline::LEGACY, &[])
}

#[tokio::test]
async fn peer_conformance_of_the_fixture_without_sessions() -> Result<()> {
    let fixture = DemoHttp::start_fixture(&[]).await?;
    let report = Suite::find()?.server(fixture.url(), Revision::Modern).await?;
    ensure!(report.len() == 50, "{} scenarios", report.len());
    grade(&report, baseline::MODERN, &[])
}
