//! Lists that change in the middle of a session.

use anyhow::{Result, ensure};
use plugway_tests::{DemoHttp, Notices, Plugway};
use serde_json::{Value, json};

use super::{BOUND, call, is_blocked};

fn configuration(clock: &DemoHttp, gateway: &Value) -> String {
    let upstreams = json!([{"name": "clock", "url": clock.url()}]);
    let policies = json!([{"use": "gateway", "config": gateway}]);
    json!({"name": "hub", "upstreams": upstreams, "policies": policies}).to_string()
}

#[tokio::test]
async fn a_changed_list_refuses_the_next_call_and_clients_hear_of_it() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let plugway = Plugway::start(configuration(&clock, &json!({}))).await?;
    let client = plugway.legacy().await?;
    let notices = Notices::of(&client).await?;
    let hi = json!({"message": "hi"});
    ensure!(client.tool_names().await?.contains(&"clock_echo".to_owned()));
    ensure!(!call(&client, "clock_echo", hi.clone()).await?.1);

    plugway.reconfigure(&configuration(&clock, &json!({"blocked_tools": ["echo"]})))?;
    notices.until_changed("tools", 1, BOUND).await?;
    is_blocked(&client, "clock_echo", hi.clone()).await?;
    ensure!(!client.tool_names().await?.contains(&"clock_echo".to_owned()));

    plugway.reconfigure(&configuration(&clock, &json!({"blocked_tools": ["now"]})))?;
    notices.until_changed("tools", 2, BOUND).await?;
    ensure!(!call(&client, "clock_echo", hi).await?.1);
    is_blocked(&client, "clock_now", json!({})).await?;
    Ok(())
}

#[tokio::test]
async fn a_configuration_that_is_wrong_leaves_the_one_before_it() -> Result<()> {
    let clock = DemoHttp::start(&[]).await?;
    let lists = json!({"blocked_tools": ["echo"]});
    let plugway = Plugway::start(configuration(&clock, &lists)).await?;
    let client = plugway.legacy().await?;
    for (wrong, says) in [
        (json!({"blocked_tool": ["now"]}), "blocked_tool"),
        (json!({"limits": [{"calls_per_minute": 0}]}), "limits[0].calls_per_minute"),
    ] {
        plugway.reconfigure(&configuration(&clock, &wrong))?;
        plugway.logged(says, BOUND).await?;
        is_blocked(&client, "clock_echo", json!({})).await?;
        ensure!(!call(&client, "clock_now", json!({})).await?.1);
    }
    Ok(())
}
