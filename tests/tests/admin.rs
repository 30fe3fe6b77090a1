//! Administration: who gets in, what is seen and done, and what the audit says of it.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use http::Method;
use plugway_tests::admin::{Admin, request, through};
use plugway_tests::tokens::{ANN, ROOT, auth, identified};
use plugway_tests::{DemoHttp, Guest, Hub, Plugway, http as web, metrics, rpc::Client, wait};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

fn local() -> Value {
    json!({"listen": "127.0.0.1:0", "token_file": "admin.token"})
}

/// The audit's lines about an action.
fn audited(plugway: &Plugway, action: &str) -> Vec<Value> {
    let lines = plugway.stderr();
    let lines = lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["target"] == "audit" && line["action"] == action).collect()
}

async fn until_audited(plugway: &Plugway, action: &str, count: usize) -> Result<Vec<Value>> {
    wait::until(&format!("{count} lines about {action}"), BOUND, async || {
        let lines = audited(plugway, action);
        Ok((lines.len() >= count).then_some(lines))
    })
    .await
}

#[tokio::test]
async fn nobody_administers_without_the_right_credential() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url()).top("auth", auth()).top("admin", local());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    let admin = Admin::of(&plugway).await?;
    for (token, status) in [
        (None, 401),
        (Some("wrong"), 401),
        (Some(ANN), 403),
        (Some(ROOT), 200),
        (Some(admin.token()), 200),
    ] {
        let answer = admin.ask(Method::GET, "upstreams", token).await?;
        ensure!(answer.status == status, "{token:?}: {} {}", answer.status, answer.text());
        ensure!(status != 401 || answer.header("www-authenticate").is_some());
    }
    let lines = until_audited(&plugway, "look", 3).await?;
    let refused: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["who"].as_str().unwrap_or("?"), line["reason"].as_str().unwrap_or("?")))
        .collect();
    ensure!(
        refused == [("", "unauthenticated"), ("", "unauthenticated"), ("ann", "forbidden")],
        "{refused:?}"
    );
    ensure!(lines.iter().all(|line| line["result"] == "refused"), "{lines:?}");
    let log = plugway.stderr().join("\n");
    ensure!(!log.contains(admin.token()) && !log.contains(ANN), "a token in the log");
    // Clients are served elsewhere, and the other way round.
    ensure!(plugway.get("/admin/v1/upstreams").await?.status == 404);
    ensure!(web::get(admin.address(), "/health").await?.status == 401);
    Ok(())
}

#[tokio::test]
async fn pages_in_a_browser_get_nothing() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).top("admin", local()).start().await?;
    let admin = Admin::of(&plugway).await?;
    let own = admin.address().to_string();
    for (host, origin, status) in [
        (own.as_str(), None, 200),
        ("localhost:1", None, 200),
        ("evil.example", None, 403),
        (&own, Some("http://evil.example"), 403),
        (&own, Some("null"), 403),
    ] {
        let mut request = request(Method::GET, "plugins", host, Some(admin.token()))?;
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse()?);
        }
        let answer = web::send(admin.address(), request).await?;
        ensure!(answer.status == status, "{host} {origin:?}: {}", answer.status);
    }
    Ok(())
}

