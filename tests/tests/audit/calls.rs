//! The line of a call.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::tokens::{ANN, auth, identified};
use plugway_tests::{
    DemoHttp, Guest, Hub, Plugway, Scripted, audit, http, plugway::Setup, rpc::Client,
};
use serde_json::{Value, json};

use crate::{audited, call, scripted};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

#[tokio::test]
async fn a_call_is_told_with_everything_but_its_arguments() -> Result<()> {
    let server = Scripted::start().await?;
    let configuration = json!({
        "name": "hub", "auth": auth(), "audit": {"file": audit::FILE},
        "upstreams": [{"name": "up", "url": server.url(), "headers": {"x-key": "upstream-key-0123"}}],
    });
    let plugway = identified(Setup::new(configuration.to_string()), &json!({})).start().await?;
    let client = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let arguments = json!({"word": "hidden-word", "password": "hidden-password"});
    let (_, mut request) = client.request("tools/call", call("up_json", &arguments))?;
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    request.headers_mut().insert("traceparent", parent.parse()?);
    ensure!(http::send(plugway.address(), request).await?.status == 200);
    let lines = audit::until(&plugway, "call", 1).await?;
    let line = &lines[0];
    for (name, expected) in [
        ("connector", "hub"),
        ("caller", "ann"),
        ("client", "plugway-tests"),
        ("method", "tools/call"),
        ("name", "up_json"),
        ("own_name", "json"),
        ("upstream", "up"),
        ("worker", "up"),
        ("verdict", "allowed"),
        ("outcome", "ok"),
        ("trace_id", TRACE),
    ] {
        ensure!(line[name] == expected, "{name} in {line}");
    }
    let digest = line["arguments_digest"].as_str().context("no digest")?;
    ensure!(digest.len() == 64 && line["sent_digest"].is_null(), "{line}");
    let time = line["time"].as_str().context("no time")?;
    ensure!(time.len() == 27 && time.ends_with('Z'), "{time}");
    for name in ["bytes_in", "bytes_out", "duration_us"] {
        ensure!(line[name].as_u64().is_some_and(|number| number > 0), "{name} in {line}");
    }
    let opened = audit::until(&plugway, "session-open", 1).await?;
    ensure!(line["session"].is_string() && line["session"] == opened[0]["session"], "{line}");
    ensure!(line["caller_id"] == opened[0]["caller_id"], "{line}");
    // Nothing of that is in any line: arguments, tokens, session ids, keys of servers.
    let session = client.session().context("no session")?.to_owned();
    let (folder, _) = plugway_tests::soak::audit::stopped(plugway).await?;
    let text = std::fs::read_to_string(folder.0.join(audit::FILE))?;
    for secret in ["hidden-word", "hidden-password", ANN, &session, "upstream-key-0123"] {
        ensure!(!text.contains(secret), "{secret} in {text}");
    }
    Ok(())
}

#[tokio::test]
async fn equal_arguments_have_equal_digests_and_redacted_ones_are_told_where_it_is_wanted()
-> Result<()> {
    let key = json!({"arguments": "redacted", "digest_key": "0123456789abcdef"});
    let (_server, plugway) = scripted(key).await?;
    for client in [plugway.legacy().await?, plugway.modern()] {
        for word in ["a", "a", "b"] {
            client.call_tool("up_json", json!({"word": word, "api_key": "k"})).await?;
        }
    }
    let lines = audit::until(&plugway, "call", 6).await?;
    let digests: Vec<&Value> = lines.iter().map(|line| &line["arguments_digest"]).collect();
    ensure!(digests[0] == digests[1] && digests[0] != digests[2], "{lines:?}");
    ensure!(digests[0] == digests[3] && digests[2] == digests[5], "both eras: {lines:?}");
    ensure!(lines[2]["arguments"] == json!({"word": "b", "api_key": "[redacted]"}), "{lines:?}");
    Ok(())
}

/// A connector with these policies, and the line of one call through it.
async fn through(guests: Vec<Guest>) -> Result<(Plugway, DemoHttp, Value)> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = audited(Hub::before(clock.url()), json!({}));
    let hub = guests.into_iter().fold(hub, Hub::policy);
    let plugway = hub.start().await?;
    plugway.modern().call("tools/call", call("clock_echo", &json!({"message": "x"}))).await?;
    let line = audit::until(&plugway, "call", 1).await?.remove(0);
    Ok((plugway, clock, line))
}

