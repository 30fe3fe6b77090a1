//! Methods that plugway does not know reach the server that does.

use anyhow::{Result, ensure};
use plugway_tests::{
    Plugway,
    faulty::{self, Faulty, Raw},
};
use serde_json::{Value, json};

/// A server that answers these methods with its name and the params that it got.
fn knows(message: &Value, name: &str, methods: &[&str]) -> Option<Raw> {
    let method = message["method"].as_str()?;
    let result = json!({"server": name, "params": message["params"], "n": 1});
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
    methods.contains(&method).then(|| faulty::body(&answer))
}

#[tokio::test]
async fn the_first_server_that_knows_a_method_answers() -> Result<()> {
    let mute = Faulty::start(|_, _| None).await?;
    let one = Faulty::start(|message, _| knows(message, "one", &["x/both"])).await?;
    let two = Faulty::start(|message, _| knows(message, "two", &["x/both", "x/two"])).await?;
    let plugway = Plugway::start(format!(
        "name: hub\nupstreams: [{{name: mute, url: '{}'}}, {{name: one, url: '{}'}}, {{name: two, url: '{}'}}]\n",
        mute.url(), one.url(), two.url()
    ))
    .await?;
    for (client, status) in [(plugway.legacy().await?, 200), (plugway.modern(), 404)] {
        let server = async |method: &str, params: Value| {
            let reply = client.call(method, params).await?;
            Ok::<_, anyhow::Error>(reply.result()?.clone())
        };
        let both = server("x/both", json!({"y": 1.5})).await?;
        ensure!(both["server"] == "one" && both["params"]["y"] == 1.5, "{both}");
        ensure!(server("x/two", json!({})).await?["server"] == "two");
        let named = server("x/both", json!({"name": "two_good"})).await?;
        ensure!(named["server"] == "two" && named["params"]["name"] == "good", "{named}");
        let unknown = client.call("x/none", json!({})).await?;
        ensure!(unknown.error_code()? == -32601 && unknown.status == status, "{unknown:?}");
        let unknown = client.call("x/two", json!({"name": "mute_good"})).await?;
        ensure!(unknown.error_code()? == -32601 && unknown.status == status, "{unknown:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_lone_server_is_asked_in_its_own_words() -> Result<()> {
    let lone = Faulty::start(|message, _| knows(message, "lone", &["x/y"])).await?;
    let plugway =
        Plugway::start(format!("name: hub\nupstreams: [{{name: lone, url: '{}'}}]\n", lone.url()))
            .await?;
    let client = plugway.legacy().await?;
    let known = client.call("x/y", json!({"uri": "a:b", "name": "nobody's"})).await?;
    ensure!(known.result()?["params"] == json!({"uri": "a:b", "name": "nobody's"}), "{known:?}");
    let unknown = client.call("x/z", json!({})).await?;
    ensure!(unknown.response()?["error"]["message"] == "Method not found", "{unknown:?}");
    Ok(())
}
