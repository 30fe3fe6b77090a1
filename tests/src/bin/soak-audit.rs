//! `soak-audit`: a million calls at full load, and the audit of them. Leaves a report. The number of calls may be given.
#![expect(clippy::print_stdout, reason = "the place of the report is this program's answer")]

use plugway_tests::soak::audit;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let calls = std::env::args().nth(1).map(|word| word.parse()).transpose()?;
    let measured = audit::run(calls.unwrap_or(1_000_000), "100MiB").await?;
    println!("{}", audit::report(measured).write("audit")?.display());
    Ok(())
}
