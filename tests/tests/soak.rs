//! Volume, in short: `cargo xtask soak` runs the same for minutes.

use anyhow::{Result, ensure};
use plugway_tests::soak::{results, sessions};

#[tokio::test]
async fn heavy_results_of_ten_megabytes_pass_and_memory_stays_flat() -> Result<()> {
    let count = 24;
    for measured in results::run(count).await? {
        // Far more passes than may be kept.
        ensure!(measured.passed > count * results::BYTES, "{measured:?}");
        measured.ensure()?;
    }
    Ok(())
}

#[tokio::test]
async fn heavy_a_thousand_sessions_that_nobody_ends_are_gone_with_all_that_was_theirs() -> Result<()>
{
    sessions::run(2).await?.ensure()
}
