//! Rules, between callers of different rights: who is refused hears the reason, and sees no tool whose every call is refused.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Hub, Plugway,
    rpc::Client,
    sighted::applied,
    tokens::{ANN, ANN_TOO, BOB, EVE, auth, identified},
};
use serde_json::{Value, json};

use super::{BOUND, call, is_blocked, listed, with};

/// A connector with this gateway, whose callers are identified.
async fn started(hub: Hub, config: Value) -> Result<Plugway> {
    identified(with(hub, config).top("auth", auth()).setup()?, &json!({})).start().await
}

/// A caller in both eras.
async fn who(plugway: &Plugway, token: &str) -> Result<[Client; 2]> {
    let address = plugway.address();
    let session = Client::legacy_as(address, "/mcp", token).await?;
    Ok([session, Client::modern_as(address, "/mcp", token)])
}

/// What a refusal with this sentence says.
fn refused(sentence: &str) -> (String, bool) {
    (json!({"success": false, "error": sentence}).to_string(), true)
}

/// The tools of the clock, each with arguments that it takes, that this client lists; only these it may call.
async fn may_use(client: &Client) -> Result<Vec<&'static str>> {
    let names = client.tool_names().await?;
    let mut used = Vec::new();
    for (tool, arguments) in [
        ("clock_add", json!({"a": 1, "b": 2})),
        ("clock_count", json!({})),
        ("clock_echo", json!({"message": "hi"})),
        ("clock_now", json!({})),
    ] {
        let passes = !call(client, tool, arguments).await?.1;
        ensure!(passes == names.iter().any(|name| name == tool), "{tool}: {passes}, {names:?}");
        used.extend(passes.then_some(tool));
    }
    Ok(used)
}

#[tokio::test]
async fn who_lacks_a_scope_hears_the_reason_and_the_log_names_the_rule() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let rule = json!({
        "name": "readers add", "when": {"tool": "add", "not": {"scope": "read"}},
        "do": "deny", "reason": "Only readers may add.",
    });
    let plugway = started(Hub::before(clock.url()), json!({"rules": [rule]})).await?;
    let sum = json!({"a": 1, "b": 2});
    for client in who(&plugway, ANN).await? {
        ensure!(client.tool_names().await?.contains(&"clock_add".to_owned()));
        ensure!(call(&client, "clock_add", sum.clone()).await? == ("3".to_owned(), false));
    }
    for client in who(&plugway, BOB).await? {
        ensure!(!client.tool_names().await?.contains(&"clock_add".to_owned()));
        let params = json!({"name": "clock_add", "arguments": sum});
        let reply = client.call("tools/call", params).await?;
        let result = reply.result()?;
        // As Python's `json.dumps` writes it.
        let text = r#"{"success": false, "error": "Only readers may add."}"#;
        ensure!(result["isError"] == true && result["content"][0]["text"] == text, "{result}");
        ensure!(!reply.text.contains("readers add"), "{reply:?}");
        ensure!(!call(&client, "clock_now", json!({})).await?.1);
    }
    let line = plugway.logged("the rule readers add", BOUND).await?;
    ensure!(line.contains("refused by the plugin gateway"), "{line}");
    // Two sums of one, and a time for each client of the other.
    ensure!(clock.count("tools/call").await? == 4);
    Ok(())
}

