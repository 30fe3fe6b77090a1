//! Resident memory with a thousand initialised sessions that each made one call.

use std::path::Path;

use anyhow::Result;

use crate::process::Running;
use crate::{echo, load, startup};

const SESSIONS: usize = 1_000;

/// Measures and prints.
pub(crate) async fn run(plugway: &Path, configuration: &Path) -> Result<()> {
    let process = Running::plugway(plugway, configuration).await?;
    startup::until_ready(process.address).await?;
    let before = process.resident_mib()?;
    let call = load::echo(&format!("up_{}", echo::TOOL));
    let mut client = load::Client::connect(process.address).await?;
    client.call(&call).await?;
    for _ in 1..SESSIONS {
        client.initialize().await?;
        client.call(&call).await?;
    }
    let after = process.resident_mib()?;
    println!(
        "resident when ready {before:.1} MiB; with {SESSIONS} sessions that made one call {after:.1} MiB\n"
    );
    Ok(())
}
