//! `send` puts an object into a session of the caller, never into somebody else's, although servers choose the first one that
//! they have; and no tool of another server teaches whose a session is.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    Guest, Hub, Plugway,
    code_server::CodeServer,
    faulty::{Faulty, Raw, body},
    metrics,
    rpc::Client,
    tokens::{ANN, BOB, auth, identified},
};
use serde_json::{Value, json};

/// Two servers, one of which may send to the other, and plugway before them.
struct Pair {
    lab: CodeServer,
    map: CodeServer,
    plugway: Plugway,
}

impl Pair {
    async fn start(more: impl FnOnce(Hub) -> Hub) -> Result<Self> {
        let (lab, map) = (CodeServer::start().await?, CodeServer::start().await?);
        lab.sends_to("map", &map);
        let hub = Hub::new("hub").upstream("lab", &lab.url()).upstream("map", &map.url());
        let setup = more(hub).top("auth", auth()).setup()?;
        let plugway = identified(setup, &json!({})).start().await?;
        plugway.wait_until_connected(&["lab", "map"]).await?;
        Ok(Self { lab, map, plugway })
    }

    fn modern(&self, token: &str) -> Client {
        Client::modern_as(self.plugway.address(), "/mcp", token)
    }

    /// A client of each era.
    async fn both(&self, token: &str) -> Result<[Client; 2]> {
        let legacy = Client::legacy_as(self.plugway.address(), "/mcp", token).await?;
        Ok([self.modern(token), legacy])
    }
}

async fn told(client: &Client, tool: &str, arguments: Value) -> Result<Value> {
    let result = client.call_tool(tool, arguments).await?;
    let text = result["content"][0]["text"].as_str().context("no text")?;
    serde_json::from_str(text).with_context(|| format!("{tool}: {text}"))
}

/// Sets the value of a session at `map`, of a new one where none is named, and gives the session's id.
async fn set(client: &Client, value: &str) -> Result<String> {
    let code = json!({"code": format!("set {value}")});
    let told = told(client, "execute_map_code", code).await?;
    Ok(told["session_id"].as_str().with_context(|| told.to_string())?.to_owned())
}

async fn value(client: &Client, session: &str) -> Result<Value> {
    let told = told(client, "map_inspect_session", json!({"session_id": session})).await?;
    Ok(told["namespace"]["x"].clone())
}

#[tokio::test]
async fn an_object_goes_to_a_session_of_its_sender_or_nowhere() -> Result<()> {
    let pair = Pair::start(|hub| hub).await?;
    let bob = pair.modern(BOB);
    // The first session that the server has.
    let of_bob = set(&bob, "bobs").await?;
    let without = [json!({}), json!({"session_id": null}), json!({"session_id": ""})];
    let sent = |more: &Value| {
        let mut all = json!({"data_ref": "anns", "to": "map"});
        if let Some(session) = more.get("session_id") {
            all["session_id"] = session.clone();
        }
        all
    };
    for ann in pair.both(ANN).await? {
        for more in &without {
            let said = told(&ann, "lab_send", sent(more)).await?;
            if said["success"] == false {
                let error = said["error"].as_str().unwrap_or_default();
                ensure!(error.contains("no session of yours is known there"), "{said}");
            }
            ensure!(!said.to_string().contains(&of_bob), "{said}");
        }
        let foreign = told(&ann, "lab_send", sent(&json!({"session_id": of_bob}))).await?;
        let error = format!("Object transfer to 'map' failed: Session '{of_bob}' not found");
        ensure!(foreign == json!({"success": false, "error": error}), "{foreign}");
        ensure!(!pair.lab.asked().contains(&of_bob), "the server never hears of it");
        ensure!(value(&bob, &of_bob).await? == "bobs");
        // With sessions of her own it goes to the one that was used last.
        let (first, last) = (set(&ann, "first").await?, set(&ann, "last").await?);
        for more in &without {
            let said = told(&ann, "lab_send", sent(more)).await?;
            ensure!(said["success"] == true && said.to_string().contains(&last), "{said}");
            ensure!(value(&ann, &last).await? == "anns");
        }
        if first != last {
            ensure!(value(&ann, &first).await? == "first");
            let said = told(&ann, "lab_send", sent(&json!({"session_id": first}))).await?;
            ensure!(said["success"] == true, "{said}");
            ensure!(value(&ann, &first).await? == "anns");
        }
        ensure!(value(&bob, &of_bob).await? == "bobs");
    }
    // A session of hers elsewhere is none there.
    let elsewhere = told(&pair.modern(ANN), "execute_lab_code", json!({"code": "get"})).await?;
    let session = elsewhere["session_id"].as_str().context("no session")?;
    pair.lab.asked();
    let said = told(&pair.modern(ANN), "lab_send", sent(&json!({"session_id": session}))).await?;
    ensure!(said["success"] == false, "{said}");
    ensure!(!pair.lab.asked().contains(&session.to_owned()));
    ensure!(pair.map.sessions() >= 2);
    Ok(())
}

