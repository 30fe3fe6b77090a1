//! Plugins that never load: `serve` and `check` end with the documented status and one clear sentence.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Guest, Hub,
    plugway::{Output, Setup},
};
use serde_json::json;

/// The documented exit status for a configured plugin that does not load.
const REFUSED: i32 = 4;

/// One configuration that must be refused, and what the sentence must name.
struct Row {
    what: &'static str,
    setup: Setup,
    says: Vec<&'static str>,
}

fn before_nothing() -> Hub {
    Hub::before("http://127.0.0.1:9/mcp")
}

/// A guest as a policy; the sentence must name it.
fn policy(component: &'static str, says: &[&'static str]) -> Result<Row> {
    changed(component, component, Guest::new(component), says)
}

fn changed(
    what: &'static str,
    component: &'static str,
    guest: Guest,
    says: &[&'static str],
) -> Result<Row> {
    let setup = before_nothing().policy(guest).setup()?;
    Ok(Row { what, setup, says: [&[component], says].concat() })
}

/// A policy called `odd` whose file holds these bytes.
fn file(what: &'static str, content: &[u8], says: &[&'static str]) -> Result<Row> {
    let guest = Guest::new("admit_reject").named("odd");
    let setup = before_nothing().policy(guest).setup()?.file("odd.wasm", content);
    Ok(Row { what, setup, says: [&["odd"], says].concat() })
}

fn check(what: &str, says: &[&str], output: &Output) -> Result<()> {
    let said = &output.stderr;
    ensure!(output.status.code() == Some(REFUSED), "{what}: {} {said}", output.status);
    for word in says {
        ensure!(said.contains(word), "{what}: `{word}` is not said: {said}");
    }
    ensure!(!said.contains("panicked") && !said.contains("backtrace"), "{what}: {said}");
    let line = said
        .lines()
        .find(|line| says.first().is_some_and(|name| line.contains(name)))
        .context("no line names it")?;
    ensure!(line.len() < 600, "{what}: {line}");
    Ok(())
}

async fn check_all(rows: Vec<Row>) -> Result<()> {
    for Row { what, setup, says } in rows {
        check(what, &says, &setup.check().await.context(what)?)?;
        check(what, &says, &setup.serve_to_its_end().await.context(what)?)?;
    }
    Ok(())
}

#[tokio::test]
async fn what_the_contract_does_not_have_is_refused_by_name() -> Result<()> {
    check_all(vec![
        policy("exports_dispatcher", &["plugway:plugin/", "not served"])?,
        policy("exports_transfer", &["plugway:plugin/", "not served"])?,
        policy("no_kind", &["exports no hook", "`admission`"])?,
        policy("two_kinds", &["router", "policy", "two plugins"])?,
        policy("ungranted_fetch", &["plugway:plugin/fetch@"])?,
        policy("unknown_import", &["acme:things/oracle@1.0.0"])?,
        policy("wrong_version", &["plugway:plugin/admission@0.9.0", "0.1"])?,
    ])
    .await
}

#[tokio::test]
async fn a_plugin_that_cannot_be_configured_is_refused_with_the_key() -> Result<()> {
    let unknown = Guest::new("admit_answer").config(json!({"text": "x", "texd": "y"}));
    check_all(vec![
        policy("bad_config", &["configuration", "limits.rules[2].rate", "must be above 0"])?,
        policy("configure_loops", &["configure", "longer than it may"])?,
        policy("admit_answer", &["configuration", "text"])?,
        changed("an unknown key", "admit_answer", unknown, &["texd"])?,
    ])
    .await
}

#[tokio::test]
async fn what_is_no_component_is_refused_as_what_it_is() -> Result<()> {
    let native = b"\x7fELF and so on";
    let large = vec![0; (32 << 20) + 1];
    check_all(vec![
        file("an empty file", b"", &["component"])?,
        file("garbage", b"this is no component", &["component", "wasm32-wasip2"])?,
        file("a core module", b"\0asm\x01\0\0\0", &["core module", "wasm32-wasip2"])?,
        file("native code", native, &["precompiled"])?,
        file("a broken component", b"\0asm\x0d\0\x01\0broken", &["compile"])?,
        file("too large", &large, &["33554433", "33554432"])?,
    ])
    .await
}

#[tokio::test]
async fn a_file_that_is_not_the_pinned_one_or_not_there_is_refused() -> Result<()> {
    let zeros = format!("sha256:{}", "0".repeat(64));
    let pinned = Guest::new("admit_reject").with("digest", json!(zeros));
    let missing = Guest::new("admit_reject").with("file", json!("nothing.wasm"));
    check_all(vec![
        changed("a wrong digest", "admit_reject", pinned, &["sha256:000000", "pins"])?,
        changed("a missing file", "admit_reject", missing, &["nothing.wasm"])?,
    ])
    .await
}

#[tokio::test]
async fn what_others_may_write_is_refused() -> Result<()> {
    let guest = Guest::new("admit_reject");
    let plain = before_nothing().policy(guest.clone()).setup()?;
    let (name, bytes) = (guest.file(), guest.bytes()?);
    let with_mode = |mode| plain.clone().file_with_mode(&name, bytes.clone(), mode);
    let row = |what, setup, says| Row { what, setup, says };
    check_all(vec![
        row("a file of a group", with_mode(0o664), vec!["admit_reject.wasm", "group"]),
        row("a file of everybody", with_mode(0o646), vec!["admit_reject.wasm", "everybody"]),
        row("a folder of a group", plain.clone().folder_mode(0o770), vec!["admit_reject", "group"]),
        row(
            "a folder of everybody",
            plain.clone().folder_mode(0o707),
            vec!["admit_reject", "everybody"],
        ),
    ])
    .await
}

#[tokio::test]
async fn a_plugin_of_another_kind_is_refused() -> Result<()> {
    let as_router = before_nothing().router(Guest::new("admit_reject")).setup()?;
    let as_policy = before_nothing().policy(Guest::new("route_dynamic")).setup()?;
    check_all(vec![
        Row {
            what: "a policy as router",
            setup: as_router,
            says: vec!["admit_reject", "policy", "router"],
        },
        Row {
            what: "a router as policy",
            setup: as_policy,
            says: vec!["route_dynamic", "policy", "router"],
        },
    ])
    .await
}

#[tokio::test]
async fn what_is_right_is_checked_without_a_word_of_complaint() -> Result<()> {
    let output = before_nothing().policy(Guest::new("admit_reject")).setup()?.check().await?;
    ensure!(output.status.success(), "{}", output.stderr);
    ensure!(output.stdout.contains("admit_reject"), "{}", output.stdout);
    ensure!(output.stdout.contains("sha256:"), "{}", output.stdout);
    Ok(())
}
