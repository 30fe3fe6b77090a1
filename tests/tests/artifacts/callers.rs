//! Who may follow a link.

use anyhow::{Context as _, Result, ensure};
use http::Method;
use plugway_tests::{
    Guest, Hub, Shelf,
    plugway::Setup,
    rpc::Client,
    shelf::CSV,
    tokens::{ANN, ANN_TOO, BOB, auth, auth_yaml, identified},
    wait,
};
use serde_json::{Value, json};

use super::{BOUND, fetch, hub, link, parts, said};

#[tokio::test]
async fn what_is_not_there_and_what_is_somebody_elses_are_the_same() -> Result<()> {
    let shelf = Shelf::start().await?;
    let setup = Setup::new(hub(&shelf, "", &auth_yaml()));
    let plugway = identified(setup, &json!({})).start().await?;
    let ann = Client::modern_as(plugway.address(), "/mcp", ANN);
    let csv = link(&ann, "a.csv").await?;
    let (token, _) = parts(&plugway, &csv)?;
    let base = plugway.base_url();
    let mut refusals = Vec::new();
    for (link, caller) in [
        (csv.clone(), BOB),
        (format!("{base}/artifacts/{token}/b.csv"), ANN),
        (format!("{base}/artifacts/{token}x/a.csv"), ANN),
        (format!("{base}/artifacts/{}/a.csv", "A".repeat(22)), ANN),
        (format!("{base}/artifacts/session-1/a.csv"), ANN),
        (format!("{base}/artifacts//a.csv"), ANN),
        (link(&ann, "gone.csv").await?, ANN),
    ] {
        let answer = fetch(&plugway, Method::GET, &link, Some(caller)).await?;
        refusals.push(said(&answer).with_context(|| link.clone())?);
    }
    ensure!(refusals.iter().all(|one| *one == refusals[0] && one.0 == 404), "{refusals:?}");
    // Who says nothing of who they are hears that they must, whatever they ask for.
    let mut strangers = Vec::new();
    for link in [csv.clone(), format!("{base}/artifacts/x/a.csv")] {
        let answer = fetch(&plugway, Method::GET, &link, None).await?;
        ensure!(answer.header("www-authenticate") == Some("Bearer"), "{:?}", answer.headers);
        strangers.push(said(&answer)?);
    }
    ensure!(strangers[0] == strangers[1] && strangers[0].0 == 401, "{strangers:?}");
    let posted = fetch(&plugway, Method::POST, &csv, Some(ANN)).await?;
    ensure!(posted.status == 405 && posted.header("allow") == Some("GET, HEAD"));
    let own = fetch(&plugway, Method::GET, &csv, Some(ANN)).await?;
    ensure!(own.status == 200 && own.text() == CSV);
    ensure!(own.header("content-type") == Some("text/csv; charset=utf-8"));
    // The same file is another link for another caller.
    let bob = Client::modern_as(plugway.address(), "/mcp", BOB);
    let bobs = link(&bob, "a.csv").await?;
    ensure!(bobs != csv && fetch(&plugway, Method::GET, &bobs, Some(BOB)).await?.status == 200);
    let log = plugway.stderr();
    let lines = log.iter().filter(|line| line.contains("artifact-fetch"));
    let lines: Vec<Value> =
        lines.map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
    let seen: Vec<(&str, &str)> = lines
        .iter()
        .filter_map(|line| Some((line["who"].as_str()?, line["result"].as_str()?)))
        .collect();
    let wanted =
        |who: &str, result: &str| seen.iter().any(|(w, r)| w.contains(who) && *r == result);
    ensure!(wanted("ann", "done") && wanted("bob", "done"), "{seen:?}");
    ensure!(wanted("bob", "refused") && wanted("ann", "failed"), "{seen:?}");
    ensure!(lines.iter().any(|line| line["object"] == "hub/up/a.csv"), "{lines:?}");
    ensure!(
        !log.iter().any(|line| line.contains(token) || line.contains("0a1b2c")),
        "a link is a secret"
    );
    Ok(())
}

