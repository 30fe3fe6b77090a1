//! Three real servers and the demo behind one plugway: every client sees everything of each, and every tool, prompt and
//! resource answers what the server answers directly.
//!
//! The reference server speaks no modern era: a modern client's call is compared with the legacy answer then, but for
//! the members that only the modern era has.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use futures_util::future::{try_join, try_join_all};
use plugway_tests::{
    DemoHttp, Plugway,
    peers::{PeerServer, Peers},
    rpc::Client,
};
use serde_json::{Map, Value, json};

mod clients;
mod table;

use self::{
    clients::Seen,
    table::{Ask, Server, What},
};

/// Three real servers, the demo, and plugway before them.
struct Merged {
    peers: Peers,
    everything: PeerServer,
    fastmcp: PeerServer,
    clock: DemoHttp,
    plugway: Plugway,
}

impl Merged {
    async fn start() -> Result<Self> {
        Self::with("[elicitation]").await
    }

    /// With a reference server that may ask clients for these.
    async fn with(asks: &str) -> Result<Self> {
        let peers = Peers::find()?;
        let (everything, fastmcp) = (peers.everything().await?, peers.fastmcp_server().await?);
        let clock = DemoHttp::start(&[]).await?;
        let of = Server::name;
        // The Inspector leaves its sessions open, one for each call: the children of those that are over end soon.
        let local = format!(
            "{{name: {}, command: '{}', args: ['{}', stdio], idle_stop: 1s, \
             server_requests: {asks}}}",
            of(Server::Stdio),
            peers.node().display(),
            peers.everything_script().display()
        );
        let remote = |server, url| format!("{{name: {}, url: '{url}'}}", of(server));
        let upstreams = [
            local,
            format!(
                "{{name: {}, url: '{}', server_requests: {asks}}}",
                of(Server::Http),
                everything.url()
            ),
            remote(Server::FastMcp, fastmcp.url()),
            remote(Server::Clock, clock.url()),
        ];
        let configuration =
            format!("name: hub\nstatus: false\nupstreams: [{}]\n", upstreams.join(", "));
        let plugway = Plugway::start(configuration).await?;
        Ok(Self { peers, everything, fastmcp, clock, plugway })
    }

    /// A session, or a modern client, at the server itself. The reference server answers the same over stdio.
    async fn direct(&self, server: Server, is_modern: bool) -> Result<Client> {
        let address = match server {
            Server::Stdio | Server::Http => self.everything.address(),
            Server::FastMcp => self.fastmcp.address(),
            Server::Clock => self.clock.address(),
        };
        if is_modern && server.is_modern() {
            return Ok(Client::modern(address, "/mcp"));
        }
        Client::legacy(address, "/mcp").await
    }

    /// What each server answers by itself.
    async fn direct_results(&self, is_modern: bool, asks: &[Ask]) -> Result<Vec<Value>> {
        let mut results = vec![Value::Null; asks.len()];
        for server in Server::ALL {
            let client = self.direct(server, is_modern).await?;
            for (ask, result) in asks.iter().zip(&mut results) {
                if ask.server == server {
                    *result = plain(&client, ask, ask.name).await?;
                }
            }
        }
        Ok(results)
    }

    /// Compares what a client saw with what the servers list and answer by themselves.
    async fn check(&self, who: &str, is_modern: bool, asks: &[Ask], seen: &Seen) -> Result<()> {
        let listed = |what: What, list: &BTreeSet<String>| {
            let table = table::everything();
            let wanted: BTreeSet<String> =
                table.iter().filter(|ask| ask.what == what).map(Ask::shown).collect();
            let missing: Vec<&String> = wanted.difference(list).collect();
            ensure!(missing.is_empty(), "{who}: {what:?}s are missing: {missing:?}");
            // The table has only some of the resources.
            let more: Vec<&String> = list.difference(&wanted).collect();
            ensure!(what == What::Resource || more.is_empty(), "{who}: not in the table: {more:?}");
            Ok(())
        };
        listed(What::Tool, &seen.tools)?;
        listed(What::Prompt, &seen.prompts)?;
        listed(What::Resource, &seen.resources)?;
        let direct = self.direct_results(is_modern, asks).await?;
        ensure!(seen.results.len() == direct.len(), "{who}: {} answers", seen.results.len());
        for ((ask, own), through) in asks.iter().zip(&direct).zip(&seen.results) {
            let (own, through) = (normal(own, ask), normal(through, ask));
            ensure!(own == through, "{who}: {ask:?}\ndirectly: {own}\nthrough plugway: {through}");
        }
        Ok(())
    }
}

