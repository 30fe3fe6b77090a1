//! Who resumes what is not there, or not theirs; and upgrades.

use anyhow::{Context as _, Result, ensure};
use http::HeaderValue;
use plugway_tests::{
    Scripted, http as web,
    plugway::Setup,
    rpc::Client,
    tokens::{ANN, ANN_TOO, BOB, auth_yaml, identified},
};
use serde_json::json;

use super::{code, ensure_whole, hub, last, rest, some, steps};

#[tokio::test]
async fn nobody_resumes_what_is_not_there() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let (client, other) = (plugway.legacy().await?, plugway.legacy().await?);
    upstream.release();
    let mut stream = steps(&client, 1).await?;
    let events = rest(&mut stream).await?;
    let end = last(&events)?;
    let asked =
        async |client: &Client, id: &str| web::send(plugway.address(), client.get(Some(id))?).await;
    // The stream is complete, and the client has all of it.
    ensure!(asked(&client, end).await?.status == 204);
    for (client, id) in [
        (&client, "77-0"),
        (&client, "1-99"),
        (&client, "0-99"),
        (&client, "1"),
        (&client, "x-y"),
        (&other, end),
    ] {
        let refused = asked(client, id).await?;
        ensure!(refused.status == 400 && code(&refused)? == "stream-unknown", "{id}: {refused:?}");
    }
    // The session goes on; of one that ended there is nothing to resume.
    ensure!(client.call_text("up_json", json!({})).await? == "json");
    client.delete().await?;
    let refused = asked(&client, end).await?;
    ensure!(refused.status == 404 && code(&refused)? == "session-unknown", "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn nobody_resumes_what_is_another_callers() -> Result<()> {
    let upstream = Scripted::start().await?;
    let configuration =
        format!("name: hub\n{}upstreams: [{{name: up, url: '{}'}}]\n", auth_yaml(), upstream.url());
    let plugway = identified(Setup::new(configuration), &json!({})).start().await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let mut stream = steps(&ann, 2).await?;
    let mut events = some(&mut stream, 2).await?;
    drop(stream);
    let id = last(&events)?.to_owned();
    for (token, status) in [(BOB, 404), ("nobody's", 401)] {
        let mut request = ann.get(Some(&id))?;
        let value = HeaderValue::try_from(format!("Bearer {token}"))?;
        request.headers_mut().insert("authorization", value);
        let refused = web::send(plugway.address(), request).await?;
        ensure!(refused.status == status, "{token}: {refused:?}");
    }
    // Whoever it is by another token is the same caller.
    let ann = ann.with_token(Some(ANN_TOO));
    let mut stream = ann.resume(&id).await?;
    upstream.release();
    events.extend(rest(&mut stream).await?);
    ensure_whole(&events, 2)
}

#[tokio::test]
async fn a_websocket_is_refused_in_a_sentence() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = hub(&upstream).await?;
    let client = plugway.legacy().await?;
    let upgraded = |protocol: &'static str| {
        let mut request = client.get(None)?;
        for (name, value) in [
            ("connection", "keep-alive, Upgrade"),
            ("upgrade", protocol),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ] {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        anyhow::Ok(request)
    };
    let refused = web::send(plugway.address(), upgraded("WebSocket")?).await?;
    ensure!(refused.status == 400 && code(&refused)? == "invalid-request", "{refused:?}");
    ensure!(refused.text().contains("WebSocket"), "{refused:?}");
    // Other upgrades are left alone, as HTTP allows.
    let response = web::open(plugway.address(), upgraded("h2c")?).await?;
    ensure!(response.status() == 200, "{response:?}");
    drop(response);
    client.delete().await.context("the session is as it was")?;
    Ok(())
}