#[tokio::test]
async fn whoever_has_a_link_may_follow_it_where_the_operator_says_so() -> Result<()> {
    let shelf = Shelf::start().await?;
    let top = |links: &str| format!("{}artifacts: {{links: {links}}}\n", auth_yaml());
    let setup = Setup::new(hub(&shelf, "", &top("holder")));
    let plugway = identified(setup, &json!({})).start().await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let csv = link(&ann, "a.csv").await?;
    for token in [None, Some(BOB), Some("wrong-0123456789abcdef")] {
        let answer = fetch(&plugway, Method::GET, &csv, token).await?;
        ensure!(answer.status == 200 && answer.text() == CSV, "{token:?}: {}", answer.status);
    }
    ensure!(shelf.fetched().iter().all(|one| !one.headers.contains_key("authorization")));
    // Links outlive a reload, and the rules of today count.
    plugway.reconfigure(&hub(&shelf, "", &top("caller")))?;
    plugway.logged("configuration applied", BOUND).await?;
    ensure!(fetch(&plugway, Method::GET, &csv, None).await?.status == 401);
    ensure!(fetch(&plugway, Method::GET, &csv, Some(BOB)).await?.status == 404);
    ensure!(fetch(&plugway, Method::GET, &csv, Some(ANN)).await?.text() == CSV);
    ensure!(link(&ann, "a.csv").await? == csv);
    plugway.reconfigure(&hub(&shelf, "", &top("untouched")))?;
    wait::until("links are left alone", BOUND, async || {
        Ok((link(&ann, "a.csv").await? == shelf.link("a.csv")).then_some(()))
    })
    .await?;
    ensure!(fetch(&plugway, Method::GET, &csv, Some(ANN)).await?.status == 404);
    Ok(())
}

#[tokio::test]
async fn what_a_caller_may_call_without_a_list_gives_links_that_it_may_follow() -> Result<()> {
    let shelf = Shelf::start().await?;
    let unlists = Guest::new("visibility_by_scope").config(json!({"unlist": ["up_*"]}));
    let plugway = Hub::new("hub").upstream("up", &shelf.url()).policy(unlists).start().await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        let csv = link(&client, "a.csv").await?;
        ensure!(fetch(&plugway, Method::GET, &csv, None).await?.text() == CSV);
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_was_hidden_from_a_caller_since_has_no_files_for_it() -> Result<()> {
    let shelf = Shelf::start().await?;
    let hides =
        Guest::new("visibility_by_scope").config(json!({"hide": ["up_*"], "scope": "write"}));
    let hub = Hub::new("hub").upstream("up", &shelf.url()).policy(hides).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    // The same client with two tokens: what the one may see is hidden from the other.
    let csv = link(&Client::modern_as(plugway.address(), "/mcp", ANN_TOO), "a.csv").await?;
    ensure!(fetch(&plugway, Method::GET, &csv, Some(ANN_TOO)).await?.text() == CSV);
    ensure!(fetch(&plugway, Method::GET, &csv, Some(ANN)).await?.status == 404);
    ensure!(shelf.fetched().len() == 1);
    Ok(())
}

#[tokio::test]
async fn a_link_ends_and_never_comes_back_and_the_tool_gives_another() -> Result<()> {
    let shelf = Shelf::start().await?;
    let top = "artifacts: {lifetime: 300ms}\n";
    let plugway = Setup::new(hub(&shelf, "", top)).start().await?;
    let client = plugway.legacy().await?;
    let status =
        async |link: &str| anyhow::Ok(fetch(&plugway, Method::GET, link, None).await?.status);
    // On a busy machine a link may end before it is followed.
    let working = async || {
        wait::until("a link can be followed", BOUND, async || {
            let link = link(&client, "a.csv").await?;
            Ok((status(&link).await? == 200).then_some(link))
        })
        .await
    };
    let first = working().await?;
    wait::until("the link ends", BOUND, async || Ok((status(&first).await? == 404).then_some(())))
        .await?;
    let second = working().await?;
    ensure!(second != first, "{first}");
    ensure!(status(&first).await? == 404, "it came back");
    Ok(())
}
