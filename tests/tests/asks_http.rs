//! What servers ask a client of the legacy era, over HTTP: servers over HTTP and as children.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Notices, Plugway,
    asking::{accepted, elicitation, outcome, over_http, over_stdio},
    rpc::{Client, Events},
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// A server over HTTP, called `web`, and one as a child, called `kid`; each with these keys of its own.
async fn hub(keys: &str) -> Result<(DemoHttp, Plugway)> {
    let web = over_http().await?;
    let upstreams =
        format!("[{{name: web, url: '{}'{keys}}}, {}]", web.url(), over_stdio("kid", keys)?);
    let plugway = Plugway::start(format!("name: hub\nupstreams: {upstreams}\n")).await?;
    plugway.wait_until_connected(&["web", "kid"]).await?;
    Ok((web, plugway))
}

fn everything() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

async fn client(plugway: &Plugway, capabilities: Value) -> Result<Client> {
    Client::legacy_with(plugway.address(), "/mcp", capabilities).await
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

async fn next(events: &mut Events) -> Result<Value> {
    events.next(BOUND).await?.context("the stream ended")
}

/// The call's last message, and what the tool gave.
async fn done(events: &mut Events) -> Result<Value> {
    let response = next(events).await?;
    ensure!(events.next(BOUND).await?.is_none(), "something follows the response");
    outcome(response.get("result").with_context(|| format!("not a result: {response}"))?)
}

async fn outcomes(client: &Client, server: &str) -> Result<Vec<Value>> {
    let result = client.call_tool(&format!("{server}_outcomes"), json!({})).await?;
    Ok(outcome(&result)?.as_array().cloned().unwrap_or_default())
}

#[tokio::test]
async fn two_servers_that_ask_at_once_under_equal_ids_get_their_own_answers() -> Result<()> {
    let (_web, plugway) = hub("").await?;
    let client = client(&plugway, everything()).await?;
    let (mut streams, mut asks) = (Vec::new(), Vec::new());
    for server in ["web", "kid"] {
        let params = call(&format!("{server}_ask"), &elicitation("Which word?"));
        let mut stream = client.open("tools/call", params).await?;
        let asked = next(&mut stream).await?;
        ensure!(asked["params"]["message"] == format!("[{server}] Which word?"), "{asked}");
        ensure!(asked["params"]["requestedSchema"]["type"] == "object", "{asked}");
        streams.push((server, stream));
        asks.push(asked);
    }
    ensure!(asks[0]["id"] != asks[1]["id"], "{asks:?}");
    for asked in asks.iter().rev() {
        let token = &asked["params"]["_meta"]["progressToken"];
        let progress = json!({"progressToken": token, "progress": 1});
        ensure!(client.notify("notifications/progress", progress).await? == 202);
        ensure!(client.answer(asked, accepted(&asked["id"].to_string())).await? == 202);
    }
    for ((server, stream), asked) in streams.iter_mut().zip(&asks) {
        let got = done(stream).await?;
        let word = asked["id"].to_string();
        ensure!(got["result"]["content"]["word"] == word, "{server}: {got}");
        let all = outcomes(&client, server).await?;
        ensure!(all.len() == 2 && all[0]["progress"]["progress"] == 1.0, "{server}: {all:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_client_is_asked_for_what_it_declared_and_the_operator_allows_alone() -> Result<()> {
    let sampling = json!({"method": "sampling/createMessage", "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}],
        "maxTokens": 5,
        "includeContext": "allServers",
    }});
    let (_web, plugway) = hub("").await?;
    let (able, plain) = (client(&plugway, everything()).await?, client(&plugway, json!({})).await?);
    for server in ["web", "kid"] {
        let tool = |name: &str| format!("{server}_{name}");
        let claims = outcome(&able.call_tool(&tool("claims"), json!({})).await?)?;
        ensure!(claims == json!({"elicitation": {}}), "{server}: {claims}");
        let claims = outcome(&plain.call_tool(&tool("claims"), json!({})).await?)?;
        ensure!(claims == json!({}), "{server}: {claims}");
        for (client, asked) in [(&able, sampling.clone()), (&plain, elicitation("?"))] {
            let reply = client.call("tools/call", call(&tool("ask"), &asked)).await?;
            ensure!(reply.messages.len() == 1, "the client was asked: {}", reply.text);
            let got = outcome(reply.result()?)?;
            ensure!(got["error"]["code"] == -32601, "{server}: {got}");
        }
    }

    let (_web, plugway) = hub(", server_requests: [elicitation, sampling, roots]").await?;
    let able = client(&plugway, everything()).await?;
    for server in ["web", "kid"] {
        let tool = format!("{server}_ask");
        let mut stream = able.open("tools/call", call(&tool, &sampling)).await?;
        let asked = next(&mut stream).await?;
        ensure!(asked["params"]["includeContext"] == "none", "{asked}");
        ensure!(asked["params"]["maxTokens"] == 5, "{asked}");
        let content = json!({"type": "text", "text": "hi"});
        let said = json!({"role": "assistant", "content": content, "model": "m"});
        able.answer(&asked, said).await?;
        ensure!(done(&mut stream).await?["result"]["content"]["text"] == "hi");
        let roots = call(&tool, &json!({"method": "roots/list"}));
        let mut stream = able.open("tools/call", roots).await?;
        let asked = next(&mut stream).await?;
        able.answer(&asked, json!({"roots": [{"uri": "file:///a"}]})).await?;
        ensure!(done(&mut stream).await?["result"]["roots"][0]["uri"] == "file:///a");
    }
    Ok(())
}

/// With a child: over HTTP the SDK sends the cancellation on another stream than the request.
#[tokio::test]
async fn a_request_that_its_server_gives_up_is_given_up_under_the_clients_id() -> Result<()> {
    let (_web, plugway) = hub("").await?;
    let client = client(&plugway, everything()).await?;
    let listened = Notices::of(&client).await?;
    let params = call("kid_give_up", &elicitation("Never mind"));
    let reply = client.call("tools/call", params).await?;
    ensure!(outcome(reply.result()?)? == json!(true));
    // The child may have its result before it has said all that.
    let told = |method: &str| {
        let all = reply.messages.iter().cloned().chain(listened.all());
        all.into_iter().find(|message| message["method"] == method)
    };
    let cancelled =
        wait::until("the cancellation", BOUND, async || Ok(told("notifications/cancelled")))
            .await?;
    let asked = told("elicitation/create").context("the client was not asked")?;
    ensure!(cancelled["params"]["requestId"] == asked["id"], "{asked} {cancelled}");
    Ok(())
}

#[tokio::test]
async fn a_server_whose_client_is_gone_is_told_so() -> Result<()> {
    let (_web, plugway) = hub("").await?;
    let other = client(&plugway, json!({})).await?;
    let gone = client(&plugway, everything()).await?;
    let params = call("web_ask", &elicitation("Anybody?"));
    let mut stream = gone.open("tools/call", params).await?;
    next(&mut stream).await?;
    ensure!(gone.delete().await? < 300);
    let told = wait::until("the server is told", BOUND, async || {
        Ok(outcomes(&other, "web").await?.first().cloned())
    })
    .await?;
    // The error, or the end of its session, whichever it hears of first.
    let expected = told["error"]["code"] == -32603 || told["failed"] == "Transport closed";
    ensure!(expected, "{told}");
    Ok(())
}

/// agentgateway#2373: a message appeared on more than one stream.
#[tokio::test]
async fn what_belongs_to_no_call_comes_once_on_the_sessions_own_stream() -> Result<()> {
    let (_web, plugway) = hub("").await?;
    let client = client(&plugway, everything()).await?;
    let other = self::client(&plugway, everything()).await?;
    let (listened, elsewhere) = (Notices::of(&client).await?, Notices::of(&other).await?);
    other.call_tool("web_claims", json!({})).await?;
    let asks = |notices: &Notices, server: &str| {
        let message = format!("[{server}] Later");
        let all = notices.all().into_iter();
        all.filter(|one| one["params"]["message"] == message).collect::<Vec<_>>()
    };
    for server in ["web", "kid"] {
        let params = call(&format!("{server}_ask_later"), &elicitation("Later"));
        let reply = client.call("tools/call", params).await?;
        let response = reply.response()?.clone();
        let asked = wait::until("the question", BOUND, async || {
            let on_the_call =
                reply.messages.iter().filter(|one| one["method"] == "elicitation/create");
            Ok(asks(&listened, server).into_iter().chain(on_the_call.cloned()).next())
        })
        .await?;
        client.answer(&asked, accepted("late")).await?;
        let got = wait::until("the answer", BOUND, async || {
            Ok(outcomes(&client, server).await?.first().cloned())
        })
        .await?;
        ensure!(got["result"]["content"]["word"] == "late", "{got}");
        ensure!(asks(&listened, server).len() + reply.messages.len() == 2, "{server}: twice");
        ensure!(!listened.all().contains(&response), "the response is on two streams");
    }
    ensure!(elsewhere.all().is_empty(), "{:?}", elsewhere.all());
    Ok(())
}

#[tokio::test]
async fn a_server_that_pings_is_answered_whoever_the_client_is() -> Result<()> {
    let (_web, plugway) = hub("").await?;
    let (able, plain) = (client(&plugway, everything()).await?, client(&plugway, json!({})).await?);
    for client in [&able, &plain] {
        for server in ["web", "kid"] {
            let ping = call(&format!("{server}_ask"), &json!({"method": "ping"}));
            let reply = client.call("tools/call", ping).await?;
            ensure!(reply.messages.len() == 1, "the client was asked: {}", reply.text);
            let got = outcome(reply.result()?)?;
            ensure!(got == json!({"result": {}}), "{server}: {got}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_context_that_the_operator_grants_may_be_asked_for() -> Result<()> {
    let (_web, plugway) = hub(", server_requests: [sampling, include_context]").await?;
    let client = client(&plugway, json!({"sampling": {"context": {}}})).await?;
    for context in ["allServers", "thisServer", "none"] {
        let content = json!({"type": "text", "text": "Say hi"});
        let messages = json!([{"role": "user", "content": content}]);
        let params = json!({"messages": messages, "maxTokens": 5, "includeContext": context});
        let sampling = json!({"method": "sampling/createMessage", "params": params});
        for server in ["web", "kid"] {
            let params = call(&format!("{server}_ask"), &sampling);
            let mut stream = client.open("tools/call", params).await?;
            let asked = next(&mut stream).await?;
            ensure!(asked["params"]["includeContext"] == context, "{server}: {asked}");
            let content = json!({"type": "text", "text": "hi"});
            let said = json!({"role": "assistant", "content": content, "model": "m"});
            client.answer(&asked, said).await?;
            ensure!(done(&mut stream).await?["result"]["content"]["text"] == "hi");
        }
    }
    Ok(())
}
