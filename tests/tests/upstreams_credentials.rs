//! Whose credential a server gets, from the configuration to the wire.

use anyhow::{Result, ensure};
use http::HeaderMap;
use plugway_tests::tokens::{ANN, BOB, auth_yaml, identified};
use plugway_tests::{
    Plugway, Recorder,
    faulty::{Faulty, Handler},
    plugway::Setup,
    rpc::Client,
};
use serde_json::{Value, json};

fn authorization(headers: &HeaderMap) -> Option<&str> {
    headers.get("authorization").and_then(|value| value.to_str().ok())
}

/// A plugway with callers before one server, which it gives this credential.
async fn start(url: &str, auth: &str) -> Result<Plugway> {
    let configuration = format!(
        "name: hub\n{}upstreams: [{{name: up, url: '{url}', auth: {auth}, headers: {{x-tenant: env://TENANT}}}}]\n",
        auth_yaml()
    );
    let setup = Setup::new(configuration).environment("TOKEN", "the-operators-token");
    identified(setup.environment("TENANT", "blue"), &json!({})).start().await
}

async fn callers(plugway: &Plugway) -> Result<[(&'static str, Client); 3]> {
    let address = plugway.address();
    Ok([
        (ANN, Client::legacy_as(address, "/mcp", ANN).await?),
        (BOB, Client::legacy_as(address, "/mcp", BOB).await?),
        (ANN, Client::modern_as(address, "/mcp", ANN)),
    ])
}

#[tokio::test]
async fn each_caller_is_passed_on_where_that_is_configured_and_nowhere_else() -> Result<()> {
    let own = "{mode: bearer, token: env://TOKEN}";
    let named = "{mode: header, name: x-api-key, value: env://TOKEN}";
    for auth in ["none", "forward", own, named] {
        let recorder = Recorder::start().await?;
        let plugway = start(&recorder.url(), auth).await?;
        for (token, client) in callers(&plugway).await? {
            client.call_text("up_look", json!({"text": "hi"})).await?;
            let headers = recorder.last()?.headers;
            let seen = authorization(&headers);
            let wanted = match auth {
                "forward" => Some(format!("Bearer {token}")),
                auth if auth == own => Some("Bearer the-operators-token".to_owned()),
                _ => None,
            };
            ensure!(seen == wanted.as_deref(), "{auth}: {seen:?}");
            let key = headers.get("x-api-key").is_some_and(|key| key == "the-operators-token");
            ensure!(key == (auth == named), "{auth}: {headers:?}");
            ensure!(headers.get("x-tenant").is_some_and(|tenant| tenant == "blue"), "{auth}");
        }
        let log = plugway.stderr().join("\n");
        for secret in ["the-operators-token", ANN, BOB] {
            ensure!(!log.contains(secret), "{auth}: a credential in the log");
        }
    }
    Ok(())
}

/// An answer of 401 with what a client must not see.
const REFUSES: Handler = |message: &Value, _| {
    let bad = message.pointer("/params/name").is_some_and(|name| name == "bad");
    let challenge =
        Some(("www-authenticate", r#"Bearer resource_metadata="http://evil.example/""#));
    bad.then(|| (401, "application/json", challenge, r#"{"error":"internal detail"}"#.to_owned()))
};

#[tokio::test]
async fn who_is_refused_reads_whose_credential_it_was_and_nothing_of_the_server() -> Result<()> {
    for (auth, part) in [
        ("none", "plugway has none for it"),
        ("forward", "your own credential"),
        ("{mode: bearer, token: env://TOKEN}", "the credential that plugway has for it"),
    ] {
        let faulty = Faulty::start(REFUSES).await?;
        let plugway = start(&faulty.url(), auth).await?;
        for (_, client) in callers(&plugway).await? {
            let result = client.call_tool("up_bad", json!({})).await?.to_string();
            ensure!(result.contains(part) && result.contains("up"), "{auth}: {result}");
            for hidden in ["evil.example", "internal detail", "the-operators-token"] {
                ensure!(!result.contains(hidden), "{auth}: {result}");
            }
            // One refused call is no outage.
            ensure!(client.call_text("up_good", json!({})).await?.contains("fine"), "{auth}");
        }
    }
    Ok(())
}
