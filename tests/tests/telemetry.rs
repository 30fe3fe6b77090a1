//! What the operator can see: every number is documented, counters only grow, and no secret is in the log.

use std::{collections::BTreeSet, path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use plugway_tests::tokens::{ANN, BOB, auth, auth_yaml, identified};
use plugway_tests::{
    DemoHttp, Guest, Hub, Plugway, Scripted, demo_notes_path, metrics, plugway::Setup, rpc::Client,
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// The words in a text that are names of metrics.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("plugway_") && *word != "plugway_plugin_").collect()
}

#[tokio::test]
async fn every_number_is_documented_and_nothing_else_is() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(Guest::new("admit_fails")).start().await?;
    let refused = plugway.modern().call("tools/call", json!({"name": "clock_echo"})).await?;
    ensure!(refused.response()?["error"].is_object(), "{}", refused.text);
    let text = metrics::text(&plugway).await?;
    let exposed: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next()).collect();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md");
    let page = std::fs::read_to_string(page)?;
    let documented = names(&page);
    ensure!(
        exposed == documented,
        "only on one side: {:?}",
        exposed.symmetric_difference(&documented)
    );
    // Every sample belongs to a family that was begun, and is there once.
    let mut seen = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').context("no value")?;
        ensure!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
        ensure!(seen.insert(series), "{series} is there twice");
    }
    Ok(())
}

/// Every counter of a text, by its series.
fn counters(text: &str) -> Vec<(String, f64)> {
    let families: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .filter(|(_, kind)| *kind != "gauge")
        .map(|(name, _)| name)
        .collect();
    let samples = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let name = series.split('{').next()?;
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        let counts = families.contains(name) || base.is_some_and(|base| families.contains(base));
        counts.then(|| Some((series.to_owned(), value.parse().ok()?)))?
    });
    samples.collect()
}

#[tokio::test]
async fn counters_only_grow_when_plugins_and_servers_are_made_anew() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let guest = Guest::new("imports_echo");
    let configuration = |limit: u32| {
        let mut entry = json!({"file": "imports_echo.wasm"});
        entry["limits"] = json!({"time_ms": limit});
        json!({
            "name": "hub", "plugins": {"imports_echo": entry}, "policies": ["imports_echo"],
            "upstreams": [{"name": "clock", "url": clock.url(), "timeouts": {"connect": format!("{limit}ms")}}],
        })
        .to_string()
    };
    let plugway =
        Setup::new(configuration(2_000)).file(&guest.file(), guest.bytes()?).start().await?;
    let client = plugway.legacy().await?;
    for _ in 0..5 {
        client.call_tool("clock_echo", json!({})).await?;
    }
    let labels = [("plugin", "imports_echo")];
    let before = counters(&metrics::text(&plugway).await?);
    ensure!(metrics::sum(&plugway, metrics::CALLS, &labels).await? >= 5.0);
    plugway.reconfigure(&configuration(2_100))?;
    plugway.logged("configuration applied", BOUND).await?;
    client.call_tool("clock_echo", json!({})).await?;
    let text = metrics::text(&plugway).await?;
    let after = counters(&text);
    for (series, value) in &before {
        let now = after.iter().find(|(name, _)| name == series).map(|(_, now)| *now);
        ensure!(now.is_some_and(|now| now >= *value), "{series} was {value} and is {now:?}");
    }
    ensure!(metrics::sum(&plugway, metrics::CALLS, &labels).await? >= 6.0);
    ensure!(
        metrics::sum(&plugway, "plugway_reloads_total", &[("result", "applied")]).await? >= 1.0
    );
    Ok(())
}

