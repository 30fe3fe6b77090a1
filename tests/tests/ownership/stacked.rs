//! Servers that run code under another name, and behind connectors behind a connector.

use anyhow::{Result, ensure};
use plugway_tests::{
    Hub, Plugway,
    code_server::CodeServer,
    tokens::{EVE, auth, identified},
};
use serde_json::{Value, json};

use crate::{
    asks::{Way, told_apart},
    hub, started,
};

#[tokio::test]
async fn a_servers_name_for_itself_does_not_matter() -> Result<()> {
    let server = CodeServer::start_as("hub-connector").await?;
    let plugway = started(Hub::new("hub").upstream("lab", &server.url())).await?;
    told_apart(&plugway, &server, Way { before: "lab_", server: "chem", lazily: false }).await
}

/// A plugway that identifies callers before another one, to which it says who it is like this.
async fn above(below: &Plugway, upstream: &str, credential: Value) -> Result<Plugway> {
    let keys = json!({"auth": credential});
    let hub = Hub::new("hub").upstream_with(upstream, &below.mcp_url(), keys);
    let setup = identified(hub.top("auth", auth()).setup()?, &json!({}));
    let setup = setup.environment("OWN", EVE).environment("OWN_HEADER", format!("Bearer {EVE}"));
    let plugway = setup.start().await?;
    plugway.wait_until_connected(&[upstream]).await?;
    Ok(plugway)
}

#[tokio::test]
async fn callers_of_connectors_above_connectors_have_their_own() -> Result<()> {
    let server = CodeServer::start().await?;
    let lowest = started(hub(&server)).await?;
    let own = || json!({"mode": "bearer", "token": "env://OWN"});
    // To the one below all callers are one and the same.
    let middle = above(&lowest, "below", own()).await?;
    let way = Way { before: "below_", server: "lab", lazily: false };
    told_apart(&middle, &server, way).await?;
    let highest = above(&middle, "mid", own()).await?;
    let way = Way { before: "mid_below_", ..way };
    told_apart(&highest, &server, way).await?;
    let log = highest.stderr();
    ensure!(!log.iter().any(|line| line.contains(EVE)), "a credential in the log");
    Ok(())
}

#[tokio::test]
async fn callers_whose_credential_is_passed_on_have_their_own() -> Result<()> {
    let server = CodeServer::start().await?;
    let lowest = started(hub(&server)).await?;
    let passing = json!({"mode": "forward", "own": "env://OWN_HEADER"});
    let middle = above(&lowest, "below", passing).await?;
    told_apart(&middle, &server, Way { before: "below_", server: "lab", lazily: false }).await
}
