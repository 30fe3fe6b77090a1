//! Ids that a server invents belong to the caller who got them.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    plugway::Setup,
    tokens::{ANN, BOB, auth_yaml, identified},
    workbench::{CodeServer, Driven, Speaks, Workbench, text_of},
};
use serde_json::{Value, json};

/// What one caller was given at `gis`.
pub(crate) struct Given {
    pub(crate) session: Value,
    pub(crate) job: Value,
    pub(crate) batch: Value,
}

pub(crate) fn member(said: &Value, name: &str) -> Result<Value> {
    said.get(name).cloned().with_context(|| format!("no {name} in {said}"))
}

/// A session with a variable, a job and a batch, all of them under way.
pub(crate) async fn begun(client: &mut Driven) -> Result<Given> {
    let code = "import time\nsecret = 'only mine'\ntime.sleep(90)";
    let promoted = client.json("execute_gis_code", json!({"code": code})).await?;
    let twice = json!({"code": "import time\ntime.sleep(90)", "inputs": [{"n": 1}]});
    let batch = client.json("gis_parallel_execute", twice).await?;
    Ok(Given {
        session: member(&promoted, "session_id")?,
        job: member(&promoted, "job_id")?,
        batch: member(&batch, "batch_id")?,
    })
}

/// An id of the same form that nobody has.
fn nobodys(id: &Value) -> Value {
    let turned = |letter: char| match letter {
        '0'..='8' => char::from_u32(u32::from(letter) + 1).unwrap_or(letter),
        '9' => '0',
        other => other,
    };
    json!(id.as_str().unwrap_or_default().chars().map(turned).collect::<String>())
}

/// Every way to ask for what an id names.
fn ways(given: &Given) -> Vec<(&'static str, &'static str, Value, Value)> {
    let session = || given.session.clone();
    vec![
        ("gis_inspect_session", "session_id", session(), json!({})),
        ("gis_get_session_info", "session_id", session(), json!({})),
        ("gis_close_session", "session_id", session(), json!({})),
        ("execute_gis_code", "execution_session_id", session(), json!({"code": "print(secret)"})),
        ("gis_check_job", "job_id", given.job.clone(), json!({})),
        ("gis_check_batch", "batch_id", given.batch.clone(), json!({})),
        ("gis_cancel_batch", "batch_id", given.batch.clone(), json!({})),
    ]
}

async fn asked(
    client: &mut Driven,
    (tool, name, id, more): &(&'static str, &'static str, Value, Value),
    own: bool,
) -> Result<String> {
    let mut arguments = more.clone();
    let id = if own { id.clone() } else { nobodys(id) };
    arguments.as_object_mut().context("no object")?.insert((*name).to_owned(), id.clone());
    let result = client.call(tool, arguments).await?;
    let id = id.as_str().context("no id")?;
    Ok(text_of(&result)?.replace(id, "<id>"))
}

/// To a stranger everything is as if it had never been, and nothing happens to it.
pub(crate) async fn hidden(stranger: &mut Driven, given: &Given) -> Result<()> {
    for way in ways(given) {
        let theirs = asked(stranger, &way, true).await?;
        let nobodys = asked(stranger, &way, false).await?;
        ensure!(theirs == nobodys, "{}: {theirs}\nand of nobody's\n{nobodys}", way.0);
        ensure!(!theirs.contains("only mine"), "{}: {theirs}", way.0);
    }
    let listed = stranger.json("gis_list_sessions", json!({"summary_only": false})).await?;
    ensure!(listed.get("count").is_some_and(|count| count == 0), "{listed}");
    ensure!(listed.get("sessions").is_some_and(|list| list == &json!([])), "{listed}");
    Ok(())
}

/// To its owner everything is there.
async fn kept(owner: &mut Driven, given: &Given) -> Result<()> {
    let listed = owner.json("gis_list_sessions", json!({})).await?;
    let sessions = listed.get("sessions").and_then(Value::as_array).context("no list")?;
    let is_own = |session: &Value| session.get("session_id") == Some(&given.session);
    ensure!(sessions.iter().any(is_own), "{listed}");
    ensure!(listed.get("count") == Some(&json!(sessions.len())), "{listed}");
    let job = owner.json("gis_check_job", json!({"job_id": given.job})).await?;
    ensure!(job.get("status").is_some_and(|status| status == "running"), "{job}");
    let batch = json!({"batch_id": given.batch});
    let running = owner.json("gis_check_batch", batch.clone()).await?;
    ensure!(running.get("running").is_some_and(|count| count == 1), "{running}");
    let cancelled = owner.json("gis_cancel_batch", batch).await?;
    ensure!(cancelled.get("batch_id") == Some(&given.batch), "{cancelled}");
    Ok(())
}

pub(crate) async fn start(gis: &CodeServer, is_known: bool) -> Result<Plugway> {
    let auth = if is_known { auth_yaml() } else { String::new() };
    let text = format!("name: hub\n{auth}upstreams: [{{name: gis, url: '{}'}}]\n", gis.url());
    identified(Setup::new(text), &json!({})).start().await
}

#[tokio::test]
async fn peer_workbench_ids_of_others_are_unknown() -> Result<()> {
    let workbench = Workbench::find()?;
    let (_chem, gis) = workbench.pair().await?;
    let (known, anonymous) = (start(&gis, true).await?, start(&gis, false).await?);
    for (plugway, speaks, owner, stranger) in [
        (&known, Speaks::LEGACY, Some(ANN), Some(BOB)),
        (&known, Speaks::MODERN, Some(ANN), Some(BOB)),
        (&anonymous, Speaks::LEGACY, None, None),
    ] {
        let url = plugway.mcp_url();
        let mut owner = workbench.client(speaks, &url, owner).await?;
        let mut stranger = workbench.client(speaks, &url, stranger).await?;
        let given = begun(&mut owner).await?;
        hidden(&mut stranger, &given).await.with_context(|| format!("{speaks:?}"))?;
        kept(&mut owner, &given).await.with_context(|| format!("{speaks:?}"))?;
    }
    // Without sessions and identity an id is the key, and no list gives it away.
    let mut owner = workbench.client(Speaks::MODERN, &anonymous.mcp_url(), None).await?;
    let given = begun(&mut owner).await?;
    let mut stranger = workbench.client(Speaks::MODERN, &anonymous.mcp_url(), None).await?;
    let listed = stranger.json("gis_list_sessions", json!({})).await?;
    ensure!(listed.get("count").is_some_and(|count| count == 0), "{listed}");
    let job = owner.json("gis_check_job", json!({"job_id": given.job})).await?;
    ensure!(job.get("status").is_some_and(|status| status == "running"), "{job}");
    Ok(())
}
