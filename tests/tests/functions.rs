//! Functions of servers that run code are judged as tools are: who is not to use one hears of it nowhere.
#![expect(clippy::indexing_slicing, reason = "a member that a JSON value does not have is null")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use plugway_tests::coder::{catalogue, function, page};
use plugway_tests::sighted::applied;
use plugway_tests::tokens::{ANN, BOB, auth, identified};
use plugway_tests::{Coder, Guest, Hub, Plugway, http as web, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

async fn chem() -> Result<Coder> {
    Coder::start("chem", &of_chem()).await
}

fn of_chem() -> Vec<Value> {
    vec![
        function("parse", "Reads a molecule", &[], &["chem.parsed"]),
        function("compute", "Computes descriptors of it", &["chem.parsed"], &["chem.done"]),
    ]
}

async fn bio() -> Result<Coder> {
    let align = function("align", "Aligns sequences", &["chem.done"], &["bio.aligned"]);
    Coder::start("bio", &[function("parse", "Reads a sequence", &[], &[]), align]).await
}

/// A connector before these whose callers without the scope `read` are not to use these functions.
fn hub(upstreams: &[(&str, &Coder)], hide: &[&str]) -> Hub {
    let policy = Guest::new("hides_functions").config(json!({"hide": hide, "scope": "read"}));
    before(upstreams).policy(policy).top("auth", auth())
}

fn before(upstreams: &[(&str, &Coder)]) -> Hub {
    let closely = json!({
        "refresh": "300ms", "health_check_interval": "100ms", "health_check_timeout": "1s",
        "stale_for": "200ms", "reconnect": {"initial": "100ms", "max": "200ms"},
    });
    let hub = Hub::new("hub").router_config(&json!({"unified_tools": true}));
    upstreams
        .iter()
        .fold(hub, |hub, (name, server)| hub.upstream_with(name, &server.url(), closely.clone()))
}

async fn start(hub: &Hub) -> Result<Plugway> {
    identified(hub.setup()?, &json!({})).start().await
}

fn caller(plugway: &Plugway, token: &str) -> Client {
    Client::modern_as(plugway.address(), "/mcp", token)
}

async fn ask(client: &Client, tool: &str, arguments: Value) -> Result<Value> {
    let text = client.call_text(tool, arguments).await?;
    serde_json::from_str(&text).with_context(|| text.clone())
}

/// Each function that a search finds, with its server.
async fn found(client: &Client, query: &str) -> Result<Vec<String>> {
    let found = ask(client, "search_hub_tools", json!({"query": query, "top": 50})).await?;
    Ok(named(&found["tools"]))
}

fn named(list: &Value) -> Vec<String> {
    let said = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|one| said(one, "server_name") + "." + &said(one, "name")).collect()
}

async fn published(plugway: &Plugway, token: &str) -> Result<Vec<String>> {
    let request = Request::get("/catalog").header("host", plugway.address().to_string());
    let request = request.header("authorization", format!("Bearer {token}"));
    let answer = web::send(plugway.address(), request.body(Full::<Bytes>::default())?).await?;
    Ok(named(&answer.json()?["tools"]))
}

/// What a tool says of itself.
async fn description(client: &Client, tool: &str) -> Result<String> {
    let listed = client.call("tools/list", json!({})).await?;
    let tools = listed.result()?["tools"].as_array().cloned().unwrap_or_default();
    let one = tools.iter().find(|one| one["name"] == tool).context("it is listed")?;
    Ok(one["description"].as_str().context("it is described")?.to_owned())
}

async fn is_refused(client: &Client, tool: &str, code: &str) -> Result<bool> {
    Ok(client.call_tool(tool, json!({"code": code})).await?["isError"] == true)
}