async fn plain(client: &Client, ask: &Ask, name: &str) -> Result<Value> {
    let (method, params) = ask.request(name);
    let reply = client.call(method, params).await.with_context(|| format!("{ask:?}"))?;
    let response = reply.response().with_context(|| format!("{ask:?}"))?;
    let error = || json!({"error": response.pointer("/error/code")});
    Ok(response.get("result").cloned().unwrap_or_else(error))
}

/// An answer without what clients and eras add or leave out: members that are null, `isError: false`, who serves, how
/// long to keep it, the form of numbers. Of an answer that varies, its members and whether it is an error.
fn normal(answer: &Value, ask: &Ask) -> Value {
    let mut answer = without_nulls(answer);
    let Some(members) = answer.as_object_mut() else { return answer };
    for key in ["resultType", "ttlMs", "cacheScope"] {
        members.remove(key);
    }
    if members.get("isError") == Some(&json!(false)) {
        members.remove("isError");
    }
    if let Some(meta) = members.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.remove("io.modelcontextprotocol/serverInfo");
        if meta.is_empty() {
            members.remove("_meta");
        }
    }
    if ask.fixed {
        return answer;
    }
    let keys: Vec<&String> = members.keys().collect();
    json!({"members": keys, "isError": members.get("isError")})
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

#[tokio::test]
async fn peer_servers_answer_a_plain_client_exactly_as_they_answer_directly() -> Result<()> {
    let merged = Merged::start().await?;
    let asks = table::everything();
    for is_modern in [false, true] {
        let client =
            if is_modern { merged.plugway.modern() } else { merged.plugway.legacy().await? };
        let direct = merged.direct_results(is_modern, &asks).await?;
        for (ask, own) in asks.iter().zip(&direct) {
            let through = plain(&client, ask, &ask.shown()).await?;
            if ask.fixed && (!is_modern || ask.server.is_modern()) {
                ensure!(*own == through, "{ask:?}\ndirectly: {own}\nthrough plugway: {through}");
            }
            let (own, through) = (normal(own, ask), normal(&through, ask));
            ensure!(own == through, "{ask:?}\ndirectly: {own}\nthrough plugway: {through}");
        }
    }
    Ok(())
}

/// A tool of the reference server that only clients with a model are offered.
const SAMPLES: &str = "trigger-sampling-request";

