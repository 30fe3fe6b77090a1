//! Prompts, resources, templates and instructions.

use anyhow::{Context as _, Result, ensure};
use plugway_tests::rpc::Client;
use plugway_tests::{Notices, Plugway, wait};
use serde_json::{Value, json};

use super::server::{Says, Shifty};
use super::{BOUND, approve, reread, said, start};

fn says(text: &str) -> Says {
    Says {
        tools: Vec::new(),
        tools_of_ui: None,
        prompts: vec![json!({"name": "draft", "description": text})],
        resources: vec![json!({"uri": "own://notes/1", "name": "one", "description": text})],
        templates: vec![
            json!({"uriTemplate": "own://pages/{id}", "name": "page", "description": text}),
        ],
        instructions: Some(text.to_owned()),
    }
}

const CALLS: [(&str, &str); 4] = [
    ("prompts/get", r#"{"name": "up_draft"}"#),
    ("resources/read", r#"{"uri": "own://notes/1"}"#),
    ("resources/read", r#"{"uri": "own://pages/7"}"#),
    (
        "completion/complete",
        r#"{"ref": {"type": "ref/prompt", "name": "up_draft"}, "argument": {"name": "a", "value": "x"}}"#,
    ),
];

async fn listed(client: &Client) -> Result<String> {
    let mut all = String::new();
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        all.push_str(&client.call(method, json!({})).await?.text);
    }
    Ok(all)
}

#[tokio::test]
async fn prompts_resources_templates_and_instructions_are_held_back_too() -> Result<()> {
    for modern in [false, true] {
        let server = Shifty::start(modern, says("Good.")).await?;
        let (plugway, admin) = start("hold", &[("up", &server)]).await?;
        let clients = [plugway.legacy().await?, plugway.modern()];
        let told = Notices::of(clients.first().context("none")?).await?;
        for client in &clients {
            for (method, params) in CALLS {
                client.call(method, serde_json::from_str(params)?).await?.result()?;
            }
            let all = listed(client).await?;
            for name in ["up_draft", "own://notes/1", "own://pages/{id}"] {
                ensure!(all.contains(name), "{all}");
            }
        }
        let called = |name: &str| server.called(name);
        let counts = [called("draft"), called("own://notes/1"), called("own://pages/7")];

        server.says(says("Evil."));
        reread(&admin, "up").await?;
        told.until_changed("prompts", 1, BOUND).await?;
        told.until_changed("resources", 1, BOUND).await?;
        for client in &clients {
            for (method, params) in CALLS {
                let reply = client.call(method, serde_json::from_str::<Value>(params)?).await?;
                ensure!(reply.text.contains("changed since it was approved"), "{}", reply.text);
                ensure!(reply.error_code()? == -32603, "{}", reply.text);
            }
            // Neither by another spelling, nor by a method that plugway does not know.
            let spelled = client.call("resources/read", json!({"uri": "own://notes/%31"})).await?;
            spelled.error_code()?;
            for uri in ["own://notes/1", "own://pages/7"] {
                let own = client.call("acme/describe", json!({ "uri": uri })).await?;
                ensure!(own.text.contains("changed since it was approved"), "{}", own.text);
            }
            let all = listed(client).await?;
            for text in ["up_draft", "own://notes/1", "own://pages/", "Good.", "Evil."] {
                ensure!(!all.contains(text), "{all}");
            }
        }
        ensure!(called("own://notes/%31") == 0);
        ensure!(counts == [called("draft"), called("own://notes/1"), called("own://pages/7")]);

        ensure!(said(&plugway, &["list", "--held"]).await?.lines().count() == 3);
        said(&plugway, &["approve", "--all", "--yes", "--by", "ann"]).await?;
        told.until_changed("prompts", 2, BOUND).await?;
        told.until_changed("resources", 2, BOUND).await?;
        for client in &clients {
            ensure!(listed(client).await?.matches("Evil.").count() == 3);
            for (method, params) in CALLS {
                client.call(method, serde_json::from_str(params)?).await?.result()?;
            }
        }
    }
    Ok(())
}

/// What a new session is told at its start.
async fn introduction(plugway: &Plugway) -> Result<String> {
    let client = plugway.legacy().await?;
    Ok(client.initialized().context("no answer")?.to_string())
}

#[tokio::test]
async fn instructions_that_changed_are_left_out_until_they_are_approved() -> Result<()> {
    for modern in [false, true] {
        let server = Shifty::start(modern, says("Good.")).await?;
        let (plugway, admin) = start("hold", &[("up", &server)]).await?;
        ensure!(introduction(&plugway).await?.contains("Good."));
        server.says(Says { instructions: Some("Evil.".to_owned()), ..says("Good.") });
        // A server gives them when plugway connects.
        for act in ["disable", "enable"] {
            ensure!(admin.post(&format!("upstreams/hub/up/{act}")).await?.status == 200);
        }
        wait::until("they wait", BOUND, async || {
            let waits = said(&plugway, &["list", "--held"]).await?;
            Ok(waits.contains("hub/up/instructions").then_some(()))
        })
        .await?;
        wait::until("the server is there", BOUND, async || {
            let listed = listed(&plugway.modern()).await?;
            Ok(listed.contains("up_draft").then_some(()))
        })
        .await?;
        let told = introduction(&plugway).await?;
        ensure!(!["## up", "Good.", "Evil."].iter().any(|text| told.contains(text)), "{told}");
        approve(&plugway, "hub/up/instructions").await?;
        wait::until("they are said", BOUND, async || {
            Ok(introduction(&plugway).await?.contains("Evil.").then_some(()))
        })
        .await?;
    }
    Ok(())
}
