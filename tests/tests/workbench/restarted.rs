//! A server that runs code is killed and started again while clients use it.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    workbench::{Domain, Door, Driven, Mode, Speaks, Workbench},
};
use serde_json::{Value, json};

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
