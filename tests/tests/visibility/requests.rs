//! What requests say.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Coder, DemoHttp, Hub,
    coder::function,
    rpc::{Channel, Client},
};
use serde_json::{Value, json};

use super::{all, ensure_unknown, hub, listed, tagged};

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one table of parameters and headers")]
async fn parameters_and_headers_narrow_what_they_name() -> Result<()> {
    let server = tagged().await?;
    let plugway =
        hub(&server.url(), json!({"tools": {"disabled": ["clock_wipe"]}})).start().await?;
    let (tools, prompts) =
        (&["clock_read", "clock_plain"][..], &["clock_explain", "clock_other"][..]);
    let files = &["file://a"][..];
    for (query, headers, expected) in [
        ("", &[][..], [tools, prompts, files]),
        ("?", &[], [tools, prompts, files]),
        ("?tools=clock_read", &[], [&["clock_read"], prompts, files]),
        ("?toolsets=clock_plain&tools=clock_read,clock_wipe", &[], [tools, prompts, files]),
        ("?tools=*_p%6Cain&other=%00", &[], [&["clock_plain"], prompts, files]),
        ("?tools=clock_read,+clock_plain", &[], [tools, prompts, files]),
        (
            "?disabled_tools=clock_re*&disabled_toolsets=none",
            &[],
            [&["clock_plain"], prompts, files],
        ),
        ("?tools=clock_wipe", &[], [&[], prompts, files]),
        ("?prompts=clock_other", &[], [tools, &["clock_other"], files]),
        ("?disabled_prompts=*", &[], [tools, &[], files]),
        ("?resources=file://b", &[], [tools, prompts, &[]]),
        ("?resources=file%3A%2F%2F*", &[], [tools, prompts, files]),
        ("?disabled_resources=file://a", &[], [tools, prompts, &[]]),
        ("?tags=safe", &[], [&["clock_read"], &["clock_explain"], &[]]),
        ("?disabled_tags=safe", &[], [&["clock_plain"], &["clock_other"], files]),
        ("", &[("x-mcp-enabled-tools", "clock_read")], [&["clock_read"], prompts, files]),
        (
            "",
            &[("X-MCP-Enabled-Tools", "clock_read"), ("x-mcp-enabled-tools", "clock_plain")],
            [tools, prompts, files],
        ),
        ("", &[("x-mcp-disabled-tools", "clock_read")], [&["clock_plain"], prompts, files]),
        ("", &[("x-mcp-enabled-prompts", "clock_other")], [tools, &["clock_other"], files]),
        ("", &[("x-mcp-disabled-prompts", "clock_other")], [tools, &["clock_explain"], files]),
        ("", &[("x-mcp-enabled-resources", "none")], [tools, prompts, &[]]),
        ("", &[("x-mcp-disabled-resources", "file:*")], [tools, prompts, &[]]),
        (
            "",
            &[("x-mcp-enabled-components", "clock_other,clock_read")],
            [&["clock_read"], &["clock_other"], &[]],
        ),
        (
            "",
            &[("x-mcp-disabled-components", "clock_other,clock_read,file://a")],
            [&["clock_plain"], &["clock_explain"], &[]],
        ),
        ("", &[("x-mcp-enabled-tags", "files")], [&["clock_read"], &[], files]),
        ("", &[("x-mcp-disabled-tags", "files")], [&["clock_plain"], prompts, &[]]),
        ("?tools=clock_read", &[("x-mcp-enabled-tools", "clock_plain")], [&[], prompts, files]),
        ("?q=&tools=", &[("x-mcp-search", "")], [tools, prompts, files]),
    ] {
        let path = format!("/mcp{query}");
        let legacy = plugway.legacy().await?.at(&path).with_headers(headers);
        let modern = Client::modern(plugway.address(), &path).with_headers(headers);
        for client in [legacy, modern] {
            let found = all(&client).await?;
            ensure!(found[..3] == expected, "{query} {headers:?}: {found:?}");
            for hidden in tools.iter().filter(|tool| !expected[0].contains(tool)) {
                ensure_unknown(&client, hidden).await?;
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_session_may_ask_for_something_else_each_time_and_shares_nothing() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = hub(clock.url(), json!({})).start().await?;
    let mut client = Client::legacy(plugway.address(), "/mcp?tools=clock_now").await?;
    let other = plugway.legacy().await?;
    for _ in 0..2 {
        client = client.at("/mcp?tools=clock_now");
        ensure!(client.tool_names().await? == ["clock_now"]);
        ensure_unknown(&client, "clock_add").await?;
        ensure!(other.tool_names().await?.len() == 4);
        client = client.at("/mcp?tools=clock_add");
        ensure!(client.tool_names().await? == ["clock_add"]);
        ensure!(client.call_text("clock_add", json!({"a": 1, "b": 2})).await? == "3");
        client = client.at("/mcp");
        ensure!(client.tool_names().await?.len() == 4);
        // All requests of the modern era without identity are one caller.
        for (query, count) in [("?tools=clock_now", 1), ("", 4), ("?disabled_tools=clock_now", 3)] {
            let client = Client::modern(plugway.address(), &format!("/mcp{query}"));
            let reply = client.call("tools/list", json!({})).await?;
            let result = reply.result()?;
            ensure!(
                result["tools"].as_array().is_some_and(|tools| tools.len() == count),
                "{result}"
            );
            ensure!(result["cacheScope"] == "private", "{result}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_filter_that_cannot_be_read_shows_nothing_and_says_so() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = hub(clock.url(), json!({})).start().await?;
    let long = format!("?tools={}", "a".repeat(129));
    for (query, headers, name) in [
        ("?tools=a%20b", &[][..], "tools"),
        ("?tools=all", &[], "tools"),
        ("?disabled_tags=%FF", &[], "disabled_tags"),
        (&long, &[], "tools"),
        ("?q=weather", &[], "q"),
        ("?query=x", &[], "query"),
        ("?search=x", &[], "search"),
        ("", &[("x-mcp-enabled-components", "a;b")], "x-mcp-enabled-components"),
        ("", &[("x-mcp-query", "x")], "x-mcp-query"),
        ("", &[("x-mcp-search", "x")], "x-mcp-search"),
    ] {
        let path = format!("/mcp{query}");
        let modern = Client::modern(plugway.address(), &path).with_headers(headers);
        let said = modern.call("server/discover", json!({})).await?;
        let said = said.result()?["instructions"].as_str().context("no instructions")?.to_owned();
        ensure!(said.starts_with(&format!("Nothing is shown here: the filter `{name}`")), "{said}");
        ensure!(all(&modern).await?.iter().all(Vec::is_empty), "{path}");
        ensure_unknown(&modern, "clock_now").await?;
        let legacy = plugway.legacy().await?.at(&path).with_headers(headers);
        ensure!(all(&legacy).await?.iter().all(Vec::is_empty), "{path}");
    }
    let legacy = Client::legacy(plugway.address(), "/mcp?q=x").await?;
    let said = legacy.initialized().context("no answer")?["instructions"].clone();
    ensure!(said.as_str().is_some_and(|said| said.contains("the filter `q`")), "{said}");
    let plain = plugway.legacy().await?;
    let said = plain.initialized().context("no answer")?["instructions"].to_string();
    ensure!(!said.contains("Nothing is shown"), "{said}");
    let told = plugway.stderr().iter().filter(|line| line.contains("it is shown nothing")).count();
    ensure!(told == 1, "{told} lines");
    Ok(())
}

#[tokio::test]
async fn an_operator_may_have_it_that_clients_narrow_nothing() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = hub(clock.url(), json!({"client_filters": false})).start().await?;
    for query in ["?tools=clock_now", "?q=x", "?tools=%00"] {
        let client = Client::modern(plugway.address(), &format!("/mcp{query}"));
        ensure!(listed(&client, 0).await?.len() == 4, "{query}");
    }
    // Without the policy nobody reads them either.
    let plugway = Hub::before(clock.url()).start().await?;
    let client = Client::modern(plugway.address(), "/mcp?tools=clock_now");
    ensure!(client.tool_names().await?.len() == 5);
    Ok(())
}

#[tokio::test]
async fn a_client_of_the_first_revision_says_it_in_the_url_of_its_stream() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = hub(clock.url(), json!({})).start().await?;
    let path = "/sse?tools=clock_add,clock_n%2A&sessionId=x&tools=clock_echo&other=1";
    let mut channel = Channel::open(plugway.address(), path, None).await?;
    ensure!(!channel.messages.contains("other") && !channel.messages.contains("sessionId=x"));
    channel.initialize().await?;
    let answer = channel.call(1, "tools/list", json!({})).await?;
    let tools = answer["result"]["tools"].as_array().context("no tools")?;
    let mut names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    names.sort_unstable();
    ensure!(names == ["clock_add", "clock_echo", "clock_now"], "{names:?}");
    Ok(())
}

#[tokio::test]
async fn the_page_of_functions_follows_the_filters_of_its_own_request() -> Result<()> {
    let server = Coder::start("chem", &[function("parse", "Parses", &[], &[])]).await?;
    let plugway = hub(&server.url(), json!({})).start().await?;
    let of = async |query: &str| -> Result<Vec<Value>> {
        let shown = plugway.get(&format!("/catalog{query}")).await?.json()?;
        Ok(shown["tools"].as_array().context("no list")?.clone())
    };
    ensure!(of("").await?.len() == 1);
    ensure!(of("?disabled_tools=execute_*").await?.is_empty(), "nothing can run it");
    ensure!(of("?resources=none").await?.len() == 1, "it is no resource to this page");
    ensure!(of("?tools=%00").await?.is_empty());
    Ok(())
}
