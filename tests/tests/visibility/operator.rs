//! What the operator says, in the file and in the environment.

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub};
use serde_json::{Value, json};

use super::{all, ensure_unknown, hub, listed, tagged};

#[tokio::test]
async fn lists_of_tools_prompts_and_resources_are_apart() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let (uri, template) = ("clock://zones", "clock://zone/{zone}");
    for (config, tools, others) in [
        (
            json!({}),
            &["clock_now", "clock_count", "clock_echo", "clock_add"][..],
            [&["clock_ask_time"][..], &[uri], &[template]],
        ),
        (
            json!({"tools": {"enabled": ["clock_a*", "clock_n?w"]}}),
            &["clock_now", "clock_add"],
            [&["clock_ask_time"], &[uri], &[template]],
        ),
        (
            json!({"tools": {"disabled": ["*"]}, "prompts": {"disabled": ["*"]}}),
            &[],
            [&[], &[uri], &[template]],
        ),
        (
            json!({"tools": {"enabled": ["none"]}, "resources": {"enabled": ["zone"]}}),
            &[],
            [&["clock_ask_time"], &[], &[template]],
        ),
        (
            json!({"tools": {"enabled": ["none"]}, "resources": {"disabled": ["clock://zone/*"]}}),
            &[],
            [&["clock_ask_time"], &[uri], &[]],
        ),
        (
            json!({"also": [{"tools": {"enabled": ["clock_now"]}}], "tools": {"enabled": ["clock_*"]}}),
            &["clock_now"],
            [&["clock_ask_time"], &[uri], &[template]],
        ),
    ] {
        let plugway = hub(clock.url(), config.clone()).start().await?;
        for client in [plugway.legacy().await?, plugway.modern()] {
            let mut found = all(&client).await?;
            let mut wanted: Vec<&str> = tools.to_vec();
            found[0].sort_unstable();
            wanted.sort_unstable();
            ensure!(found[0] == wanted, "{config}: {found:?}");
            ensure!(found[1..] == others, "{config}: {found:?}");
            if !tools.contains(&"clock_add") {
                ensure_unknown(&client, "clock_add").await?;
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn tags_of_servers_show_and_hide() -> Result<()> {
    let server = tagged().await?;
    for (config, tools, prompts, resources) in [
        (
            json!({}),
            &["clock_read", "clock_wipe", "clock_plain"][..],
            &["clock_explain", "clock_other"][..],
            &["file://a"][..],
        ),
        (json!({"tags": {"enabled": ["safe"]}}), &["clock_read"], &["clock_explain"], &[]),
        (
            json!({"tags": {"disabled": ["ad*"]}}),
            &["clock_read", "clock_plain"],
            &["clock_explain", "clock_other"],
            &["file://a"],
        ),
        (
            json!({"tags": {"enabled": ["files"], "disabled": ["admin"]}}),
            &["clock_read"],
            &[],
            &["file://a"],
        ),
    ] {
        let plugway = hub(&server.url(), config.clone()).start().await?;
        let found = all(&plugway.modern()).await?;
        ensure!(
            found[0] == tools && found[1] == prompts && found[2] == resources,
            "{config}: {found:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn what_the_connector_answers_itself_stays_until_it_is_disabled() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let of = |config: Value| {
        Hub::before(clock.url())
            .key("policies", json!([{"use": "visibility", "config": config}]))
            .key("discovery", json!("lazy"))
    };
    let plugway = of(json!({"tools": {"enabled": ["clock_now"]}, "tags": {"enabled": ["x"]}}))
        .start()
        .await?;
    let client = plugway.legacy().await?;
    let own = ["hub_status", "find_tools", "load_tools", "unload_tools", "call_tool"];
    ensure!(client.tool_names().await? == own);
    let found = client.call_text("find_tools", json!({"query": "clock now add"})).await?;
    ensure!(!found.contains("clock_"), "nothing has the tag: {found}");
    let call = json!({"name": "clock_add", "arguments": {"a": 1, "b": 2}});
    let call = json!({"name": "call_tool", "arguments": call});
    let called = client.call("tools/call", call).await?;
    ensure!(called.error_code()? == -32602, "{called:?}");
    let plugway =
        of(json!({"tools": {"disabled": ["hub_status", "unload_tools"]}})).start().await?;
    ensure!(
        plugway.legacy().await?.tool_names().await? == ["find_tools", "load_tools", "call_tool"]
    );
    Ok(())
}

#[tokio::test]
async fn the_environment_narrows_every_connector_and_what_the_file_says() -> Result<()> {
    let (clock, server) = (DemoHttp::start(&[]).await?, tagged().await?);
    let connector = |name: &str, policies: Value| {
        json!({"name": name, "status": false, "policies": policies, "upstreams": [
            {"name": "clock", "url": clock.url()}, {"name": "tagged", "url": server.url()},
        ]})
    };
    let own = json!([{"use": "visibility", "config": {"tools": {"disabled": ["clock_add"]}, "client_filters": false}}]);
    let configuration = json!({"connectors": [connector("one", json!([])), connector("two", own)]});
    let setup = plugway_tests::plugway::Setup::new(configuration.to_string());
    let setup = setup
        .environment("MCP_ENABLED_TOOLS", "clock_add, clock_now,tagged_*,all")
        .environment("MCP_DISABLED_TOOLS", "tagged_plain")
        .environment("MCP_DISABLED_TAGS", "admin");
    let plugway = setup.start().await?;
    let of = |path: &str| plugway_tests::rpc::Client::modern(plugway.address(), path);
    let one = listed(&of("/one/mcp"), 0).await?;
    ensure!(
        one == ["clock_now", "clock_add", "tagged_read"]
            || one == ["clock_add", "clock_now", "tagged_read"],
        "{one:?}"
    );
    ensure!(listed(&of("/two/mcp"), 0).await? == ["clock_now", "tagged_read"]);
    // Where the file has the policy it also says whether clients narrow; elsewhere they do.
    ensure!(listed(&of("/one/mcp?tools=clock_now"), 0).await? == ["clock_now"]);
    ensure!(listed(&of("/two/mcp?tools=clock_now"), 0).await? == ["clock_now", "tagged_read"]);
    ensure!(listed(&of("/one/mcp?tools=clock_echo"), 0).await?.is_empty(), "nobody widens");
    Ok(())
}

#[tokio::test]
async fn variables_that_are_no_lists_keep_it_from_starting() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    for (name, value, part) in [
        ("MCP_ENABLED_TOOLS", "a b", "which is no name"),
        ("MCP_DISABLED_TOOLS", "all", "write `*`"),
        ("MCP_ENABLED_TAGS", ",", "names nothing"),
        ("MCP_DISABLED_TAGS", "a,é", "which is no name"),
    ] {
        let output =
            Hub::before(clock.url()).setup()?.environment(name, value).serve_to_its_end().await?;
        ensure!(output.status.code() == Some(1), "{output:?}");
        ensure!(output.stderr.contains(name) && output.stderr.contains(part), "{output:?}");
    }
    // A plugin of the operator's that has the name is none that the variables are for.
    let guest = Guest::new("visibility_by_scope").named("visibility").config(json!({}));
    let setup = Hub::before(clock.url()).policy(guest).setup()?;
    let output = setup.environment("MCP_ENABLED_TOOLS", "a").serve_to_its_end().await?;
    ensure!(output.stderr.contains("a file stands in its place"), "{output:?}");
    Ok(())
}
