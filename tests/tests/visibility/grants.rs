//! What a policy of the operator's own may read of a request.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{DemoHttp, Guest, Hub, Plugway, metrics, rpc::Client};
use serde_json::json;

const HEADERS: [(&str, &str); 3] =
    [("x-hide", "clock_add"), ("x-hide", "clock_echo"), ("x-other", "1")];

async fn judged(plugway: &Plugway) -> Result<f64> {
    let labels = [("plugin", "visibility_by_request"), ("hook", "visible")];
    metrics::sum(plugway, metrics::CALLS, &labels).await
}

#[tokio::test]
async fn it_reads_what_it_was_granted_and_views_are_kept_apart() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let grants = json!({"headers": ["x-hide"], "query": ["hide"]});
    let guest = Guest::new("visibility_by_request").grants(grants);
    let plugway = Hub::before(clock.url()).policy(guest).start().await?;
    let client = Client::modern(plugway.address(), "/mcp?hide=hub_status&hide=clock_now&x=1");
    let client = client.with_headers(&HEADERS);
    for _ in 0..3 {
        ensure!(client.tool_names().await? == ["clock_count"]);
    }
    let once = judged(&plugway).await?;
    ensure!((once - 1.0).abs() < f64::EPSILON, "judged {once} times");
    let said = client.call("server/discover", json!({})).await?;
    let said = said.result()?["instructions"].as_str().context("no instructions")?.to_owned();
    let notice = "Hidden for you: clock_add, clock_echo; hub_status,clock_now.\n\n## clock";
    ensure!(said.starts_with(notice), "{said}");
    // A long one is cut.
    let long = format!("/mcp?hide={}", "x".repeat(2_000));
    let said = Client::modern(plugway.address(), &long).call("server/discover", json!({})).await?;
    let said = said.result()?["instructions"].as_str().context("no instructions")?.to_owned();
    let notice = said.split_once("\n\n").context("nothing follows")?.0;
    ensure!(notice.len() < 520 && notice.ends_with(".."), "{notice}");
    Ok(())
}

#[tokio::test]
async fn without_a_grant_it_reads_nothing_and_all_requests_are_alike() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let guest = Guest::new("visibility_by_request");
    let plugway = Hub::before(clock.url()).policy(guest).start().await?;
    for query in ["", "?hide=clock_now", "?hide=hub_status"] {
        let client = Client::modern(plugway.address(), &format!("/mcp{query}"));
        ensure!(client.with_headers(&HEADERS).tool_names().await?.len() == 5, "{query}");
    }
    let once = judged(&plugway).await?;
    ensure!((once - 1.0).abs() < f64::EPSILON, "judged {once} times");
    Ok(())
}
