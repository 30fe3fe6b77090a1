//! Two servers that run code, the reference server and a FastMCP server behind one connector.

use std::time::Duration;

use anyhow::{Result, ensure};
use plugway_tests::{
    Plugway,
    peers::Peers,
    rpc, wait,
    workbench::{Driven, Speaks, Workbench, text_of},
};

const BOUND: Duration = Duration::from_secs(20);

/// Keys of an upstream that is watched closely and soon counts as away.
const CLOSELY: &str = "stale_for: 200ms, health_check_interval: 100ms, health_check_timeout: 1s, reconnect: {initial: 100ms, max: 200ms}";

/// A call of each server, and what it answers.
const CALLS: [(&str, &str, &str); 4] = [
    ("execute_chem_code", r#"{"code": "print(6 * 7)"}"#, "42"),
    ("execute_gis_code", r#"{"code": "print(3 * 5)"}"#, "15"),
    ("everything_echo", r#"{"message": "hi"}"#, "Echo: hi"),
    ("fast_multiply", r#"{"a": 6, "b": 7}"#, "42"),
];

async fn answers(client: &mut Driven, is_away: bool) -> Result<()> {
    for (tool, arguments, wanted) in CALLS {
        let result = client.call(tool, serde_json::from_str(arguments)?).await?;
        let is_error = result.get("isError").is_some_and(|is_error| is_error == true);
        let is_chem = tool == "execute_chem_code";
        ensure!(is_error == (is_away && is_chem), "{tool}: {result}");
        let wanted = if is_error { "The server \"chem\" is away" } else { wanted };
        ensure!(text_of(&result)?.contains(wanted), "{tool}: {result}");
    }
    Ok(())
}

/// Waits until both clients list exactly these, in this order.
async fn until_listed(clients: &[rpc::Client; 2], names: &[String]) -> Result<()> {
    for client in clients {
        wait::until("the names are listed", BOUND, async || {
            Ok((client.tool_names().await? == names).then_some(()))
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn peer_workbench_server_leaves_and_returns_among_others() -> Result<()> {
    let (workbench, peers) = (Workbench::find()?, Peers::find()?);
    let (mut chem, gis) = workbench.pair().await?;
    let (everything, fast) = (peers.everything().await?, peers.fastmcp_server().await?);
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams:\n- {{name: everything, url: '{}'}}\n- {{name: chem, url: '{}', {CLOSELY}}}\n- {{name: gis, url: '{}'}}\n- {{name: fast, url: '{}'}}\n",
        everything.url(),
        chem.base(),
        gis.base(),
        fast.url()
    ))
    .await?;
    let watching = [plugway.legacy().await?, plugway.modern()];
    let mut clients = Vec::new();
    for speaks in Speaks::ALL {
        clients.push(workbench.client(speaks, &plugway.mcp_url(), None).await?);
    }
    let all = watching[1].tool_names().await?;
    let is_of = |server: &str, name: &str| name.split('_').any(|word| word == server);
    for server in ["chem", "gis"] {
        ensure!(all.iter().filter(|name| is_of(server, name)).count() == 13, "{all:?}");
    }
    let others: Vec<String> = all.iter().filter(|name| !is_of("chem", name)).cloned().collect();
    for client in &mut clients {
        ensure!(client.tool_names().await? == all, "{:?}", client.speaks());
        answers(client, false).await?;
    }
    until_listed(&watching, &all).await?;

    chem.stop().await?;
    until_listed(&watching, &others).await?;
    for client in &mut clients {
        answers(client, true).await?;
    }
    chem.start_again().await?;
    until_listed(&watching, &all).await?;
    for client in &mut clients {
        ensure!(client.tool_names().await? == all, "{:?}", client.speaks());
        answers(client, false).await?;
    }
    Ok(())
}
