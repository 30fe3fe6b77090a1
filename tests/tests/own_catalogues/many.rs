//! More callers than are kept.

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use plugway_tests::strict::Strict;
use plugway_tests::tokens::{auth, identified};
use serde_json::{Value, json};

use super::{before, seen};

#[tokio::test]
async fn heavy_more_callers_than_are_kept_see_their_own_all_the_same() -> Result<()> {
    const CALLERS: usize = 300;
    let server = Strict::start(true).await?;
    let token = |number: usize| format!("caller-{number:04}-0123456789");
    let mut tokens = serde_json::Map::new();
    for number in 0..CALLERS {
        server.lets_in(&token(number), &[&format!("t{number}")]);
        tokens.insert(token(number), json!({"client_id": format!("c{number}")}));
    }
    let hub = before(&server).top("auth", auth());
    let plugway = identified(hub.setup()?, &Value::Object(tokens)).start().await?;
    let sees_its_own = async |number: usize| {
        let client = plugway.modern().with_token(Some(&token(number)));
        ensure!(seen(&client).await? == [format!("up_t{number}")], "{number}");
        let said = client.call_text(&format!("up_t{number}"), json!({})).await?;
        ensure!(said == format!("t{number} for {}", token(number)), "{said}");
        Ok(())
    };
    let all: Vec<usize> = (0..CALLERS).collect();
    for some in all.chunks(20) {
        try_join_all(some.iter().map(|number| sees_its_own(*number))).await?;
    }
    // Whoever made room is asked for again, and whoever did not is known.
    for number in [CALLERS - 1, 0] {
        ensure!(server.asked(&token(number), "tools/list") > 0, "{number}");
        sees_its_own(number).await?;
    }
    let health = plugway.get("/health").await?.json()?;
    ensure!(health["upstreams"]["up"] == "connected", "{health}");
    Ok(())
}