/// The reference server offers some tools only to clients that can be asked.
#[tokio::test]
async fn peer_servers_offer_able_clients_what_they_offer_them_directly() -> Result<()> {
    let merged = Merged::with("[elicitation, sampling, roots]").await?;
    let capabilities = json!({
        "elicitation": {}, "sampling": {}, "roots": {"listChanged": true},
        "tasks": {"requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}},
    });
    let able = async |address| Client::legacy_with(address, "/mcp", capabilities.clone()).await;
    let direct = able(merged.everything.address()).await?;
    let (own, through) = (direct.tool_names().await?, able(merged.plugway.address()).await?);
    ensure!(own.len() > 13, "{own:?}");
    let listed = through.tool_names().await?;
    for server in [Server::Stdio, Server::Http] {
        let wanted = own.iter().map(|name| format!("{}_{name}", server.name()));
        let missing: Vec<String> = wanted.filter(|name| !listed.contains(name)).collect();
        ensure!(missing.is_empty(), "{}: {missing:?} of {listed:?}", server.name());
    }
    // It is called at a child that was told the same: a child that was not has no such tool. Without a prompt nobody is asked.
    let call = async |client: &Client, name: &str| {
        let reply = client.call("tools/call", json!({"name": name, "arguments": {}})).await?;
        anyhow::Ok(reply.result()?["content"][0]["text"].clone())
    };
    let (own, reached) =
        (call(&direct, SAMPLES).await?, call(&through, &format!("local_{SAMPLES}")).await?);
    ensure!(
        own == reached && own.as_str().is_some_and(|text| text.contains("prompt")),
        "{own}\n{reached}"
    );
    Ok(())
}

#[tokio::test]
async fn peer_client_mcp_uses_everything_in_both_eras() -> Result<()> {
    let (merged, asks) = (Merged::start().await?, table::everything());
    for (mode, is_modern) in [("legacy", false), ("auto", true)] {
        let seen = clients::mcp(&merged.peers, &merged.plugway.mcp_url(), mode, &asks).await?;
        merged.check(&format!("mcp {mode}"), is_modern, &asks, &seen).await?;
    }
    Ok(())
}

#[tokio::test]
async fn peer_client_fastmcp_uses_everything_in_both_eras() -> Result<()> {
    let (merged, asks) = (Merged::start().await?, table::everything());
    for (mode, is_modern) in [("legacy", false), ("auto", true)] {
        let seen = clients::fastmcp(&merged.peers, &merged.plugway.mcp_url(), mode, &asks).await?;
        merged.check(&format!("fastmcp {mode}"), is_modern, &asks, &seen).await?;
    }
    Ok(())
}

/// Compares what comes of a task of the Inspector's with what comes of it directly. Each task has an id of its own.
async fn same_task(peers: &Peers, server: &str, plugway: &str, ask: &Ask) -> Result<()> {
    let (own, through) = try_join(
        clients::inspector_ask(peers, server, "legacy", ask, ask.name),
        clients::inspector_ask(peers, plugway, "legacy", ask, &ask.shown()),
    )
    .await?;
    let mut answers = [own, through];
    for answer in &mut answers {
        let id = answer.pointer_mut("/_meta/io.modelcontextprotocol~1related-task/taskId");
        ensure!(id.map(Value::take).unwrap_or_default().is_string(), "{ask:?}: {answer}");
    }
    let [own, through] = answers;
    ensure!(own == through, "{ask:?}\ndirectly: {own}\nthrough plugway: {through}");
    let text = through.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default();
    ensure!(text.contains("Research Report: proxies"), "{through}");
    Ok(())
}

#[tokio::test]
async fn peer_client_inspector_uses_everything_in_both_eras() -> Result<()> {
    let (merged, asks) = (Merged::start().await?, table::everything());
    // In a session the Inspector makes a task of this call: what comes of it is compared with what comes of it directly.
    let is_task = |ask: &Ask| ask.name == "simulate-research-query";
    let (tasks, plain): (Vec<Ask>, Vec<Ask>) = asks.iter().cloned().partition(is_task);
    let (peers, url) = (&merged.peers, merged.plugway.mcp_url());
    ensure!(tasks.len() == 2, "{tasks:?}");
    let compared = tasks.iter().map(|ask| same_task(peers, merged.everything.url(), &url, ask));
    try_join_all(compared).await?;
    for (era, is_modern, asks) in [("legacy", false, plain), ("modern", true, asks)] {
        let seen = clients::inspector(peers, &url, era, &asks).await?;
        merged.check(&format!("inspector {era}"), is_modern, &asks, &seen).await?;
    }
    Ok(())
}

#[tokio::test]
async fn peer_client_rust_uses_everything_in_both_eras() -> Result<()> {
    let (merged, asks) = (Merged::start().await?, table::everything());
    for is_modern in [false, true] {
        let seen = Box::pin(clients::rust(&merged.plugway.mcp_url(), is_modern, &asks)).await?;
        merged.check(&format!("rmcp, modern: {is_modern}"), is_modern, &asks, &seen).await?;
    }
    Ok(())
}
