//! `plugway check`: policies say how they understood what the operator wrote, and with `--connect` what that is about.

use anyhow::{Result, ensure};
use plugway_tests::{Coder, DemoHttp, Guest, Hub, coder::function, plugway::Output};
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

#[tokio::test]
async fn the_gateway_explains_everything_that_names_tools() -> Result<()> {
    let functions = [function("parse", "Parses.", &[], &[]), function("dock", "Docks.", &[], &[])];
    let server = Coder::start("chem", &functions).await?;
    let config = json!({
        "blocked_tools": ["dock", "docks"],
        "confirm": "destructive", "not_destructive": ["check_job", "chek_job"],
        "limits": [{"calls_per_minute": 9, "tools": ["execute_code", "execut_code"]}],
        "rules": [
            {"do": "deny", "when": {"tool": ["load_skill", "lod_skill"]}},
            {"do": "deny", "when": {"not": {"tool": "*_chem_*"}, "all": [{"tool": "parse"}]}},
        ],
    });
    let hub = Hub::new("hub").upstream("chem", &server.url()).bundled("gateway", config);
    let place = "policy gateway of connector hub";
    let runs = "what servers that run code call so, and tools of that name";
    let said = [
        (
            "dock",
            "in blocked_tools blocks tools and functions of catalogues of that name".to_owned(),
            "1 here: function chem.dock",
        ),
        (
            "check_job",
            format!("in not_destructive asks nobody about {runs}"),
            "1 here: chem_check_job",
        ),
        ("execute_code", format!("in limits[0].tools limits {runs}"), "1 here: execute_chem_code"),
        ("load_skill", format!("in rules[0].when.tool is about {runs}"), "1 here: load_chem_skill"),
        (
            "*_chem_*",
            "in rules[1].when.not.tool is about tools whose name it matches".to_owned(),
            "2 here: execute_chem_code, load_chem_skill",
        ),
    ];
    let alone = hub.setup()?.check().await?;
    ensure_is_good(&alone)?;
    for (entry, meaning, _) in &said {
        ensure_says(&alone, &format!("{place}: \"{entry}\" {meaning}"))?;
    }
    ensure!(!alone.stdout.contains("warning"), "{}", alone.stdout);
    let connected = hub.setup()?.argument("--connect").check().await?;
    ensure_is_good(&connected)?;
    for (entry, meaning, here) in &said {
        let line = format!("{place}: \"{entry}\" {meaning}; {here}");
        ensure!(
            connected.stdout.lines().any(|said| said.starts_with(&line)),
            "no `{line}` in\n{}",
            connected.stdout
        );
    }
    let warned = connected.stdout.lines().filter(|line| line.starts_with("warning: "));
    let nothing = |entry: &str| {
        format!("warning: {place}: \"{entry}\" is about nothing that the servers offer now")
    };
    // A rule is not about functions.
    let expected = ["docks", "chek_job", "execut_code", "lod_skill", "parse"].map(nothing);
    ensure!(warned.eq(expected.iter()), "{}", connected.stdout);
    Ok(())
}
