//! `soak-sessions`: 20,000 sessions that nobody ends, and what they do to memory. Leaves a report.
#![expect(clippy::print_stdout, reason = "the place of the report is this program's answer")]

use plugway_tests::soak::sessions;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let measured = sessions::run(20).await?;
    let path = sessions::report(&measured).write("sessions")?;
    println!("{}", path.display());
    measured.ensure()
}