#[tokio::test]
async fn tenants_and_clients_decide_and_the_first_rule_that_holds() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let rules = json!([
        {"when": {"tool": "add", "scope": ["none", "write"]}, "do": "allow"},
        {"when": {"tool": "echo", "client": "a?n"}, "do": "allow"},
        {"when": {"tool": "now", "not": [{"scope": "write"}, {"client": "bob"}]}, "do": "allow"},
        {"when": {"all": [{"tool": "count"}, {"tenant": ["south", "nor*"]}]}, "do": "allow"},
        {"when": {"upstream": "clock", "kind": "tool"}, "do": "deny"},
        {"when": {"tool": ["add", "count"]}, "do": "allow"},
    ]);
    let plugway = started(Hub::before(clock.url()), json!({"rules": rules})).await?;
    for (token, used) in [
        (ANN, &["clock_echo", "clock_now"][..]),
        (ANN_TOO, &["clock_add", "clock_echo"]),
        (BOB, &["clock_count"]),
        (EVE, &["clock_now"]),
    ] {
        for client in who(&plugway, token).await? {
            let uses = may_use(&client).await?;
            ensure!(uses == used, "{token}: {uses:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_servers_say_of_their_tools_is_unknown_and_what_plugway_says_of_its_own_is_not()
-> Result<()> {
    // `now`, `add` and `echo` say that they only read.
    let clock = DemoHttp::start(&[]).await?;
    for (hint, of_server, own) in [
        (json!({"readOnlyHint": "unknown"}), true, false),
        (json!({"readOnlyHint": true}), false, true),
        (json!({"readOnlyHint": false}), false, false),
        (json!({"destructiveHint": "unknown", "idempotentHint": "unknown"}), true, false),
    ] {
        let rule = json!({"when": {"hint": hint}, "do": "deny"});
        let plugway = started(Hub::before(clock.url()), json!({"rules": [rule]})).await?;
        for client in who(&plugway, ANN).await? {
            ensure!(may_use(&client).await?.is_empty() == of_server, "{hint}");
            let names = client.tool_names().await?;
            ensure!(names.iter().any(|name| name == "hub_status") != own, "{hint}: {names:?}");
            ensure!(call(&client, "hub_status", json!({})).await?.1 == own, "{hint}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_tool_whose_arguments_decide_is_listed_and_refused_for_some() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let argument = |pointer: &str, test: (&str, Value)| {
        let mut argument = json!({"pointer": pointer});
        argument[test.0] = test.1;
        json!({"argument": argument})
    };
    let rules = json!([
        {"when": argument("/message", ("matches", json!("secret.*"))), "do": "deny", "reason": "Hush."},
        {"when": argument("/a", ("range", json!({"min": 100}))), "do": "deny"},
    ]);
    let plugway = started(Hub::before(clock.url()), json!({"rules": rules})).await?;
    for client in who(&plugway, BOB).await? {
        ensure!(may_use(&client).await?.len() == 4);
        let echo =
            async |message: &str| call(&client, "clock_echo", json!({"message": message})).await;
        let hush = (r#"{"success": false, "error": "Hush."}"#.to_owned(), true);
        ensure!(echo("secret plan").await? == hush && echo("secret").await? == hush);
        ensure!(echo("no secret").await? == ("no secret".to_owned(), false));
        is_blocked(&client, "clock_add", json!({"a": 100, "b": 1})).await?;
        let sum = call(&client, "clock_add", json!({"a": 99, "b": 100})).await?;
        ensure!(sum == ("199".to_owned(), false), "{sum:?}");
    }
    Ok(())
}

#[tokio::test]
async fn the_limit_of_a_rule_is_of_each_caller_and_of_no_other_tool() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let rule = json!({"when": {"tool": "now"}, "do": "limit", "limit": {"per_minute": 2}});
    let plugway = started(Hub::before(clock.url()), json!({"rules": [rule]})).await?;
    for token in [ANN, BOB] {
        // One caller in both eras.
        let [session, modern] = who(&plugway, token).await?;
        for client in [&session, &modern] {
            ensure!(!call(client, "clock_now", json!({})).await?.1, "{token}");
        }
        for client in [&session, &modern] {
            let (text, is_error) = call(client, "clock_now", json!({})).await?;
            ensure!(is_error && text.contains("Rate limit exceeded: maximum 2 calls"), "{text}");
            ensure!(client.tool_names().await?.contains(&"clock_now".to_owned()));
            ensure!(!call(client, "clock_count", json!({})).await?.1);
        }
    }
    ensure!(clock.count("tools/call").await? == 8);
    Ok(())
}

#[tokio::test]
async fn where_nothing_is_the_default_only_what_a_rule_allows_is_there() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let rules = json!([
        {"when": {"scope": "read", "tool": ["clock_*", "hub_status"]}, "do": "allow"},
        {"when": {"kind": "prompt"}, "do": "allow"},
    ]);
    let config = json!({"default": "deny", "rules": rules});
    let plugway = started(Hub::before(clock.url()), config).await?;
    for (token, tools) in [
        (ANN, &["clock_add", "clock_count", "clock_echo", "clock_now", "hub_status"][..]),
        (BOB, &[]),
    ] {
        for client in who(&plugway, token).await? {
            let mut names = client.tool_names().await?;
            names.sort();
            ensure!(names == tools, "{token}: {names:?}");
            if tools.is_empty() {
                is_blocked(&client, "clock_now", json!({})).await?;
                is_blocked(&client, "hub_status", json!({})).await?;
            } else {
                ensure!(may_use(&client).await?.len() == 4);
            }
            let prompts = listed(&client, "prompts/list", "prompts", "name").await?;
            ensure!(prompts == ["clock_ask_time"], "{prompts:?}");
            let get = json!({"name": "clock_ask_time", "arguments": {"zone": "utc"}});
            client.call("prompts/get", get).await?.result()?;
            let resources = listed(&client, "resources/list", "resources", "uri").await?;
            ensure!(resources.is_empty(), "{resources:?}");
            for uri in ["clock://zones", "clock://zone/utc", "plugway://hub/status"] {
                let reply = client.call("resources/read", json!({"uri": uri})).await?;
                let said = &reply.response()?["error"]["message"];
                ensure!(
                    *said == format!("Resource '{uri}' is blocked by gateway policy."),
                    "{said}"
                );
            }
        }
    }
    plugway.logged("the rule default", BOUND).await?;
    Ok(())
}

#[tokio::test]
async fn servers_and_kinds_are_told_apart() -> Result<()> {
    let (one, two) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let hub = Hub::new("hub").upstream("one", one.url()).upstream("two", two.url());
    let rules = json!([
        {"when": {"upstream": "two", "kind": ["tool", "prompt"], "not": {"scope": "read"}}, "do": "deny"},
        {"name": "no zones", "when": {"kind": "resource", "upstream": "*"}, "do": "deny", "reason": "No zones."},
    ]);
    let plugway = started(hub, json!({"rules": rules})).await?;
    for (token, sees_two) in [(ANN, true), (BOB, false)] {
        for client in who(&plugway, token).await? {
            let (names, prompts) = (
                client.tool_names().await?,
                listed(&client, "prompts/list", "prompts", "name").await?,
            );
            for (all, name, is_there) in [
                (&names, "one_now", true),
                (&names, "two_now", sees_two),
                (&prompts, "one_ask_time", true),
                (&prompts, "two_ask_time", sees_two),
            ] {
                ensure!(all.iter().any(|own| own == name) == is_there, "{token} {name}: {all:?}");
            }
            ensure!(call(&client, "two_now", json!({})).await?.1 != sees_two);
            let get = json!({"name": "two_ask_time", "arguments": {"zone": "utc"}});
            let got = client.call("prompts/get", get).await?;
            if !sees_two {
                let sentence = "Prompt 'two_ask_time' is blocked by gateway policy.";
                ensure!(got.error_code()? == -32603, "{got:?}");
                ensure!(got.response()?["error"]["message"] == sentence, "{got:?}");
            }
            // What the connector offers itself is no server's.
            let resources = listed(&client, "resources/list", "resources", "uri").await?;
            ensure!(resources == ["plugway://hub/status"], "{resources:?}");
            let read = client.call("resources/read", json!({"uri": "clock://zones"})).await?;
            ensure!(read.response()?["error"]["message"] == "No zones.", "{read:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_changed_rule_decides_about_the_next_call_of_a_session() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let setup = |rules: Value| {
        let hub = with(Hub::before(clock.url()), json!({"rules": rules})).top("auth", auth());
        anyhow::Ok(identified(hub.setup()?, &json!({})))
    };
    let deny = |tool: &str, reason: &str| json!([{"when": {"tool": tool, "not": {"scope": "read"}}, "do": "deny", "reason": reason}]);
    let plugway = setup(deny("add", "First."))?.start().await?;
    let (ann, bob) = (who(&plugway, ANN).await?, who(&plugway, BOB).await?);
    let all = ["clock_add", "clock_count", "clock_echo", "clock_now"];
    let without = |tool: &str| all.into_iter().filter(|name| *name != tool).collect::<Vec<_>>();
    let said = async |client: &Client, tool: &str| {
        let (text, is_error) = call(client, tool, json!({"message": "hi"})).await?;
        let text: Value = serde_json::from_str(&text).context(text)?;
        anyhow::Ok((text.to_string(), is_error))
    };
    for client in &bob {
        ensure!(may_use(client).await? == without("clock_add"));
        ensure!(said(client, "clock_add").await? == refused("First."));
    }
    applied(&plugway, &setup(deny("echo", "Second."))?).await?;
    for client in &bob {
        ensure!(said(client, "clock_echo").await? == refused("Second."));
        ensure!(may_use(client).await? == without("clock_echo"));
    }
    applied(&plugway, &setup(json!([]))?).await?;
    for client in ann.iter().chain(&bob) {
        ensure!(may_use(client).await? == all);
    }
    Ok(())
}
