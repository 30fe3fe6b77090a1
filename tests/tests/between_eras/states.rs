//! Whose state it is, for what, how often, and how many there may be.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Plugway,
    plugway::Setup,
    replay::Replayed,
    rpc::Client,
    tokens::{ANN, ANN_TOO, BOB, auth, identified},
};
use serde_json::{Value, json};

use super::{
    everything,
    modern_client::{asking, call, retry, suspended},
    text_of,
};

/// Calls of one caller that may wait at once.
const OF_CALLER: u64 = 16;

/// With callers, and a second connector with the same server.
pub(crate) async fn start(server: &Replayed) -> Result<Plugway> {
    let upstreams = [server.upstream("up")?];
    let connector =
        |name: &str| json!({"name": name, "path": format!("/{name}"), "upstreams": upstreams});
    let connectors = [connector("hub"), connector("beside")];
    let configuration = json!({"auth": auth(), "connectors": connectors}).to_string();
    identified(Setup::new(configuration), &json!({})).start().await
}

pub(crate) fn client(plugway: &Plugway, token: &str) -> Client {
    at(plugway, "hub", token)
}

fn at(plugway: &Plugway, connector: &str, token: &str) -> Client {
    let path = format!("/{connector}/mcp");
    Client::modern_with(plugway.address(), &path, everything()).with_token(Some(token))
}

/// The sentence with which a retry is refused.
async fn refused(client: &Client, params: &Value) -> Result<String> {
    let reply = client.call("tools/call", params.clone()).await?;
    ensure!(reply.error_code()? == -32602, "{reply:?}");
    let message = reply.response()?.pointer("/error/message").and_then(Value::as_str);
    Ok(message.context("no message")?.to_owned())
}

#[tokio::test]
async fn a_state_is_good_for_its_caller_and_its_call_and_once() -> Result<()> {
    let server = Replayed::over_http(&asking(2)).await?;
    let plugway = start(&server).await?;
    let (ann, bob) = (client(&plugway, ANN), client(&plugway, BOB));
    let asked = suspended(&ann, "ask", 1).await?;
    let good = retry(call("ask", 1), &asked)?;
    let state = asked["requestState"].as_str().context("no state")?;
    let with_state = |state: &str| {
        let mut params = good.clone();
        params["requestState"] = json!(state);
        params
    };
    // Another letter in the middle of what is sealed.
    let middle = state.len() - 20;
    let other = |(place, letter)| match (place == middle, letter) {
        (true, 'A') => 'B',
        (true, _) => 'A',
        (false, letter) => letter,
    };
    let changed: String = state.chars().enumerate().map(other).collect();
    let short: String = state.chars().take(state.len() - 4).collect();
    let mut sentences = Vec::new();
    for (who, params) in [
        (&ann, with_state(&changed)),
        (&ann, with_state(&short)),
        (&ann, with_state("made up")),
        (&ann, with_state("")),
        (&ann, retry(call("ask", 2), &asked)?),
        (&ann, retry(call("also", 1), &asked)?),
        (&bob, good.clone()),
        (&at(&plugway, "beside", ANN), good.clone()),
    ] {
        sentences.push(refused(who, &params).await?);
    }
    ensure!(sentences.iter().all(|one| *one == sentences[0]), "{sentences:?}");
    ensure!(sentences[0].starts_with("The requestState is not one that"), "{sentences:?}");
    ensure!(server.asked("tools/call")?.len() == 1, "a refused retry reached the server");
    ensure!(server.asked("notifications/cancelled")?.is_empty(), "the call was given up");
    // Nothing is lost for whom it belongs to, by whichever token and in whichever order of members.
    let mut again = good.clone();
    again["arguments"] = json!({"x": [1], "n": 1});
    let done = client(&plugway, ANN_TOO).call("tools/call", again).await?;
    ensure!(text_of(done.result()?)? == "1 is done", "{done:?}");
    ensure!(refused(&ann, &good).await? == sentences[0], "it was good twice");
    ensure!(server.asked("tools/call")?.len() == 1, "the tool ran twice");
    Ok(())
}

#[tokio::test]
async fn a_caller_who_never_comes_back_loses_the_oldest_of_many_calls_and_nobody_elses()
-> Result<()> {
    let server = Replayed::over_http(&asking(OF_CALLER + 2)).await?;
    let plugway = start(&server).await?;
    let (ann, bob) = (client(&plugway, ANN), client(&plugway, BOB));
    let of_bob = suspended(&bob, "ask", OF_CALLER + 2).await?;
    let mut asked = Vec::new();
    for number in 1..=OF_CALLER {
        asked.push(suspended(&ann, "ask", number).await?);
    }
    ensure!(server.asked("notifications/cancelled")?.is_empty());
    suspended(&ann, "ask", OF_CALLER + 1).await?;
    let calls = server.asked("tools/call")?;
    let first = calls.get(1).context("no calls")?;
    server.until_given_up(first).await?;
    let sentence = refused(&ann, &retry(call("ask", 1), &asked[0])?).await?;
    ensure!(sentence.contains("has expired"), "{sentence}");
    for (who, number, asked) in [(&ann, 2, &asked[1]), (&bob, OF_CALLER + 2, &of_bob)] {
        let done = who.call("tools/call", retry(call("ask", number), asked)?).await?;
        ensure!(text_of(done.result()?)? == format!("{number} is done"), "{done:?}");
    }
    ensure!(server.asked("notifications/cancelled")?.len() == 1, "more were given up");
    Ok(())
}

#[tokio::test]
async fn calls_that_wait_end_with_plugway_and_their_server_is_told() -> Result<()> {
    let server = Replayed::over_http(&asking(1)).await?;
    let plugway = start(&server).await?;
    suspended(&client(&plugway, ANN), "ask", 1).await?;
    let call = server.asked("tools/call")?.pop().context("no call")?;
    ensure!(plugway.stop().await?.success());
    // The server hears of the call before its session ends.
    server.until_given_up(&call).await?;
    ensure!(!server.asked("replay/ended")?.is_empty(), "{:?}", server.seen()?);
    Ok(())
}
