//! Bridges that begin or end nowhere: at a start, at a reload, and when a server comes later.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Coder, Plugway, plugway::Setup, wait};
use serde_json::{Value, json};

use super::{BOUND, ask, chem, gis, of_gis, often};

const SENTENCE: &str = "Invalid bridge edge in 'hub' config: from_state 'chem.nope' not found in any upstream's \
                        state_produces; to_state 'gis.nope' not found in any upstream's state_requires";

/// A `RouterConfig` of agora-workbench with these bridges.
fn config(chem: &str, gis: &str, from: &str, to: &str) -> String {
    let upstream = |name: &str, url: &str| {
        let mut upstream = json!({"name": name, "url": url});
        if let (Some(upstream), Value::Object(often)) = (upstream.as_object_mut(), often()) {
            upstream.extend(often);
        }
        upstream
    };
    let bridges = json!([{"from_state": from, "to_state": to, "description": "Pass on"}]);
    let upstreams = [upstream("chem", chem), upstream("gis", gis)];
    json!({"form": "agora", "name": "hub", "upstreams": upstreams, "bridges": bridges}).to_string()
}

async fn degraded(plugway: &Plugway) -> Result<String> {
    let ready = plugway.get("/ready").await?.json()?;
    Ok(ready.get("degraded").context("no `degraded`")?.to_string())
}

#[tokio::test]
async fn a_start_and_a_reload_with_one_are_refused_with_the_documented_sentence() -> Result<()> {
    let (chem, gis) = (chem().await?, gis().await?);
    let of = |from: &str, to: &str| config(&chem.url(), &gis.url(), from, to);
    let output = Setup::new(of("chem.nope", "gis.nope")).serve_to_its_end().await?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(output.stderr.contains(&format!("error: {SENTENCE}\n")), "{}", output.stderr);
    ensure!(!output.stderr.contains("listening"), "{}", output.stderr);

    let plugway = Plugway::start(of("chem.described", "gis.loaded")).await?;
    let client = plugway.modern();
    let overview = ask(&client, "plan_hub_workflow", json!({})).await?;
    ensure!(overview["bridges"][0]["description"] == "Pass on", "{overview}");
    ensure!(degraded(&plugway).await? == "[]");
    plugway.reconfigure(&of("chem.nope", "gis.nope"))?;
    plugway.logged(SENTENCE, BOUND).await?;
    wait::until("/ready says it", BOUND, async || {
        Ok(degraded(&plugway).await?.contains(SENTENCE).then_some(()))
    })
    .await?;
    // What was served is served.
    ensure!(ask(&client, "plan_hub_workflow", json!({})).await? == overview);
    Ok(())
}

#[tokio::test]
async fn one_to_a_server_that_is_down_is_judged_when_it_comes_and_nothing_dies() -> Result<()> {
    for (to, good) in [("gis.loaded", true), ("gis.nope", false)] {
        let (chem, gis) = (chem().await?, gis().await?);
        let address = gis.address().to_string();
        let setup = Setup::new(config(&chem.url(), &gis.url(), "chem.described", to));
        drop(gis);
        let plugway = setup.absent("gis").start().await?;
        let client = plugway.modern();
        let overview = ask(&client, "plan_hub_workflow", json!({})).await?;
        ensure!(overview.get("bridges").is_none(), "{overview}");
        ensure!(degraded(&plugway).await? == "[]");
        let _gis = Coder::start_at(&address, "gis", &of_gis()).await?;
        if good {
            wait::until("the bridge is there", BOUND, async || {
                let overview = ask(&client, "plan_hub_workflow", json!({})).await?;
                Ok((overview["bridges"][0]["to"] == "gis.loaded").then_some(()))
            })
            .await?;
            ensure!(degraded(&plugway).await? == "[]");
            continue;
        }
        let sentence = "Invalid bridge edge in 'hub' config: to_state 'gis.nope' not found in any upstream's state_requires";
        wait::until("/ready says it", BOUND, async || {
            Ok(degraded(&plugway).await?.contains(sentence).then_some(()))
        })
        .await?;
        ensure!(plugway.get("/ready").await?.status == 200);
        let said = plugway.stderr().iter().filter(|line| line.contains(sentence)).count();
        ensure!(said == 1, "{said} lines");
        let overview = ask(&client, "plan_hub_workflow", json!({})).await?;
        ensure!(
            overview.get("bridges").is_none() && overview.to_string().contains("map_points"),
            "{overview}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn one_to_a_server_whose_catalogue_cannot_be_read_yet_waits_for_it() -> Result<()> {
    let (chem, gis) = (chem().await?, gis().await?);
    gis.shows((500, "text/plain", String::new()));
    let text = config(&chem.url(), &gis.url(), "chem.described", "gis.loaded");
    let plugway = Plugway::start(text).await?;
    ensure!(degraded(&plugway).await? == "[]");
    gis.shows(plugway_tests::coder::page(&plugway_tests::coder::catalogue("gis", &of_gis())));
    wait::until("the bridge is there", BOUND, async || {
        let overview = ask(&plugway.modern(), "plan_hub_workflow", json!({})).await?;
        Ok((overview["bridges"][0]["to"] == "gis.loaded").then_some(()))
    })
    .await
}
