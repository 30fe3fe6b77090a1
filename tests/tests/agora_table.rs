//! `docs/compatibility.md`, row by row: each example is given to the binary, which must do with it what the row says.

use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use plugway_tests::{
    binary,
    plugway::{Output, run_in},
    scratch::Scratch,
};

/// A row of a table, and the heading that it stands under.
struct Row {
    heading: String,
    word: String,
    example: String,
    fate: String,
    says: String,
}

/// What stands between backticks, of which there may be two.
fn code(cell: &str) -> Option<&str> {
    let cell = cell.trim().trim_end_matches('|').trim();
    let inner = cell.strip_prefix('`')?.strip_suffix('`')?;
    Some(inner.strip_prefix('`').and_then(|inner| inner.strip_suffix('`')).unwrap_or(inner))
}

fn rows() -> Result<Vec<Row>> {
    let page = fs::read_to_string(binary::repository().join("docs/compatibility.md"))?;
    let (mut rows, mut heading) = (Vec::new(), String::new());
    for line in page.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            text.clone_into(&mut heading);
        }
        let cells: Vec<_> = line.trim_start_matches("| ").split(" | ").collect();
        if let [word, example, fate, says] = cells.as_slice()
            && let (Some(word), Some(example), Some(says)) = (code(word), code(example), code(says))
        {
            let [word, example, says] = [word, example, says].map(str::to_owned);
            rows.push(Row {
                heading: heading.clone(),
                word,
                example,
                fate: (*fate).to_owned(),
                says,
            });
        }
    }
    Ok(rows)
}

/// Lines of a file, without the one that the example has in other words.
fn around(base: &[(&str, &str)], row: &Row) -> String {
    let own = row.word.split('.').next().unwrap_or_default();
    let lines = base.iter().filter(|(key, _)| *key != own);
    let lines: Vec<_> = lines.map(|(key, value)| format!("{key}: {value}\n")).collect();
    format!("{}{}\n", lines.concat(), row.example)
}

/// A file with the example in it, where the heading is one of a file.
fn file_of(row: &Row) -> Option<String> {
    let upstream = "{name: chem, url: 'http://127.0.0.1:1'}";
    match (row.heading.as_str(), row.word.strip_prefix("upstreams.")) {
        ("RouterConfig", Some(inner)) => {
            let base = [("name", "chem"), ("url", "http://127.0.0.1:1")];
            let keys = base.iter().filter(|(key, _)| *key != inner);
            let keys: Vec<_> = keys.map(|(key, value)| format!("  {key}: {value}\n")).collect();
            let head = "form: agora\nname: hub\nupstreams:\n- ";
            Some(format!("{head}{}\n{}", row.example, keys.concat()))
        }
        ("RouterConfig", None) => {
            let list = format!("[{upstream}]");
            Some(around(&[("form", "agora"), ("name", "hub"), ("upstreams", &list)], row))
        }
        ("GatewayConfig", _) => {
            Some(around(&[("form", "agora"), ("name", "hub"), ("upstream", upstream)], row))
        }
        ("DispatcherConfig", _) => {
            Some(around(&[("name", "hub"), ("workers", "[{name: w1, url: 'http://h'}]")], row))
        }
        _ => None,
    }
}

async fn check(row: &Row) -> Result<Output> {
    let scratch = Scratch::new()?;
    if let Some(text) = file_of(row) {
        scratch.write("hub.yaml", text)?;
        return run_in(scratch.path(), &[], &["check", "hub.yaml"]).await;
    }
    ensure!(row.heading == "Environment", "a table under {}", row.heading);
    let variable = row.example.split_once('=').context("no `=` in the example")?;
    // Rules are for a gateway.
    let mode = if variable.0.starts_with("GATEWAY_") { "gateway" } else { "router" };
    let base = [("UPSTREAM_CHEM_URL", "http://127.0.0.1:1"), ("CONNECTOR_MODE", mode)];
    let others = base.into_iter().filter(|(name, _)| *name != variable.0);
    let variables: Vec<_> = others.chain([variable]).collect();
    run_in(scratch.path(), &variables, &["check"]).await
}

async fn ensure_true(row: &Row) -> Result<()> {
    let output = check(row).await?;
    let (place, code) = match row.fate.as_str() {
        "honoured" => {
            ensure!(!output.stdout.contains("warning: "), "{output:?}");
            (&output.stdout, 0)
        }
        "ignored" => (&output.stdout, 0),
        "not yet" | "refused" => (&output.stderr, 1),
        other => bail!("`{other}` is no fate"),
    };
    ensure!(output.status.code() == Some(code), "{output:?}");
    let mut lines = place.lines().filter(|line| line.contains(&row.says));
    let line = lines.next().with_context(|| format!("no `{}` in {output:?}", row.says))?;
    match row.fate.as_str() {
        "ignored" => {
            let name = row.example.split('=').next().unwrap_or_default();
            ensure!(line.starts_with(&format!("warning: `{name}` ")), "{line}");
        }
        "not yet" | "refused" => ensure!(line.starts_with("error: "), "{line}"),
        _ => {}
    }
    Ok(())
}

#[tokio::test]
async fn every_row_of_the_page_is_true() -> Result<()> {
    let rows = rows()?;
    for heading in ["RouterConfig", "GatewayConfig", "DispatcherConfig", "Environment"] {
        let count = rows.iter().filter(|row| row.heading == heading).count();
        ensure!(count >= 5, "only {count} rows under {heading}");
    }
    ensure!(rows.len() >= 60, "only {} rows were read", rows.len());
    for row in &rows {
        ensure_true(row).await.with_context(|| format!("`{}`, {}", row.word, row.example))?;
    }
    Ok(())
}

#[tokio::test]
async fn the_file_that_the_guide_shows_is_taken() -> Result<()> {
    let page = fs::read_to_string(binary::repository().join("docs/from-agora.md"))?;
    let (_, rest) = page.split_once("```yaml\n").context("no file in the guide")?;
    let (text, _) = rest.split_once("```").context("the file has no end")?;
    let scratch = Scratch::new()?;
    scratch.write("hub.yaml", text)?;
    let output = run_in(scratch.path(), &[], &["check", "hub.yaml"]).await?;
    ensure!(output.status.success() && !output.stdout.contains("warning: "), "{output:?}");
    for part in [
        "upstream chem: http://chem:8000/, with the client's credential; prefix always, offers only \
         parse_* (its functions, where it runs code); away for 10s before clients see it",
        "upstream gis: http://gis:8000/; prefix always",
    ] {
        ensure!(output.stdout.contains(part), "no `{part}` in\n{}", output.stdout);
    }
    Ok(())
}
