//! `soak-sessions`: 10,000 sessions that nobody ends, and what they do to memory. Leaves a report.
#![expect(clippy::print_stdout, reason = "the place of the report is this program's answer")]

use plugway_tests::soak::sessions;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let measured = sessions::run(10).await?;
    let path = sessions::report(&measured).write("sessions")?;
    println!("{}", path.display());
    sessions::ensure_returned(&measured)?;
    Ok(())
}