#[tokio::test]
async fn requests_sessions_and_connections_are_counted() -> Result<()> {
    let upstream = Scripted::start().await?;
    let configuration =
        format!("name: hub\n{}upstreams: [{{name: up, url: '{}'}}]\n", auth_yaml(), upstream.url());
    let plugway = identified(Setup::new(configuration), &json!({})).start().await?;
    let sum =
        async |name: &str, labels: &[(&str, &str)]| metrics::sum(&plugway, name, labels).await;
    let calls = [("method", "tools/call")];
    let before = sum("plugway_connections_total", &[]).await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let bob = Client::modern_as(plugway.address(), "/mcp", BOB);
    for client in [&ann, &bob] {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    ensure!(plugway.modern().call("tools/list", json!({})).await?.status == 401);
    ensure!((sum("plugway_requests_total", &calls).await? - 2.0).abs() < f64::EPSILON);
    for era in ["legacy", "modern"] {
        let there = sum("plugway_sessions", &[("era", era)]).await?;
        ensure!((there - 1.0).abs() < f64::EPSILON, "{era}: {there}");
    }
    ensure!(sum("plugway_errors_total", &[("code", "unauthenticated")]).await? >= 1.0);
    ensure!(sum("plugway_connections_total", &[]).await? >= before + 4.0);
    let connected = [("upstream", "up"), ("phase", "connected")];
    ensure!((sum("plugway_upstream_status", &connected).await? - 1.0).abs() < f64::EPSILON);
    // A call that is under way, seen from outside.
    let stream = ann.open("tools/call", json!({"name": "up_steps", "arguments": {}})).await?;
    drop(stream);
    wait::until("the last request ends", BOUND, async || {
        let now = sum("plugway_requests_in_progress", &[]).await?;
        Ok((now < 0.5).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_line_about_a_request_names_it() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).policy(Guest::new("admit_fails")).start().await?;
    let refused = plugway.modern().call("tools/call", json!({"name": "clock_echo"})).await?;
    let id = refused.response()?.pointer("/error/data/requestId").and_then(Value::as_str);
    let id = id.context("no request id")?;
    let told = format!("\"request_id\":\"{id}\"");
    wait::until("the plugin's failure and the refusal name the request", BOUND, async || {
        let lines = plugway.stderr();
        let about =
            |text: &str| lines.iter().any(|line| line.contains(&told) && line.contains(text));
        Ok((about("the plugin gave no decision") && about("call failed")).then_some(()))
    })
    .await
}

#[tokio::test]
async fn no_secret_is_in_the_log_however_much_is_logged() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let secrets = [
        ("CHILD_SECRET", "child-secret-0123456789"),
        ("HEADER_SECRET", "header-secret-0123456789"),
        ("BEARER_SECRET", "bearer-secret-0123456789"),
    ];
    let configuration = json!({
        "name": "hub", "auth": auth(),
        "admin": {"listen": "127.0.0.1:0", "token_file": "admin.token"},
        "upstreams": [
            {
                "name": "clock", "url": clock.url(), "headers": {"x-key": "env://HEADER_SECRET"},
                "auth": {"mode": "bearer", "token": "env://BEARER_SECRET"},
            },
            {"name": "notes", "command": demo_notes_path()?, "env": {"KEY": "env://CHILD_SECRET"}},
        ],
    });
    let mut setup =
        Setup::new(configuration.to_string()).argument("--log-level=trace,plugway=trace");
    for (name, value) in secrets {
        setup = setup.environment(name, value);
    }
    let plugway = identified(setup, &json!({})).start().await?;
    let wrong = "wrong-secret-0123456789";
    let admin = plugway_tests::admin::Admin::of(&plugway).await?;
    let session = exercise(&plugway, wrong).await?;
    admin.get("upstreams").await?;
    ensure!(admin.ask(http::Method::GET, "plugins", Some(wrong)).await?.status == 401);
    ensure!(admin.post("upstreams/hub/clock/reconnect").await?.status == 200);
    plugway.reconfigure("upstreams: [")?;
    plugway.logged("was not applied", BOUND).await?;
    let log = plugway.stderr().join("\n");
    let secrets = secrets.map(|(_, secret)| secret);
    for secret in secrets.into_iter().chain([ANN, BOB, wrong, admin.token(), session.as_str()]) {
        let line = log.lines().find(|line| line.contains(secret));
        ensure!(line.is_none(), "{secret} is in {line:?}");
    }
    ensure!(log.contains("TRACE"), "nothing was logged at this level");
    Ok(())
}

/// Requests of both eras, good ones and bad ones; the id of a session.
async fn exercise(plugway: &Plugway, wrong: &str) -> Result<String> {
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let bob = Client::modern_as(plugway.address(), "/mcp", BOB);
    for client in [&ann, &bob] {
        client.call_text("clock_echo", json!({"message": "hi"})).await?;
        client.call_tool("notes_add_note", json!({"text": "a note"})).await?;
    }
    let foreign = Client::modern_as(plugway.address(), "/mcp", wrong);
    ensure!(foreign.call("tools/list", json!({})).await?.status == 401);
    let session = ann.session().context("no session")?.to_owned();
    let stolen = ann.with_token(Some(BOB));
    ensure!(stolen.call("tools/list", json!({})).await?.status == 404);
    Ok(session)
}
