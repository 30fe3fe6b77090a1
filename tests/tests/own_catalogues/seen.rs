//! What each caller sees, finds and calls.

use anyhow::{Result, ensure};
use plugway_tests::admin::Admin;
use plugway_tests::strict::Strict;
use plugway_tests::tokens::{ANN, BOB, EVE, auth, identified};
use plugway_tests::{Notices, wait};
use serde_json::json;

use super::{BOUND, PER_CALLER, STATUS, before, both, refusal, seen, start};

#[tokio::test]
async fn each_caller_lists_and_calls_what_it_is_offered() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        server.lets_in(ANN, &["both", "anns"]);
        server.lets_in(BOB, &["both", "bobs"]);
        let plugway = start(&server).await?;
        plugway.logged(PER_CALLER, BOUND).await?;
        let health = plugway.get("/health").await?.json()?;
        ensure!(health["upstreams"]["up"] == "connected", "{health}");
        for (token, own, others) in [(ANN, "anns", "bobs"), (BOB, "bobs", "anns")] {
            for client in both(&plugway, Some(token)).await? {
                ensure!(seen(&client).await? == ["up_both", &format!("up_{own}")], "{token}");
                for tool in ["both", own] {
                    let said = client.call_text(&format!("up_{tool}"), json!({})).await?;
                    ensure!(said == format!("{tool} for {token}"), "{said}");
                }
                let refused = refusal(&client, &format!("up_{others}")).await?;
                ensure!(refused.starts_with("Unknown tool"), "{refused}");
                ensure!(!refused.contains("credential"), "it is not for want of one: {refused}");
                let status = client.call_text(STATUS, json!({})).await?;
                ensure!(
                    status.contains(&format!("up_{own}")) && !status.contains(others),
                    "{status}"
                );
            }
            ensure!(server.asked(token, "tools/list") == 1, "{token} is asked for once");
        }
        // plugway knows eve, the server does not; it knows nothing of strangers.
        for (token, why) in [(Some(EVE), "refuses your own credential"), (None, "you sent none")] {
            for client in both(&plugway, token).await? {
                ensure!(seen(&client).await?.is_empty(), "{token:?}");
                let refused = refusal(&client, "up_both").await?;
                ensure!(
                    refused.contains(why) && refused.contains("\"up\""),
                    "{token:?}: {refused}"
                );
            }
        }
        let log = plugway.stderr().join("\n");
        for token in [ANN, BOB, EVE] {
            ensure!(!log.contains(token), "a credential in the log");
        }
        if !modern {
            wait::until("sessions for reading are ended", BOUND, async || {
                // Those of the four clients that called something.
                Ok((server.sessions() <= 4).then_some(()))
            })
            .await?;
        }
        ensure!(plugway.stop().await?.success());
    }
    Ok(())
}

/// As the forms of agora-workbench have it: plugway identifies nobody, the servers do.
#[tokio::test]
async fn whom_nobody_identified_sees_what_its_credential_is_offered() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        server.lets_in(ANN, &["a"]);
        server.lets_in(BOB, &["b"]);
        let plugway = before(&server).start().await?;
        let admin = Admin::of(&plugway).await?;
        let [ann, ann_modern] = both(&plugway, Some(ANN)).await?;
        let [stranger, stranger_modern] = both(&plugway, None).await?;
        let told = Notices::of(&ann).await?;
        for (client, token, own) in [
            (&ann, ANN, "a"),
            (&ann_modern, ANN, "a"),
            (&plugway.modern().with_token(Some(BOB)), BOB, "b"),
        ] {
            ensure!(seen(client).await? == [format!("up_{own}")], "{token}");
            let said = client.call_text(&format!("up_{own}"), json!({})).await?;
            ensure!(said == format!("{own} for {token}"), "{said}");
        }
        ensure!(server.asked(ANN, "tools/list") == 1);
        for client in [&stranger, &stranger_modern] {
            ensure!(seen(client).await?.is_empty());
            ensure!(refusal(client, "up_a").await?.contains("you sent none"));
        }
        let list = ann_modern.call("tools/list", json!({})).await?;
        ensure!(list.result()?["cacheScope"] == "private", "{}", list.text);
        // What a session came with first counts for its news, what it comes with now for what it sees.
        server.lets_in(ANN, &["a", "more"]);
        ensure!(admin.post("upstreams/hub/up/reconnect").await?.status == 200);
        told.until_changed("tools", 1, BOUND).await?;
        ensure!(seen(&ann).await? == ["up_a", "up_more"]);
        let ann = ann.with_token(Some(BOB));
        ensure!(seen(&ann).await? == ["up_b"], "another credential sees something else");
        let ann = ann.with_token(None);
        ensure!(seen(&ann).await?.is_empty(), "and without one nothing");
    }
    Ok(())
}

#[tokio::test]
async fn functions_are_found_by_those_who_can_call_them() -> Result<()> {
    for modern in [false, true] {
        let server = Strict::start(modern).await?;
        server.lets_in(ANN, &["execute_lab_code"]);
        server.lets_in(BOB, &["other"]);
        let hub = before(&server).key("anonymous", json!(true)).top("auth", auth());
        let hub = hub.router_config(&json!({"unified_tools": true}));
        let plugway = identified(hub.setup()?, &json!({})).start().await?;
        for (token, finds) in [(Some(ANN), true), (Some(BOB), false), (None, false)] {
            for client in both(&plugway, token).await? {
                let wanted = json!({"query": "melt a lattice"});
                let found = client.call_text("search_hub_tools", wanted).await?;
                ensure!(found.contains("\"melt\"") == finds, "{token:?}: {found}");
            }
        }
        ensure!(server.asked("", "/catalog") >= 1);
        ensure!(server.asked(ANN, "/catalog") == 0, "it is never asked for with a credential");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_caller_finds_of_a_short_list_is_its_own() -> Result<()> {
    let server = Strict::start(true).await?;
    server.lets_in(ANN, &["melt"]);
    server.lets_in(BOB, &["freeze"]);
    let hub = before(&server).key("discovery", json!("lazy")).top("auth", auth());
    let plugway = identified(hub.setup()?, &json!({})).start().await?;
    for (token, own, others) in [(ANN, "melt", "freeze"), (BOB, "freeze", "melt")] {
        for client in both(&plugway, Some(token)).await? {
            for (query, finds) in [(own, true), (others, false)] {
                let found = client.call_text("find_tools", json!({"query": query})).await?;
                ensure!(found.contains(&format!("up_{query}")) == finds, "{token}: {found}");
            }
            let call = |tool: &str| json!({"name": format!("up_{tool}"), "arguments": {}});
            let said = client.call_text("call_tool", call(own)).await?;
            ensure!(said == format!("{own} for {token}"), "{said}");
            let params = json!({"name": "call_tool", "arguments": call(others)});
            let refused = client.call("tools/call", params).await?;
            ensure!(!refused.text.contains(&format!("{others} for")), "{token}: {}", refused.text);
        }
    }
    Ok(())
}