/// A server that runs no code, and says whatever its caller wants.
fn parrot(message: &Value, _: u64) -> Option<Raw> {
    let result = match message.get("method")?.as_str()? {
        "tools/list" => {
            json!({"tools": [{"name": "x_check_job", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" => {
            let text = message.pointer("/params/arguments/text")?;
            json!({"content": [{"type": "text", "text": text}]})
        }
        _ => return None,
    };
    Some(body(&json!({"jsonrpc": "2.0", "id": message.get("id")?, "result": result})))
}

#[tokio::test]
async fn tools_of_other_servers_teach_nothing() -> Result<()> {
    let parrot = Faulty::start(parrot).await?;
    let pair = Pair::start(|hub| hub.upstream("parrot", &parrot.url())).await?;
    pair.plugway.wait_until_connected(&["parrot"]).await?;
    let (ann, bob) = (pair.modern(ANN), pair.modern(BOB));
    // An id that no server gave yet: whoever could claim it would have it before its owner.
    let id = "11111111-2222-4333-a444-555555555555";
    let text = json!({"session_id": id}).to_string();
    let said = told(&ann, "parrot_x_check_job", json!({"text": text})).await?;
    ensure!(said["session_id"] == id, "{said}");
    pair.lab.asked();
    for to in ["map", "mars"] {
        let arguments = json!({"data_ref": "x", "to": to, "session_id": id});
        let said = told(&ann, "lab_send", arguments).await?;
        ensure!(said["success"] == false, "{said}");
    }
    ensure!(!pair.lab.asked().contains(&id.to_owned()), "it is nobody's");
    // Nor does it make somebody else's session hers.
    let of_bob = set(&bob, "bobs").await?;
    let text = json!({"session_id": of_bob}).to_string();
    told(&ann, "parrot_x_check_job", json!({"text": text})).await?;
    let arguments = json!({"data_ref": "anns", "to": "map", "session_id": of_bob});
    ensure!(told(&ann, "lab_send", arguments).await?["success"] == false);
    ensure!(value(&bob, &of_bob).await? == "bobs");
    Ok(())
}

#[tokio::test]
async fn what_the_router_has_to_know_to_answer_asks_no_policy() -> Result<()> {
    let admitting = Guest::new("admit_rate").config(json!({"limit": 100, "window_ms": 60_000}));
    let pair = Pair::start(|hub| hub.policy(admitting)).await?;
    let ann = pair.modern(ANN);
    let asked = async || {
        let labels = [("connector", "hub"), ("hook", "admit")];
        metrics::sum(&pair.plugway, metrics::CALLS, &labels).await
    };
    let before = asked().await?;
    // Its answer tells how many sessions are the caller's, so the router lists them.
    let nobodys = json!({"session_id": "00000000-0000-4000-a000-000000000000"});
    let said = told(&ann, "map_inspect_session", nobodys).await?;
    let error = said["error"].as_str().unwrap_or_default();
    ensure!(error.ends_with("Active sessions: 0"), "{said}");
    ensure!((asked().await? - before - 1.0).abs() < f64::EPSILON, "once");
    Ok(())
}
