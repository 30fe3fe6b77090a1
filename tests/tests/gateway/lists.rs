//! Block-lists and allow-lists: tools, prompts and resources of two servers.

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Hub, Plugway, rpc::Client};
use serde_json::{Value, json};

use super::{BOUND, call, is_blocked, listed, with};

/// Two servers of the same kind, `one` and `two`.
async fn started(config: Value) -> Result<(DemoHttp, DemoHttp, Plugway)> {
    let (one, two) = (DemoHttp::start(&[]).await?, DemoHttp::start(&[]).await?);
    let hub = Hub::new("hub").upstream("one", one.url()).upstream("two", two.url());
    let plugway = with(hub, config).start().await?;
    plugway.wait_until_connected(&["one", "two"]).await?;
    Ok((one, two, plugway))
}

async fn both(plugway: &Plugway) -> Result<[Client; 2]> {
    Ok([plugway.legacy().await?, plugway.modern()])
}

#[tokio::test]
async fn a_blocked_tool_is_unlisted_and_says_why() -> Result<()> {
    let (one, two, plugway) = started(json!({"blocked_tools": ["echo", "one_n?w"]})).await?;
    for client in both(&plugway).await? {
        let names = client.tool_names().await?;
        for (name, shown) in [
            ("one_echo", false),
            ("two_echo", false),
            ("one_now", false),
            ("two_now", true),
            ("one_add", true),
            ("hub_status", true),
        ] {
            ensure!(names.iter().any(|own| own == name) == shown, "{name}: {names:?}");
        }
        for name in ["one_echo", "two_echo", "one_now"] {
            is_blocked(&client, name, json!({"message": "hi"})).await?;
        }
        ensure!(!call(&client, "two_now", json!({})).await?.1);
        let unknown = client.call("tools/call", json!({"name": "one_eco"})).await?;
        ensure!(unknown.text.contains("Unknown tool"), "{unknown:?}");
    }
    ensure!(one.count("tools/call").await? == 0 && two.count("tools/call").await? == 2);
    // The operator finds what decided; no client does.
    plugway.logged("`blocked_tools` names it", BOUND).await?;
    Ok(())
}

#[tokio::test]
async fn an_allow_list_leaves_what_it_names_and_the_connectors_own() -> Result<()> {
    let config = json!({"allowed_tools": ["now", "two_echo"], "blocked_tools": ["two_now"]});
    let (_one, _two, plugway) = started(config).await?;
    for client in both(&plugway).await? {
        let names = client.tool_names().await?;
        ensure!(names == ["one_now", "two_echo", "hub_status"], "{names:?}");
        for name in ["one_echo", "two_now"] {
            is_blocked(&client, name, json!({})).await?;
        }
        ensure!(!call(&client, "hub_status", json!({})).await?.1);
    }
    Ok(())
}

#[tokio::test]
async fn an_allow_list_without_entries_allows_everything() -> Result<()> {
    let (_one, _two, plugway) = started(json!({"allowed_tools": []})).await?;
    let client = plugway.legacy().await?;
    ensure!(client.tool_names().await?.len() > 4);
    ensure!(!call(&client, "one_now", json!({})).await?.1);
    Ok(())
}

#[tokio::test]
async fn prompts_and_resources_have_their_own_lists() -> Result<()> {
    let config = json!({
        "blocked_tools": ["ask_time"], "blocked_prompts": ["one_ask_time"], "allowed_resources": ["none:*"],
    });
    let (_one, _two, plugway) = started(config).await?;
    for client in both(&plugway).await? {
        let prompts = listed(&client, "prompts/list", "prompts", "name").await?;
        let has = |name: &str| prompts.iter().any(|own| own == name);
        ensure!(has("two_ask_time") && !has("one_ask_time"), "{prompts:?}");
        let resources = listed(&client, "resources/list", "resources", "uri").await?;
        ensure!(resources == ["plugway://hub/status"], "{resources:?}");
        let templates =
            listed(&client, "resources/templates/list", "resourceTemplates", "uriTemplate").await?;
        ensure!(templates.is_empty(), "{templates:?}");

        let get = |name: &str| json!({"name": name, "arguments": {"zone": "utc"}});
        let refused = client.call("prompts/get", get("one_ask_time")).await?;
        ensure!(refused.error_code()? == -32603, "{refused:?}");
        let said = &refused.response()?["error"]["message"];
        ensure!(*said == "Prompt 'one_ask_time' is blocked by gateway policy.", "{said}");
        client.call("prompts/get", get("two_ask_time")).await?.result()?;

        let uri = "clock://zones";
        let refused = client.call("resources/read", json!({"uri": uri})).await?;
        let said = &refused.response()?["error"]["message"];
        ensure!(*said == format!("Resource '{uri}' is blocked by gateway policy."), "{said}");
        let status = json!({"uri": "plugway://hub/status"});
        client.call("resources/read", status).await?.result()?;
    }
    Ok(())
}

#[tokio::test]
async fn who_observes_lets_pass_and_tells_the_audit() -> Result<()> {
    let config = json!({"blocked_tools": ["echo"], "mode": "observe"});
    let (_one, _two, plugway) = started(config).await?;
    for client in both(&plugway).await? {
        ensure!(client.tool_names().await?.contains(&"one_echo".to_owned()));
        let said = call(&client, "one_echo", json!({"message": "hi"})).await?;
        ensure!(said == ("hi".to_owned(), false), "{said:?}");
    }
    let line = plugway.logged("would deny: `blocked_tools` names it", BOUND).await?;
    let line: Value = serde_json::from_str(&line)?;
    let fields = line.get("fields").unwrap_or(&line);
    ensure!(fields["result"] == "noted" && fields["object"] == "hub/one_echo", "{line}");
    Ok(())
}

#[tokio::test]
async fn no_spelling_of_a_value_passes_a_rule() -> Result<()> {
    let deny = |test: Value| json!({"when": {"argument": test}, "do": "deny"});
    let rules = json!([
        deny(json!({"pointer": "/message", "range": {"min": 100}})),
        deny(json!({"pointer": "/message", "matches": ".*rm -rf.*"})),
    ]);
    let (_one, _two, plugway) = started(json!({"rules": rules})).await?;
    for client in both(&plugway).await? {
        for message in ["500", " 1e400", "a\nrm -rf /"] {
            is_blocked(&client, "one_echo", json!({"message": message})).await?;
        }
        let said = call(&client, "one_echo", json!({"message": "99"})).await?;
        ensure!(said == ("99".to_owned(), false), "{said:?}");
    }
    Ok(())
}
