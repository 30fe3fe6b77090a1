//! Changes of resources reach clients of the modern era, in whatever era the server speaks.

#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use plugway_tests::{
    DemoHttp, Hub, Pipe, Plugway,
    demo::board_upstream,
    rpc::{Client, Events},
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const ID: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";
const A: &str = "board://notes/a";

fn wishes() -> Value {
    let uris = json!([A, "board://notes/nobody-has-this"]);
    json!({"notifications": {"resourceSubscriptions": uris, "taskIds": ["t-1"]}})
}

async fn next(events: &mut Events) -> Result<Value> {
    events.next(BOUND).await?.context("the stream ended")
}

async fn acknowledged(client: &Client) -> Result<(Events, Value)> {
    let mut events = client.open("subscriptions/listen", wishes()).await?;
    let first = next(&mut events).await?;
    ensure!(first["method"] == "notifications/subscriptions/acknowledged", "{first}");
    ensure!(first["params"]["notifications"]["resourceSubscriptions"] == json!([A]), "{first}");
    let id = first.pointer(ID).context("no id")?.clone();
    Ok((events, id))
}

fn is_update(message: &Value, id: &Value) -> bool {
    message["method"] == "notifications/resources/updated"
        && message["params"]["uri"] == A
        && message.pointer(ID) == Some(id)
}

async fn pin(client: &Client, name: &str) -> Result<()> {
    client.call_text("board_pin", json!({"name": name, "text": "x"})).await.map(drop)
}

/// One server of each era: what they honour is told at once, and each tells of its own.
#[tokio::test]
async fn resources_of_two_servers_are_told_of_on_one_stream() -> Result<()> {
    let one = DemoHttp::board("127.0.0.1:0", "modern").await?;
    let other = DemoHttp::board("127.0.0.1:0", "legacy").await?;
    let hub = Hub::new("hub").upstream("one", one.url()).upstream("other", other.url());
    let plugway = hub.start().await?;
    let client = plugway.modern();
    let uri = |name: &str| format!("board://notes/{name}");
    let both = [("one", uri("left")), ("other", uri("right"))];
    let pin = async |server: &str, name: &str| {
        client.call_text(&format!("{server}_pin"), json!({"name": name, "text": "x"})).await
    };
    ensure!(pin("one", "left").await? == both[0].1 && pin("other", "right").await? == both[1].1);
    wait::until("both are listed", BOUND, async || {
        let listed = client.call("resources/list", json!({})).await?.result()?.to_string();
        Ok(both.iter().all(|(_, uri)| listed.contains(uri)).then_some(()))
    })
    .await?;

    let uris = json!([both[1].1, "board://notes/nobody-has-this", both[0].1]);
    let wishes = json!({"notifications": {"resourceSubscriptions": uris}});
    let mut events = client.open("subscriptions/listen", wishes).await?;
    let first = next(&mut events).await?;
    let honoured = json!({"resourceSubscriptions": [both[1].1, both[0].1]});
    ensure!(first["params"]["notifications"] == honoured, "{first}");
    let id = first.pointer(ID).context("no id")?.clone();
    for ((server, uri), name) in both.iter().zip(["left", "right"]) {
        pin(server, name).await?;
        let told = next(&mut events).await?;
        ensure!(told["params"]["uri"] == *uri && told.pointer(ID) == Some(&id), "{server}: {told}");
    }
    Ok(())
}

fn over_pipes(era: &str, sharing: &str) -> Result<String> {
    let mut upstream = board_upstream("board", era, true)?;
    upstream["sharing"] = json!(sharing);
    Ok(json!({"connectors": [{"name": "hub", "path": "/", "upstreams": [upstream]}]}).to_string())
}