#[tokio::test]
async fn what_policies_decide_is_told_with_their_revisions() -> Result<()> {
    let note = json!({"attributes": {"audit": "rule 7 would deny this"}});
    let edit = Guest::new("admit_edit").config(json!({"arguments": {"message": "y"}}));
    let (_plugway, _clock, line) =
        through(vec![Guest::new("admit_edit").named("observer").config(note), edit.clone()])
            .await?;
    ensure!(line["verdict"] == "allowed" && line["notes"] == "rule 7 would deny this", "{line}");
    ensure!(line["policies"][0]["name"] == "observer", "{line}");
    ensure!(line["policies"][1]["revision"].as_str().is_some_and(|one| one.len() == 12), "{line}");
    ensure!(line["sent_digest"].is_string(), "{line}");
    ensure!(line["sent_digest"] != line["arguments_digest"], "{line}");
    let (_plugway, _clock, other) =
        through(vec![Guest::new("admit_edit").named("observer"), edit]).await?;
    let revision = |line: &Value, at: usize| line["policies"][at]["revision"].clone();
    ensure!(revision(&line, 1) == revision(&other, 1), "the same is the same: {other}");
    ensure!(revision(&line, 0) != revision(&other, 0), "another configuration: {other}");

    let (_plugway, _clock, line) = through(vec![Guest::new("admit_reject")]).await?;
    ensure!(line["verdict"] == "denied" && line["decided_by"] == "admit_reject", "{line}");
    ensure!(line["fault"] == "refused" && line["upstream"].is_null(), "{line}");
    ensure!(line["reason"].as_str().is_some_and(|why| why.contains("admit_reject")), "{line}");

    let answer = Guest::new("admit_answer").config(json!({"text": "from the policy"}));
    let (_plugway, _clock, line) = through(vec![answer]).await?;
    ensure!(line["verdict"] == "answered" && line["decided_by"] == "admit_answer", "{line}");
    ensure!(line["outcome"] == "ok" && line["upstream"].is_null(), "{line}");

    let (_plugway, _clock, line) = through(vec![Guest::new("admit_fails")]).await?;
    ensure!(line["verdict"] == "denied" && line["decided_by"] == "admit_fails", "{line}");
    ensure!(line["fault"] == "plugin-error", "{line}");
    Ok(())
}

#[tokio::test]
async fn a_call_names_the_revision_that_judged_it_after_a_reload_too() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let hub = |blocked: &str| {
        let lists = json!({"blocked_tools": [blocked]});
        audited(Hub::before(clock.url()).bundled("gateway", lists), json!({}))
    };
    let plugway = hub("echo").start().await?;
    let client = plugway.legacy().await?;
    let echo = call("clock_echo", &json!({"message": "x"}));
    for (at, blocked) in ["echo", "now", "echo"].iter().enumerate() {
        if at > 0 {
            plugway.reconfigure(&hub(blocked).configuration())?;
            let reloads = audit::until(&plugway, "reload", at).await?;
            ensure!(reloads[at - 1]["result"] == "applied", "{reloads:?}");
        }
        client.call("tools/call", echo.clone()).await?;
    }
    let lines = audit::until(&plugway, "call", 3).await?;
    let verdicts: Vec<&Value> = lines.iter().map(|line| &line["verdict"]).collect();
    ensure!(verdicts == ["denied", "allowed", "denied"], "{lines:?}");
    let revisions: Vec<&Value> =
        lines.iter().map(|line| &line["policies"][0]["revision"]).collect();
    ensure!(revisions.iter().all(|one| one.is_string()), "{lines:?}");
    ensure!(revisions[0] != revisions[1] && revisions[0] == revisions[2], "{revisions:?}");
    ensure!(lines[0]["session"] == lines[2]["session"], "it is one session: {lines:?}");
    Ok(())
}

#[tokio::test]
async fn what_a_plugin_asks_a_server_is_a_call_with_a_parent() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let router = Guest::new("answer_upstreams").grants(json!({"upstreams": true}));
    let plugway = audited(Hub::before(clock.url()).router(router), json!({})).start().await?;
    let question = json!({
        "upstream": "clock", "method": "tools/call", "params": {"name": "echo", "arguments": {"message": "x"}},
    });
    let reply = plugway.modern().call("tools/call", call("ask", &question)).await?;
    ensure!(reply.response()?["result"].is_object(), "{}", reply.text);
    let lines = audit::until(&plugway, "call", 2).await?;
    let (inner, outer) = (&lines[0], &lines[1]);
    ensure!(inner["own_name"] == "echo" && inner["parent"] == outer["request_id"], "{lines:?}");
    ensure!(outer["name"] == "ask" && outer["parent"].is_null(), "{lines:?}");
    Ok(())
}

#[tokio::test]
async fn whatever_is_asked_of_servers_is_told_and_lists_are_not() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = audited(Hub::before(clock.url()), json!({})).start().await?;
    let client = plugway.legacy().await?;
    let methods = [
        ("tools/list", json!({})),
        ("ping", json!({})),
        ("prompts/get", json!({"name": "clock_nothing"})),
        ("resources/read", json!({"uri": "https://h/p?token=hidden"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "clock_none"}, "argument": {"name": "a", "value": "b"}}),
        ),
        ("tasks/get", json!({"taskId": "t"})),
        ("x/unknown", json!({})),
        ("tools/call", json!({"name": "clock_nothing"})),
    ];
    for (method, params) in methods {
        client.call(method, params).await?;
    }
    let lines = audit::until(&plugway, "call", 6).await?;
    let told: Vec<_> = lines.iter().filter_map(|line| line["method"].as_str()).collect();
    let expected = [
        "prompts/get",
        "resources/read",
        "completion/complete",
        "tasks/get",
        "x/unknown",
        "tools/call",
    ];
    ensure!(told == expected, "{told:?}");
    ensure!(
        lines[1]["name"] == "https://h/p" && lines[1]["own_name"] == "https://h/p",
        "{lines:?}"
    );
    ensure!(lines[5]["verdict"] == "unknown" && lines[5]["fault"] == "unknown-name", "{lines:?}");
    Ok(())
}
