//! A server whose tools do several things becomes one whose tools do one each (`split_actions`), and tags take tools out.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{Guest, Plugway, peers::Peers, plugway::Setup, wait};
use serde_json::{Value, json};

fn configuration(keys: &str, policies: &str) -> Result<String> {
    let peers = Peers::find()?;
    Ok(format!(
        "name: hub\nstatus: false\n{policies}upstreams:\n- {{name: gh, command: '{}', args: ['{}'], {keys}}}\n",
        peers.python().display(),
        peers.actions_script().display(),
    ))
}

async fn listed(plugway: &Plugway) -> Result<Vec<Value>> {
    plugway.wait_until_connected(&["gh"]).await?;
    let list = plugway.legacy().await?.call("tools/list", json!({})).await?;
    Ok(list.result()?["tools"].as_array().context("no tools")?.clone())
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn peer_each_action_is_a_tool_that_does_this_alone() -> Result<()> {
    let plugway = Plugway::start(configuration("split_actions: true", "")?).await?;
    let tools = listed(&plugway).await?;
    let wanted = [
        "gh_list",
        "gh_delete_issue",
        "gh_merge",
        "gh_close_pull",
        "gh_reopen",
        "gh_wipe",
        "gh_page",
    ];
    ensure!(names(&tools) == wanted, "{tools:?}");
    let description = "Opens a pull request again, as the action of that name does.";
    ensure!(tools[4]["description"] == description, "not the server's own tool: {}", tools[4]);
    let list = &tools[0];
    ensure!(list["inputSchema"]["properties"].get("action").is_none(), "{list}");
    ensure!(list["inputSchema"]["properties"]["number"]["default"] == 0, "{list}");
    ensure!(list["annotations"]["readOnlyHint"] == true, "{list}");
    ensure!(tools[1]["annotations"]["destructiveHint"] == true, "{}", tools[1]);
    ensure!(tools[2]["inputSchema"]["required"] == json!(["number"]), "{}", tools[2]);

    for client in [plugway.legacy().await?, plugway.modern()] {
        ensure!(client.call_text("gh_list", json!({"number": 7})).await? == "issues list 7");
        ensure!(client.call_text("gh_list", json!({})).await? == "issues list 0");
        ensure!(client.call_text("gh_merge", json!({"number": 2})).await? == "pulls merge 2");
        // An action that has a tool of its own is that tool, and no other name leads to the action.
        ensure!(client.call_text("gh_reopen", json!({"number": 5})).await? == "reopen 5");
        // Who asks the tool of one action for another gets the one that it is named for.
        let other = json!({"action": "delete_issue", "number": 3});
        ensure!(client.call_text("gh_list", other).await? == "issues list 3");
        let whole =
            client.call("tools/call", json!({"name": "gh_issues", "arguments": {}})).await?;
        ensure!(whole.error_code()? == -32602, "{whole:?}");
    }
    Ok(())
}

#[tokio::test]
async fn peer_actions_are_called_by_their_names_where_discovery_is_lazy() -> Result<()> {
    let lazy = configuration("split_actions: true", "discovery: lazy\n")?;
    let plugway = Plugway::start(lazy).await?;
    ensure!(!names(&listed(&plugway).await?).iter().any(|name| name.starts_with("gh_")));
    for client in [plugway.legacy().await?, plugway.modern()] {
        for (arguments, wanted) in [
            (json!({"number": 7}), "issues list 7"),
            (json!({}), "issues list 0"),
            (json!({"action": "delete_issue", "number": 3}), "issues list 3"),
        ] {
            let call = json!({"name": "gh_list", "arguments": arguments});
            let said = client.call_text("call_tool", call).await?;
            ensure!(said == wanted, "{said}");
        }
        let said = client.call_text("call_tool", json!({"name": "gh_list"})).await?;
        ensure!(said == "issues list 0", "{said}");
        // By the server's own names only what is served whole.
        let page = json!({"server": "gh", "tool": "page"});
        ensure!(client.call_text("call_tool", page).await? == "page");
        let whole = json!({"server": "gh", "tool": "issues", "arguments": {"action": "list"}});
        let whole = json!({"name": "call_tool", "arguments": whole});
        let refused = client.call("tools/call", whole).await?;
        ensure!(refused.error_code()? == -32602, "{refused:?}");
    }
    Ok(())
}

#[tokio::test]
async fn peer_policies_judge_the_call_that_the_server_gets() -> Result<()> {
    let guest = Guest::new("imports_echo");
    let policies = format!("plugins: {{judge: {{file: {}}}}}\npolicies: [judge]\n", guest.file());
    let setup = Setup::new(configuration("split_actions: true", &policies)?);
    let plugway = setup.file(&guest.file(), guest.bytes()?).start().await?;
    listed(&plugway).await?;
    let answer = plugway.legacy().await?.call_tool("gh_list", json!({"number": 7})).await?;
    let seen = &answer["structuredContent"]["call"];
    ensure!(seen["name"] == "gh_list" && seen["target"] == json!(["gh", "issues"]), "{seen}");
    let arguments: Value =
        serde_json::from_str(seen["arguments_json"].as_str().context("no text")?)?;
    ensure!(arguments == json!({"number": 7, "action": "list"}), "{seen}");
    Ok(())
}

#[tokio::test]
async fn peer_tags_take_tools_out_and_the_environment_names_them() -> Result<()> {
    let text = configuration("hide_tags: [Admin]", "")?;
    let setup = Setup::new(text)
        .environment("ISSUESTOOL", "False")
        .environment("WIKI_PAGESTOOL", "off")
        .environment("PULLSTOOL", "true");
    let checked = setup.check().await?;
    let line = "offers no tools tagged admin, issues, wiki_pages";
    ensure!(checked.stdout.contains(line), "{}", checked.stdout);
    let mut plugway = setup.start().await?;
    ensure!(names(&listed(&plugway).await?) == ["gh_pulls", "gh_reopen"]);
    plugway.reconfigure(&configuration("hide_tags: [pulls]", "")?)?;
    let bound = Duration::from_secs(20);
    wait::until("the tagged tools change places", bound, async || {
        Ok((names(&listed(&plugway).await?) == ["gh_wipe"]).then_some(()))
    })
    .await?;
    plugway.wait_until_ready().await
}