#[tokio::test]
async fn what_does_not_exist_is_said_in_json() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).top("admin", local()).start().await?;
    let admin = Admin::of(&plugway).await?;
    for (method, path, status) in [
        (Method::GET, "nothing", 404),
        (Method::GET, "reload", 405),
        (Method::POST, "sessions", 405),
        (Method::DELETE, "upstreams", 405),
        (Method::POST, "upstreams/hub/nobody/disable", 404),
        (Method::POST, "upstreams/nowhere/clock/disable", 404),
        (Method::POST, "plugins/nobody/disable", 404),
        (Method::GET, "sessions?limit=0", 400),
        (Method::GET, "sessions?limit=1001", 400),
        (Method::GET, "sessions?page=1", 400),
    ] {
        let answer = admin.ask(method.clone(), path, Some(admin.token())).await?;
        ensure!(answer.status == status, "{method} {path}: {}", answer.status);
        let body = answer.json()?;
        let message = body["error"]["message"].as_str().context("no sentence")?;
        ensure!(message.ends_with('.') && body["error"]["requestId"].is_string(), "{body}");
        ensure!(status != 405 || answer.header("allow").is_some(), "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn an_operator_sees_what_runs_and_nothing_that_could_be_used() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url())
        .policy(Guest::new("imports_echo"))
        .top("auth", auth())
        .top("admin", local());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    let admin = Admin::of(&plugway).await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let root = Client::modern_as(plugway.address(), "/mcp", ROOT);
    for client in [&ann, &root] {
        client.call_tool("clock_count", json!({})).await?;
    }

    let upstreams = admin.get("upstreams").await?;
    let clock = &upstreams["upstreams"][0];
    ensure!(clock["name"] == "clock" && clock["connector"] == "hub", "{clock}");
    ensure!(clock["kind"] == "http", "{clock}");
    ensure!(clock["phase"] == "connected" && clock["disabled"] == false, "{clock}");
    ensure!(clock["offering"]["tools"].as_u64().is_some_and(|tools| tools > 0), "{clock}");
    ensure!(clock["numbers"]["streams"]["active"].is_u64(), "{clock}");
    ensure!(admin.get("workers").await?["workers"][0]["worker"] == "clock");

    let plugins = admin.get("plugins").await?;
    let plugins = plugins["plugins"].as_array().context("no plugins")?;
    let echo =
        plugins.iter().find(|plugin| plugin["name"] == "imports_echo").context("no guest")?;
    ensure!(echo["kind"] == "policy" && echo["disabled"] == false, "{echo}");
    ensure!(echo["digest"].as_str().is_some_and(|digest| digest.len() == 64), "{echo}");
    ensure!(echo["places"][0]["calls"].as_u64().is_some_and(|calls| calls >= 2), "{echo}");

    let sessions = admin.get("sessions").await?;
    let listed = sessions["sessions"].as_array().context("no sessions")?;
    let mut callers: Vec<(&str, &str)> = listed
        .iter()
        .map(|one| (one["caller"].as_str().unwrap_or("?"), one["era"].as_str().unwrap_or("?")))
        .collect();
    callers.sort_unstable();
    ensure!(callers == [("ann", "legacy"), ("root", "modern")], "{sessions}");
    ensure!(sessions["total"] == 2 && sessions["next"].is_null(), "{sessions}");
    ensure!(!sessions.to_string().contains(ann.session().context("no session")?));
    let first = admin.get("sessions?limit=1").await?;
    let next = first["next"].as_str().context("no next page")?;
    let second = admin.get(&format!("sessions?limit=1&after={next}")).await?;
    ensure!(second["next"].is_null() && second["sessions"][0] != first["sessions"][0], "{second}");
    Ok(())
}

#[tokio::test]
async fn a_policy_out_of_use_denies_and_comes_back() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url())
        .policy(
            Guest::new("visibility_by_scope").config(json!({"hide": ["clock_count"]})).passing(),
        )
        .top("admin", local());
    let plugway = hub.start().await?;
    let admin = Admin::of(&plugway).await?;
    let client = plugway.legacy().await?;
    let call = async || -> Result<Value> {
        let params = json!({"name": "clock_echo", "arguments": {"message": "hi"}});
        Ok(client.call("tools/call", params).await?.response()?.clone())
    };
    // The client's view is kept; it does not count while its judge is out of use.
    ensure!(call().await?["result"].is_object());
    ensure!(admin.post("plugins/visibility_by_scope/disable").await?.status == 200);
    let denied = call().await?;
    let message = denied["error"]["message"].as_str().unwrap_or_default();
    ensure!(message.contains("operator") && message.contains("out of use"), "{denied}");
    let listed = client.call("tools/list", json!({})).await?;
    ensure!(listed.response()?["error"].is_object(), "{}", listed.text);
    let ready = plugway.get("/ready").await?.json()?;
    ensure!(ready["degraded"].to_string().contains("visibility_by_scope"), "{ready}");
    let labels = [("plugin", "visibility_by_scope")];
    ensure!(metrics::sum(&plugway, "plugway_plugin_disabled", &labels).await? >= 1.0);

    ensure!(admin.post("plugins/visibility_by_scope/enable").await?.status == 200);
    ensure!(call().await?["result"].is_object());
    ensure!(!client.tool_names().await?.contains(&"clock_count".to_owned()));
    let lines = until_audited(&plugway, "plugin-disable", 1).await?;
    ensure!(lines[0]["result"] == "done" && lines[0]["who"] == "holder of the token file");
    ensure!(lines[0]["from"].as_str().is_some_and(|from| from.starts_with("127.0.0.1:")));
    ensure!(lines[0]["request_id"].as_str().is_some_and(|id| id.len() == 16), "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn a_router_out_of_use_keeps_its_last_shape() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).top("admin", local()).start().await?;
    let admin = Admin::of(&plugway).await?;
    let client = plugway.legacy().await?;
    let names = client.tool_names().await?;
    ensure!(admin.post("plugins/router/disable").await?.status == 200);
    plugway.logged("the last shape stays", BOUND).await?;
    ensure!(client.tool_names().await? == names);
    ensure!(client.call_text("clock_echo", json!({"message": "still"})).await?.contains("still"));
    ensure!(admin.post("plugins/router/enable").await?.status == 200);
    wait::until("the router is well", BOUND, async || {
        let ready = plugway.get("/ready").await?.json()?;
        Ok(ready["degraded"].as_array().is_some_and(Vec::is_empty).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_reload_is_asked_for_counted_and_audited() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = Hub::before(clock.url()).top("admin", local());
    let plugway = hub.start().await?;
    let admin = Admin::of(&plugway).await?;
    let answer = admin.post("reload").await?;
    ensure!(answer.status == 200 && answer.json()?["changes"] == json!([]), "{}", answer.text());
    plugway.reconfigure("upstreams: [")?;
    let answer = admin.post("reload").await?;
    ensure!(answer.status == 422, "{} {}", answer.status, answer.text());
    ensure!(answer.json()?["error"]["message"].is_string());
    let lines = until_audited(&plugway, "reload", 2).await?;
    ensure!(lines[0]["result"] == "done" && lines[1]["result"] == "failed", "{lines:?}");
    let count =
        async |result| metrics::sum(&plugway, "plugway_reloads_total", &[("result", result)]).await;
    ensure!(count("unchanged").await? >= 1.0 && count("refused").await? >= 1.0);
    Ok(())
}

#[tokio::test]
async fn the_socket_and_the_token_file_are_the_owners_alone() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let settings = json!({"socket": "admin.sock", "token_file": "admin.token"});
    let plugway = Hub::before(clock.url()).top("admin", settings.clone()).start().await?;
    let folder = plugway.folder().to_owned();
    let socket = folder.join("admin.sock");
    for file in ["admin.sock", "admin.token"] {
        let mode = std::fs::metadata(folder.join(file))?.permissions().mode() & 0o777;
        ensure!(mode == 0o600, "{file} has the mode {mode:o}");
    }
    let token = std::fs::read_to_string(folder.join("admin.token"))?;
    ensure!(token.trim().len() == 64, "{} characters", token.len());
    let asked = request(Method::GET, "upstreams", "anything", Some(token.trim()))?;
    let (status, body) = through(&socket, asked).await?;
    ensure!(status == 200 && body.contains("clock"), "{status} {body}");
    let (status, _) =
        through(&socket, request(Method::GET, "upstreams", "anything", None)?).await?;
    ensure!(status == 401);
    plugway.stop().await?;

    for mode in [0o640, 0o604, 0o620] {
        let hub = Hub::before(clock.url()).top("admin", settings.clone());
        let setup = hub.setup()?.file_with_mode("admin.token", "0123456789abcdef", mode);
        let refused = setup.serve_to_its_end().await?;
        ensure!(
            !refused.status.success() && refused.stderr.contains("chmod 600"),
            "{}",
            refused.stderr
        );
        ensure!(!refused.stderr.contains("0123456789abcdef"));
    }
    Ok(())
}

#[tokio::test]
async fn without_the_key_there_is_no_administration() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Hub::before(clock.url()).start().await?;
    ensure!(plugway.get("/admin/v1/upstreams").await?.status == 404);
    ensure!(!plugway.stderr().iter().any(|line| line.contains("\"administration\"")));
    Ok(())
}
