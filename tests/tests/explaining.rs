//! `plugway check`: policies say how they understood what the operator wrote, and with `--connect` what that is about.

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, plugway::Output};
use serde_json::json;

fn explains(entries: &[&str]) -> Guest {
    Guest::new("explains").config(json!({"hide": entries}))
}

fn ensure_says(output: &Output, line: &str) -> Result<()> {
    ensure!(output.stdout.lines().any(|said| said == line), "no `{line}` in\n{}", output.stdout);
    Ok(())
}

fn ensure_is_good(output: &Output) -> Result<()> {
    ensure!(output.status.success() && output.stdout.ends_with("ok\n"), "{output:?}");
    Ok(())
}

#[tokio::test]
async fn each_entry_is_explained_without_any_server() -> Result<()> {
    let hub = Hub::before("http://127.0.0.1:1/mcp").policy(explains(&["clock_*", "own:add"]));
    let output = hub.setup()?.check().await?;
    ensure_is_good(&output)?;
    let place = "policy explains of connector hub";
    ensure_says(&output, &format!("{place}: \"clock_*\" hides by a shown name"))?;
    ensure_says(&output, &format!("{place}: \"own:add\" hides by a server's own name"))?;
    ensure!(!output.stdout.contains("warning"), "{}", output.stdout);
    Ok(())
}

#[tokio::test]
async fn with_the_servers_it_is_said_what_an_entry_is_about_and_that_it_is_about_nothing()
-> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let entries = ["*", "own:add", "clock_ask_time", "nothing_*"];
    let hub = Hub::before(clock.url()).policy(explains(&entries));
    let output = hub.setup()?.argument("--connect").check().await?;
    ensure_is_good(&output)?;
    let place = "policy explains of connector hub";
    ensure_says(
        &output,
        &format!("{place}: \"own:add\" hides by a server's own name; 1 here: clock_add"),
    )?;
    let prompt = "\"clock_ask_time\" hides by a shown name; 1 here: prompt clock_ask_time";
    ensure_says(&output, &format!("{place}: {prompt}"))?;
    ensure_says(&output, &format!("{place}: \"nothing_*\" hides by a shown name"))?;
    let nothing = "\"nothing_*\" is about nothing that the servers offer now";
    ensure_says(&output, &format!("warning: {place}: {nothing}"))?;
    let many = output.stdout.lines().find(|line| line.contains("\"*\""));
    ensure!(
        many.is_some_and(|line| line.ends_with(", ..") && line.contains(" here: clock_")),
        "{many:?}"
    );
    let answers = "upstream hub/clock answers: ";
    ensure!(output.stdout.lines().any(|line| line.starts_with(answers)), "{}", output.stdout);
    Ok(())
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_a_warning() -> Result<()> {
    let hub = Hub::before("http://127.0.0.1:1/mcp").policy(explains(&["a"]));
    let output = hub.setup()?.argument("--connect").check().await?;
    ensure_is_good(&output)?;
    let unread = "warning: upstream hub/clock was not read: ";
    ensure!(output.stdout.lines().any(|line| line.starts_with(unread)), "{}", output.stdout);
    Ok(())
}

#[tokio::test]
async fn what_explains_itself_badly_is_a_warning_and_no_more() -> Result<()> {
    for (entry, why) in
        [("fails", "there is nothing to say"), ("torn", "it matches what is not on the page")]
    {
        let hub = Hub::before("http://127.0.0.1:1/mcp").policy(explains(&[entry]));
        let output = hub.setup()?.check().await?;
        ensure_is_good(&output)?;
        let line = "warning: policy explains of connector hub does not explain itself: ";
        let said = output.stdout.lines().find(|said| said.starts_with(line));
        ensure!(said.is_some_and(|said| said.contains(why)), "{}", output.stdout);
    }
    Ok(())
}