#[tokio::test]
async fn a_subscription_outlives_the_server_that_it_is_about() -> Result<()> {
    let board = DemoHttp::board("127.0.0.1:0", "modern").await?;
    let keys =
        json!({"health_check_interval": "100ms", "reconnect": {"initial": "50ms", "max": "100ms"}});
    let plugway = Hub::new("hub").upstream_with("board", board.url(), keys).start().await?;
    let client = plugway.modern();
    let ((mut events, id), (mut other, second)) =
        (acknowledged(&client).await?, acknowledged(&plugway.modern()).await?);
    pin(&client, "b").await?;
    pin(&client, "a").await?;
    for (events, id) in [(&mut events, &id), (&mut other, &second)] {
        let told = next(events).await?;
        ensure!(is_update(&told, id), "{told}");
    }
    drop(other);

    let address = board.address().to_string();
    board.kill().await?;
    let _board = DemoHttp::board(&address, "modern").await?;
    // The stream is opened again some time after the server is there.
    let told = wait::within("an update of the new server", BOUND, async {
        loop {
            if pin(&client, "a").await.is_ok()
                && let Ok(told) = events.next(Duration::from_millis(200)).await
            {
                return told.context("the client noticed");
            }
        }
    })
    .await??;
    ensure!(is_update(&told, &id), "{told}");
    Ok(())
}

#[tokio::test]
async fn servers_over_pipes_tell_of_their_resources_in_both_eras() -> Result<()> {
    for (era, sharing) in [("modern", "session"), ("modern", "connector"), ("legacy", "session")] {
        let plugway = Plugway::start(over_pipes(era, sharing)?).await?;
        let (mut events, id) = acknowledged(&plugway.modern()).await?;
        for _ in 0..3 {
            let told = next(&mut events).await?;
            ensure!(is_update(&told, &id), "{era} {sharing}: {told}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_subscription_that_is_closed_leaves_no_child() -> Result<()> {
    let plugway = Plugway::start(over_pipes("legacy", "session")?).await?;
    let before = plugway_tests::process::descendants(plugway.pid()?)?.len();
    let (mut events, id) = acknowledged(&plugway.modern()).await?;
    ensure!(is_update(&next(&mut events).await?, &id));
    ensure!(plugway_tests::process::descendants(plugway.pid()?)?.len() > before);
    drop(events);
    wait::until("its child is gone", BOUND, async || {
        let now = plugway_tests::process::descendants(plugway.pid()?)?.len();
        Ok((now <= before).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_client_over_pipes_listens_and_gives_up_and_the_end_is_a_result() -> Result<()> {
    let mut pipe = Pipe::start(over_pipes("legacy", "session")?)?;
    let id = pipe.ask_modern("subscriptions/listen", wishes()).await?;
    let first = pipe.read().await?.context("no acknowledgement")?;
    ensure!(first.pointer(ID) == Some(&id), "{first}");
    let told = pipe.read().await?.context("no update")?;
    ensure!(is_update(&told, &id), "{told}");
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    pipe.send(&cancelled).await?;

    let again = pipe.ask_modern("subscriptions/listen", wishes()).await?;
    pipe.close_input();
    let last = pipe.response(&again).await?;
    ensure!(last["result"]["resultType"] == "complete", "{last}");
    Ok(())
}

/// A server of the modern era that never answers who wants to listen.
const MUTE: &str = r#"
while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}; id=${id%%\}*}
  case $line in
  *'"server/discover"'*) result='"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}' ;;
  *'"tools/list"'*) result='"tools":[]' ;;
  *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete",%s}}\n' "$id" "$result"
done
"#;

#[tokio::test]
async fn the_end_is_a_result_for_whoever_still_waits_for_a_server() -> Result<()> {
    let mute = json!({"name": "mute", "command": "sh", "args": ["-c", MUTE]});
    let hub = json!({"name": "hub", "path": "/", "upstreams": [mute]});
    let limits = json!({"shutdown_grace": "3s"});
    let configuration = json!({"connectors": [hub], "limits": limits});
    let mut pipe = Pipe::start(configuration.to_string())?;
    let wishes = json!({"notifications": {"toolsListChanged": true, "x/wishes": 1}});
    let id = pipe.ask_modern("subscriptions/listen", wishes).await?;
    pipe.close_input();
    let last = pipe.response(&id).await?;
    ensure!(last["result"]["resultType"] == "complete", "{last}");
    let told = pipe.others();
    ensure!(told[0]["params"]["notifications"] == json!({"toolsListChanged": true}), "{told:?}");
    Ok(())
}