#[tokio::test]
async fn of_two_callers_each_is_told_of_the_functions_that_it_may_use() -> Result<()> {
    let (chem, bio) = (chem().await?, bio().await?);
    let plugway = start(&hub(&[("chem", &chem), ("bio", &bio)], &["chem.compute"])).await?;
    let all = ["chem.parse", "chem.compute", "bio.parse", "bio.align"];
    let few = ["chem.parse", "bio.parse", "bio.align"];
    let (ann, bob) = (caller(&plugway, ANN), caller(&plugway, BOB));
    let old = Client::legacy_as(plugway.address(), "/mcp", BOB).await?;
    ensure!(found(&ann, "").await? == all && published(&plugway, ANN).await? == all);
    ensure!(published(&plugway, BOB).await? == few);
    let whole = "Scripted.\n\nAvailable tool functions (call directly in your code):\n  \
                 - parse(x: ndarray): Reads a molecule\n  - compute(x: ndarray): Computes descriptors of it";
    ensure!(description(&ann, "execute_chem_code").await? == whole);
    for client in [&bob, &old] {
        ensure!(found(client, "").await? == few);
        ensure!(found(client, "compute descriptors").await?.is_empty());
        let said = description(client, "execute_chem_code").await?;
        ensure!(whole.starts_with(&said) && said.ends_with("Reads a molecule"), "{said}");
        let path =
            json!({"mode": "path", "current_state": "chem.parsed", "target_state": "bio.aligned"});
        ensure!(ask(client, "plan_hub_workflow", path.clone()).await?["path"].is_null());
        let way = ask(&ann, "plan_hub_workflow", path).await?;
        ensure!(way["path"].as_array().is_some_and(|path| path.len() == 2), "{way}");
        ensure!(is_refused(client, "execute_chem_code", "compute(parse(1))").await?);
        ensure!(!is_refused(client, "execute_chem_code", "parse(1)").await?);
    }
    ensure!(!is_refused(&ann, "execute_chem_code", "compute(1)").await?);
    // A function is no tool, and the status counts none.
    let status = ask(&ann, "hub_status", json!({})).await?;
    ensure!(status["servers"][0]["tool_count"] == 3, "{status}");
    for name in ["parse", "chem.parse"] {
        let called = ann.call("tools/call", json!({"name": name, "arguments": {}})).await?;
        ensure!(called.error_code()? == -32602, "{called:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_is_unlisted_is_not_told_of_either() -> Result<()> {
    let chem = chem().await?;
    let unlists =
        Guest::new("hides_functions").config(json!({"hide": ["chem.compute"], "unlist": true}));
    let plugway = before(&[("chem", &chem)]).policy(unlists).start().await?;
    let client = plugway.modern();
    ensure!(found(&client, "").await? == ["chem.parse"]);
    ensure!(!description(&client, "execute_chem_code").await?.contains("compute"));
    Ok(())
}

#[tokio::test]
async fn equal_names_of_two_servers_and_of_two_callers_are_told_apart() -> Result<()> {
    let (chem, bio) = (chem().await?, bio().await?);
    let plugway = start(&hub(&[("chem", &chem), ("bio", &bio)], &["bio.parse"])).await?;
    let bob = caller(&plugway, BOB);
    ensure!(found(&bob, "parse").await? == ["chem.parse"]);
    ensure!(published(&plugway, BOB).await? == ["chem.parse", "chem.compute", "bio.align"]);
    ensure!(description(&bob, "execute_chem_code").await?.contains("parse(x"));
    ensure!(!description(&bob, "execute_bio_code").await?.contains("parse"));
    ensure!(!is_refused(&bob, "execute_chem_code", "parse(1)").await?);
    ensure!(is_refused(&bob, "execute_bio_code", "parse(1)").await?);
    Ok(())
}

#[tokio::test]
async fn a_name_that_the_operator_gave_hides_no_function_from_its_policy() -> Result<()> {
    let chem = chem().await?;
    let keys = json!({"aliases": {"compute": "describe"}});
    let named = Hub::new("hub").router_config(&json!({"unified_tools": true})).upstream_with(
        "chem",
        &chem.url(),
        keys,
    );
    for (hide, left) in [
        ("chem.none", &["chem.parse", "chem.describe"][..]),
        ("chem.compute", &["chem.parse"]),
        ("chem.describe", &["chem.parse"]),
    ] {
        let policy = Guest::new("hides_functions").config(json!({"hide": [hide]}));
        let plugway = named.clone().policy(policy).start().await?;
        let client = plugway.modern();
        ensure!(found(&client, "").await? == left, "{hide}");
        let said = description(&client, "execute_chem_code").await?;
        ensure!(said.contains("compute") == (left.len() == 2), "{hide}: {said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_policy_that_changes_changes_what_sessions_are_told() -> Result<()> {
    let chem = chem().await?;
    let upstreams = [("chem", &chem)];
    let plugway = start(&hub(&upstreams, &["chem.*"])).await?;
    let bob = Client::legacy_as(plugway.address(), "/mcp", BOB).await?;
    ensure!(found(&bob, "").await?.is_empty());
    for (hide, left) in [
        ("chem.compute", "chem.parse"),
        ("chem.parse", "chem.compute"),
        ("chem.compute", "chem.parse"),
    ] {
        applied(&plugway, &identified(hub(&upstreams, &[hide]).setup()?, &json!({}))).await?;
        ensure!(found(&bob, "").await? == [left]);
        ensure!(published(&plugway, BOB).await? == [left]);
        let (_, own) = left.split_once('.').context("a server")?;
        let (_, other) = hide.split_once('.').context("a server")?;
        let said = description(&bob, "execute_chem_code").await?;
        ensure!(said.contains(&format!("- {own}(")) && !said.contains(other), "{said}");
        ensure!(is_refused(&bob, "execute_chem_code", &format!("{other}(1)")).await?);
    }
    Ok(())
}

#[tokio::test]
async fn functions_that_come_are_judged_before_anybody_is_told_of_them() -> Result<()> {
    let chem = chem().await?;
    let plugway = start(&hub(&[("chem", &chem)], &["*.compute_*"])).await?;
    let (ann, bob) = (caller(&plugway, ANN), caller(&plugway, BOB));
    let new = ["compute_all", "draw"].map(|name| function(name, "New", &[], &[]));
    chem.shows(page(&catalogue("chem", &new)));
    wait::until("the new ones are there", BOUND, async || {
        let seen = found(&bob, "new").await?;
        ensure!(!seen.iter().any(|name| name == "chem.compute_all"), "{seen:?}");
        Ok((seen == ["chem.draw"]).then_some(()))
    })
    .await?;
    ensure!(found(&ann, "new").await? == ["chem.compute_all", "chem.draw"]);
    ensure!(is_refused(&bob, "execute_chem_code", "compute_all()").await?);
    Ok(())
}

#[tokio::test]
async fn functions_of_a_server_that_is_away_are_known_to_whom_they_were_and_come_back() -> Result<()>
{
    let (chem, bio) = (chem().await?, bio().await?);
    let address = chem.address().to_string();
    let plugway = start(&hub(&[("chem", &chem), ("bio", &bio)], &["chem.compute"])).await?;
    let (ann, bob) = (caller(&plugway, ANN), caller(&plugway, BOB));
    let available = async |client: &Client| -> Result<Vec<(String, bool)>> {
        let found =
            ask(client, "search_hub_tools", json!({"query": "molecule descriptors"})).await?;
        let tools = found["tools"].as_array().cloned().unwrap_or_default();
        let one = |one: &Value| {
            (one["name"].as_str().unwrap_or_default().to_owned(), one["available"] == true)
        };
        let mut found: Vec<_> = tools.iter().map(one).collect();
        found.sort();
        Ok(found)
    };
    let until = async |is: bool| {
        wait::until("the server is there or not", BOUND, async || {
            Ok((available(&bob).await? == [("parse".to_owned(), is)]).then_some(()))
        })
        .await
    };
    until(true).await?;
    drop(chem);
    until(false).await?;
    let both = |is: bool| ["compute", "parse"].map(|name| (name.to_owned(), is));
    ensure!(available(&ann).await? == both(false));
    ensure!(published(&plugway, BOB).await? == ["bio.parse", "bio.align"]);
    let _chem = Coder::start_at(&address, "chem", &of_chem()).await?;
    until(true).await?;
    ensure!(available(&ann).await? == both(true));
    ensure!(published(&plugway, BOB).await? == ["chem.parse", "bio.parse", "bio.align"]);
    Ok(())
}

#[tokio::test]
async fn functions_behind_a_connector_behind_a_connector_are_judged_by_both() -> Result<()> {
    let (chem, bio) = (chem().await?, bio().await?);
    let below = before(&[("chem", &chem), ("bio", &bio)]);
    let below = below.policy(Guest::new("hides_functions").config(json!({"hide": ["bio.align"]})));
    let child = below.start().await?;
    let policy =
        Guest::new("hides_functions").config(json!({"hide": ["below.compute"], "scope": "read"}));
    let parent = Hub::new("hub")
        .router_config(&json!({"unified_tools": true}))
        .upstream("below", &child.mcp_url())
        .policy(policy)
        .top("auth", auth());
    let parent = start(&parent).await?;
    let (ann, bob) = (caller(&parent, ANN), caller(&parent, BOB));
    ensure!(published(&parent, ANN).await? == ["below.parse", "below.compute", "below.parse"]);
    ensure!(published(&parent, BOB).await? == ["below.parse", "below.parse"]);
    ensure!(found(&ann, "compute descriptors").await? == ["below.compute"]);
    ensure!(found(&bob, "compute descriptors").await?.is_empty());
    let said = description(&bob, "below_execute_chem_code").await?;
    ensure!(said.contains("parse(") && !said.contains("compute"), "{said}");
    let said = description(&ann, "below_execute_bio_code").await?;
    ensure!(said.contains("parse(") && !said.contains("align"), "{said}");
    ensure!(is_refused(&bob, "below_execute_chem_code", "compute(1)").await?);
    ensure!(!is_refused(&ann, "below_execute_chem_code", "compute(1)").await?);
    Ok(())
}

#[tokio::test]
async fn who_finds_tools_lazily_finds_none_by_a_function_that_is_hidden() -> Result<()> {
    let chem = chem().await?;
    let lazy = hub(&[("chem", &chem)], &["chem.compute"]).key("discovery", json!("lazy"));
    let plugway = start(&lazy).await?;
    let (ann, bob) = (caller(&plugway, ANN), caller(&plugway, BOB));
    let find = async |client: &Client, query: &str| -> Result<Value> {
        Ok(ask(client, "find_tools", json!({"query": query})).await?["items"].clone())
    };
    let by_it = find(&ann, "compute descriptors").await?;
    ensure!(by_it[0]["name"] == "execute_chem_code", "{by_it}");
    ensure!(by_it[0]["description"].as_str().is_some_and(|said| said.contains("compute")));
    ensure!(find(&bob, "compute descriptors").await? == json!([]));
    let by_another = find(&bob, "molecule").await?;
    ensure!(by_another[0]["name"] == "execute_chem_code", "{by_another}");
    ensure!(!by_another.to_string().contains("compute"), "{by_another}");
    let loaded = ask(&bob, "load_tools", json!({"items": ["execute_chem_code"]})).await?;
    ensure!(!loaded.to_string().contains("compute"), "{loaded}");
    Ok(())
}
