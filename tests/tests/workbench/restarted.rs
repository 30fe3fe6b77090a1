//! A server that runs code is killed and started again while clients use it.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    scratch::Scratch,
    tokens::{ANN, BOB},
    wait,
    workbench::{CodeServer, Domain, Door, Driven, Mode, Speaks, Workbench, text_of},
};
use serde_json::{Value, json};

use crate::owners::{begun, hidden, start};

/// A kernel starts in the call.
const BEGUN_WITHIN: Duration = Duration::from_mins(1);

const CODE: &str = "try:\n    x += 1\nexcept NameError:\n    x = 1\nprint(x)";

/// How often this session ran the code, and the session.
async fn count(client: &mut Driven, session: Option<&str>) -> Result<(String, String)> {
    let arguments = json!({"code": CODE, "execution_session_id": session});
    let said = client.json("execute_chem_code", arguments).await?;
    let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
    let printed = text("stdout").with_context(|| format!("{said}"))?;
    Ok((printed.trim().to_owned(), text("session_id").with_context(|| format!("{said}"))?))
}

#[tokio::test]
async fn peer_workbench_server_that_was_restarted_is_called_at_once() -> Result<()> {
    let workbench = Workbench::find()?;
    let mut chem = workbench.server(Domain::Chem, Mode::Sync, Door::Open).await?;
    let plugway =
        Plugway::start(format!("name: hub\nupstreams: [{{name: chem, url: '{}'}}]\n", chem.url()))
            .await?;
    let mut legacy = workbench.client(Speaks::LEGACY, &plugway.mcp_url(), None).await?;
    let mut modern = workbench.client(Speaks::MODERN, &plugway.mcp_url(), None).await?;
    let (first, old) = count(&mut legacy, None).await?;
    let (second, same) = count(&mut legacy, None).await?;
    ensure!((first.as_str(), second.as_str()) == ("1", "2") && old == same, "{second} in {same}");
    let (_, kept) = count(&mut modern, None).await?;
    ensure!(count(&mut modern, Some(&kept)).await? == ("2".to_owned(), kept.clone()));

    chem.stop().await?;
    chem.start_again().await?;
    plugway.wait_until_connected(&["chem"]).await?;
    // The session is a new one, at the first call, and is kept from there on.
    let (first, new) = count(&mut legacy, None).await?;
    ensure!(first == "1" && new != old, "{first} in {new}, before {old}");
    ensure!(count(&mut legacy, None).await? == ("2".to_owned(), new));
    let gone = json!({"code": CODE, "execution_session_id": kept});
    let said = modern.json("execute_chem_code", gone).await?;
    ensure!(said.get("success").is_some_and(|success| success == false), "{said}");
    ensure!(said.to_string().contains("not found"), "{said}");
    let (first, new) = count(&mut modern, None).await?;
    ensure!(first == "1");
    ensure!(count(&mut modern, Some(&new)).await? == ("2".to_owned(), new));
    Ok(())
}

/// Code that marks each of its runs in a file, and then takes long; the server is killed when it runs.
async fn killed_in(client: &mut Driven, gis: &mut CodeServer, marks: &Path) -> Result<Value> {
    let code = format!(
        "import time\nwith open({:?}, 'a') as marks:\n    marks.write('x')\ntime.sleep(90)",
        marks.display().to_string()
    );
    let called = client.call("execute_gis_code", json!({"code": code}));
    let killed = async {
        wait::until("the code runs", BEGUN_WITHIN, async || {
            Ok(std::fs::read_to_string(marks).is_ok_and(|text| text == "x").then_some(()))
        })
        .await?;
        gis.stop().await
    };
    let (result, killed) = tokio::join!(called, killed);
    killed?;
    result
}

#[tokio::test]
async fn peer_workbench_ids_stay_whose_they_are_when_the_server_dies_in_a_call() -> Result<()> {
    let (workbench, scratch) = (Workbench::find()?, Scratch::new()?);
    let mut gis = workbench.server(Domain::Gis, Mode::Patient, Door::Open).await?;
    let plugway = start(&gis, true).await?;
    for speaks in [Speaks::LEGACY, Speaks::MODERN] {
        let mut ann = workbench.client(speaks, &plugway.mcp_url(), Some(ANN)).await?;
        let mut bob = workbench.client(speaks, &plugway.mcp_url(), Some(BOB)).await?;
        let given = begun(&mut ann).await?;
        hidden(&mut bob, &given).await.with_context(|| format!("{speaks:?}, before"))?;
        let marks = scratch.path().join(if speaks.is_modern { "modern" } else { "legacy" });
        // In her other session the job runs.
        let mut also_ann = workbench.client(speaks, &plugway.mcp_url(), Some(ANN)).await?;
        let broken = killed_in(&mut also_ann, &mut gis, &marks).await?;
        ensure!(broken.get("isError").is_some_and(|error| error == true), "{broken}");
        let sentence = text_of(&broken)?;
        for part in ["gis", "broke off"] {
            ensure!(sentence.contains(part), "no `{part}` in {sentence}");
        }

        gis.start_again().await?;
        plugway.wait_until_connected(&["gis"]).await?;
        hidden(&mut bob, &given).await.with_context(|| format!("{speaks:?}, after"))?;
        let job = ann.json("gis_check_job", json!({"job_id": given.job})).await?;
        // The server's own words, about the very id.
        let id = given.job.as_str().context("no id")?;
        let gone = json!({"success": false, "error": format!("Job {id} not found")});
        ensure!(job == gone, "{job}");
        let said = ann.json("execute_gis_code", json!({"code": "print(6 * 7)"})).await?;
        ensure!(said.get("stdout").is_some_and(|out| out == "42\n"), "{said}");
        // Bob, too; nobody's call was sent a second time.
        let said = bob.json("execute_gis_code", json!({"code": "print(6 * 7)"})).await?;
        ensure!(said.get("stdout").is_some_and(|out| out == "42\n"), "{said}");
        ensure!(std::fs::read_to_string(&marks)? == "x", "it was sent again");
        let own = json!({"session_id": said.get("session_id")});
        bob.json("gis_close_session", own).await?;
    }
    Ok(())
}
