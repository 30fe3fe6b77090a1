//! Files of the audit: put aside, full, required, and verified.

use std::{fs, os::unix::fs::symlink, time::Duration};

use anyhow::{Result, ensure};
use plugway_tests::plugway::{Setup, run};
use plugway_tests::scratch::Scratch;
use plugway_tests::{Plugway, Scripted, audit, metrics, process, wait};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{call, scripted};

const BOUND: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_file_that_is_put_aside_by_others_is_followed_on_sighup() -> Result<()> {
    let (_server, plugway) = scripted(json!({"chain": true})).await?;
    let client = plugway.modern();
    client.call_tool("up_json", json!({})).await?;
    audit::until(&plugway, "call", 1).await?;
    let file = plugway.folder().join(audit::FILE);
    fs::rename(&file, plugway.folder().join("audit.jsonl.moved"))?;
    process::signal(plugway.pid()?, Signal::HUP)?;
    wait::until("the file is there again", BOUND, async || Ok(file.exists().then_some(()))).await?;
    client.call_tool("up_json", json!({})).await?;
    audit::until(&plugway, "call", 1).await?;
    let (folder, lines) = plugway_tests::soak::audit::stopped(plugway).await?;
    let calls = lines.iter().filter(|line| line["kind"] == "call").count();
    ensure!(calls == 2, "{lines:?}");
    let verified = audit::verify(&folder.0, &["--closed"]).await?;
    ensure!(verified.status.success() && verified.stdout.starts_with("ok: "), "{verified:?}");
    Ok(())
}

/// plugway whose audit goes where nothing can be written, until the link leads elsewhere.
async fn full(required: bool) -> Result<(Scripted, Plugway, Scratch)> {
    let (server, folder) = (Scripted::start().await?, Scratch::new()?);
    let link = folder.path().join("link");
    symlink("/dev/full", &link)?;
    let configuration = json!({
        "name": "hub", "audit": {"file": link, "required": required},
        "upstreams": [{"name": "up", "url": server.url()}],
    });
    let plugway = Setup::new(configuration.to_string()).start().await?;
    plugway.logged("the audit cannot be written", BOUND).await?;
    Ok((server, plugway, folder))
}

#[tokio::test]
async fn a_full_disk_is_said_and_calls_go_on() -> Result<()> {
    let (_server, plugway, _folder) = full(false).await?;
    ensure!(plugway.modern().call_text("up_json", json!({})).await? == "json");
    let ready = plugway.get("/ready").await?.json()?;
    ensure!(ready["degraded"].to_string().contains("the audit cannot be written"), "{ready}");
    ensure!((metrics::sum(&plugway, "plugway_audit_failing", &[]).await? - 1.0).abs() < 0.1);
    Ok(())
}

#[tokio::test]
async fn calls_are_refused_where_the_audit_is_required_until_it_can_be_written() -> Result<()> {
    let (server, plugway, folder) = full(true).await?;
    let client = plugway.modern();
    let refused = client.call("tools/call", call("up_json", &json!({}))).await?;
    ensure!(refused.status == 503, "{} {}", refused.status, refused.text);
    ensure!(
        refused.response()?["error"]["data"]["code"] == "audit-unavailable",
        "{}",
        refused.text
    );
    ensure!(server.calls() == 0, "the server was asked all the same");
    // What is no call is served.
    ensure!(client.call("tools/list", json!({})).await?.status == 200);
    let link = folder.path().join("link");
    fs::remove_file(&link)?;
    symlink(plugway.folder().join(audit::FILE), &link)?;
    process::signal(plugway.pid()?, Signal::HUP)?;
    plugway.logged("the audit can be written again", BOUND).await?;
    ensure!(client.call_text("up_json", json!({})).await? == "json");
    // What could not be written was kept: the first line, and that of the refused call.
    let calls = audit::until(&plugway, "call", 2).await?;
    ensure!(calls[0]["fault"] == "audit-unavailable" && calls[0]["verdict"] == "refused");
    ensure!(audit::of_kind(&plugway, "start")?.len() == 1);
    Ok(())
}

#[tokio::test]
async fn a_file_that_cannot_be_opened_keeps_plugway_from_starting() -> Result<()> {
    let audit = |audit: Value| {
        let upstreams = json!([{"name": "up", "url": "http://127.0.0.1:1/mcp"}]);
        Setup::new(json!({"name": "hub", "audit": audit, "upstreams": upstreams}).to_string())
    };
    let ended = audit(json!({"file": "none/audit.jsonl"})).serve_to_its_end().await?;
    ensure!(ended.status.code() == Some(1), "{ended:?}");
    ensure!(ended.stderr.contains("the audit cannot be written to"), "{}", ended.stderr);
    let (_folder, mut command) = audit(json!({"stdout": true})).stdio(&[])?;
    let ended = command.output().await?;
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    ensure!(ended.status.code() == Some(1) && said.contains("`audit.stdout`"), "{said}");
    Ok(())
}

#[tokio::test]
async fn verify_names_the_first_line_that_is_not_as_it_was_written() -> Result<()> {
    let key = json!({"chain": true, "digest_key": "0123456789abcdef"});
    let (_server, plugway) = scripted(key).await?;
    for _ in 0..5 {
        plugway.modern().call_tool("up_json", json!({})).await?;
    }
    let (folder, _) = plugway_tests::soak::audit::stopped(plugway).await?;
    let key = ["--key", "env://KEY"];
    let whole = audit::verify(&folder.0, &[&key[..], &["--closed"]].concat()).await?;
    ensure!(whole.status.success() && whole.stdout.contains("7 lines"), "{whole:?}");
    let without = audit::verify(&folder.0, &[]).await?;
    ensure!(without.status.code() == Some(1) && without.stderr.contains("--key"), "{without:?}");
    let file = folder.0.join(audit::FILE);
    let text = fs::read_to_string(&file)?;
    let changed = text.replacen("\"outcome\":\"ok\"", "\"outcome\":\"no\"", 1);
    fs::write(&file, changed)?;
    let broken = audit::verify(&folder.0, &key).await?;
    ensure!(broken.status.code() == Some(1) && broken.stderr.contains("line 2: "), "{broken:?}");
    let cut: String = text.split_inclusive('\n').take(6).collect();
    fs::write(&file, cut)?;
    let open = audit::verify(&folder.0, &key).await?;
    ensure!(open.status.success() && open.stdout.contains("not closed"), "{open:?}");
    let open = audit::verify(&folder.0, &[&key[..], &["--closed"]].concat()).await?;
    ensure!(open.status.code() == Some(1), "{open:?}");
    let nothing = run(&["audit", "verify", "/nonexistent/audit"]).await?;
    ensure!(nothing.status.code() == Some(1), "{nothing:?}");
    Ok(())
}
