//! `soak-results`: 200 results of 10 MB in each form, and what they do to memory. Leaves a report.
#![expect(clippy::print_stdout, reason = "the place of the report is this program's answer")]

use plugway_tests::soak::results;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let measured = results::run(200).await?;
    let path = results::report(&measured).write("results")?;
    println!("{}", path.display());
    for one in &measured {
        one.ensure()?;
    }
    Ok(())
}
