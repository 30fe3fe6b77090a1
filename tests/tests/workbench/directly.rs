//! Through plugway, under other names, servers that run code are what they are directly.

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join;
use plugway_tests::{
    Plugway,
    plugway::Setup,
    tokens::{ANN, auth_yaml, identified},
    workbench::{CodeServer, Domain, Driven, Speaks, Workbench},
};
use serde_json::{Value, json};

use crate::{alike::alike, tour::tour};

/// What the servers are called here: not what they call themselves.
const SHOWN: [(Domain, &str); 2] = [(Domain::Chem, "lab"), (Domain::Gis, "maps")];

fn before(chem: &CodeServer, gis: &CodeServer) -> String {
    format!(
        "name: hub\nstatus: false\n{}upstreams:\n- {{name: lab, url: '{}'}}\n- {{name: maps, url: '{}'}}\n",
        auth_yaml(),
        chem.url(),
        gis.base()
    )
}

/// A tool without its name, and its name under another name of the server.
fn renamed(tool: &Value, from: &str, to: &str) -> Result<(String, Value)> {
    let mut tool = tool.clone();
    let members = tool.as_object_mut().context("a tool is an object")?;
    let name = members.remove("name").and_then(|name| name.as_str().map(str::to_owned));
    let name = name.context("a tool has a name")?;
    let words: Vec<&str> =
        name.split('_').map(|word| if word == from { to } else { word }).collect();
    Ok((words.join("_"), tool))
}

/// Every tool of the server is there, whole and in its order, but for the name.
fn same_tools(direct: &[Value], through: &[Value], own: &str, shown: &str) -> Result<()> {
    let direct = direct.iter().map(|tool| renamed(tool, own, shown)).collect::<Result<Vec<_>>>()?;
    let mut seen = Vec::new();
    for tool in through {
        let (name, rest) = renamed(tool, "", "")?;
        if name.split('_').any(|word| word == shown) {
            seen.push((name, rest));
        }
    }
    ensure!(direct.len() == 13, "{} tools of {own}", direct.len());
    for (direct, seen) in direct.iter().zip(&seen) {
        ensure!(direct == seen, "directly {direct:?}\nthrough plugway {seen:?}");
    }
    ensure!(direct.len() == seen.len(), "{} of {} tools", seen.len(), direct.len());
    Ok(())
}

async fn compare(
    workbench: &Workbench,
    server: &CodeServer,
    plugway: &Plugway,
    speaks: Speaks,
    (domain, shown): (Domain, &str),
) -> Result<()> {
    // The server asks nobody who they are.
    let mut direct = workbench.client(speaks, &server.url(), None).await?;
    let mut through = workbench.client(speaks, &plugway.mcp_url(), Some(ANN)).await?;
    same_tools(&direct.tools().await?, &through.tools().await?, domain.name(), shown)?;
    let left = tour(&mut direct, domain, domain.name()).await?;
    let right = tour(&mut through, domain, shown).await?;
    alike(&format!("{domain:?} of {speaks:?}"), &left, &right)
}

async fn introduced(client: &mut Driven) -> Result<()> {
    let about = client.about().await?;
    let wanted = if client.speaks().is_modern { "2026-07-28" } else { "2025-11-25" };
    ensure!(about.get("protocolVersion").is_some_and(|version| version == wanted), "{about}");
    ensure!(about.pointer("/capabilities/tools") == Some(&json!({"listChanged": true})), "{about}");
    Ok(())
}

/// Everything, with both clients of an era.
async fn compared(is_modern: bool) -> Result<()> {
    let workbench = Workbench::find()?;
    let (chem, gis) = workbench.pair().await?;
    let setup = Setup::new(before(&chem, &gis));
    let plugway = identified(setup, &json!({})).start().await?;
    let [lab, maps] = SHOWN;
    for speaks in Speaks::ALL.into_iter().filter(|speaks| speaks.is_modern == is_modern) {
        let of_chem = compare(&workbench, &chem, &plugway, speaks, lab);
        if speaks.client == "mcp" {
            let of_gis = compare(&workbench, &gis, &plugway, speaks, maps);
            try_join(of_chem, of_gis).await?;
            let mut client = workbench.client(speaks, &plugway.mcp_url(), Some(ANN)).await?;
            introduced(&mut client).await?;
        } else {
            of_chem.await?;
        }
    }
    ensure!(plugway.stop().await?.success());
    Ok(())
}

#[tokio::test]
async fn peer_workbench_answers_sessions_through_plugway_as_it_answers_directly() -> Result<()> {
    Box::pin(compared(false)).await
}

#[tokio::test]
async fn peer_workbench_answers_without_sessions_as_it_answers_directly() -> Result<()> {
    Box::pin(compared(true)).await
}
