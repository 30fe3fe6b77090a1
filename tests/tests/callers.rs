//! Who callers are: tokens, sessions that belong to them, and state of upstreams that belongs to them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body_util::Full;
use plugway_tests::tokens::{ANN, ANN_TOO, BOB, ENDED, auth_yaml, identified};
use plugway_tests::{
    Plugway, Scripted, demo_notes_path, http as web,
    plugway::Setup,
    rpc::{self, Client},
    wait,
};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);
const ACCEPT: &str = "application/json, text/event-stream";

/// A connector before a scripted server, with callers.
async fn start(upstream: &Scripted, more: &str, tokens: &Value) -> Result<Plugway> {
    let configuration = format!(
        "name: hub\n{}{more}upstreams: [{{name: up, url: '{}'}}]\n",
        auth_yaml(),
        upstream.url()
    );
    identified(Setup::new(configuration), tokens).start().await
}

/// The tokens of ann and bob, for a file.
fn listed(of_ann: &str) -> String {
    json!({(of_ann): {"client_id": "ann"}, (BOB): {"client_id": "bob"}}).to_string()
}

/// The same with the tokens in a file, which is watched.
async fn start_with_file(upstream: &Scripted, of_ann: &str) -> Result<Plugway> {
    let configuration = format!(
        "name: hub\nauth: {{mode: static, tokens: 'file://tokens.json'}}\nupstreams: [{{name: up, url: '{}'}}]\n",
        upstream.url()
    );
    let setup = Setup::new(configuration).file_with_mode("tokens.json", listed(of_ann), 0o600);
    setup.start().await
}

fn initialize() -> String {
    let info = json!({"name": "plugway-tests", "version": "0"});
    let params = json!({"protocolVersion": rpc::LEGACY, "capabilities": {}, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

/// One request of each kind, as somebody who holds this session id sends it.
async fn each_kind(
    plugway: &Plugway,
    session: Option<&str>,
    authorization: Option<&str>,
) -> Result<Vec<(&'static str, web::Answer)>> {
    let list = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
    let batch = format!("[{list}]");
    let mut answers = Vec::new();
    for (kind, method, body, last) in [
        ("POST", Method::POST, list, None),
        ("batch", Method::POST, batch.as_str(), None),
        ("GET", Method::GET, "", None),
        ("GET with Last-Event-ID", Method::GET, "", Some("1")),
        ("DELETE", Method::DELETE, "", None),
    ] {
        let mut head = HeaderMap::new();
        let mut put = |name: &'static str, value: Option<&str>| -> Result<()> {
            if let Some(value) = value {
                head.insert(name, HeaderValue::from_str(value)?);
            }
            Ok(())
        };
        put("host", Some(&plugway.address().to_string()))?;
        put("accept", Some(ACCEPT))?;
        put("content-type", (method == Method::POST).then_some("application/json"))?;
        put("mcp-session-id", session)?;
        put("last-event-id", last)?;
        put("authorization", authorization)?;
        let mut request =
            Request::builder().method(method).uri("/mcp").body(Full::from(body.to_owned()))?;
        *request.headers_mut() = head;
        answers.push((kind, web::send(plugway.address(), request).await?));
    }
    Ok(answers)
}

/// The text of an answer without the id that is another one for each request.
fn without_id(answer: &web::Answer) -> Result<Value> {
    let mut body = answer.json()?;
    if let Some(data) = body.pointer_mut("/error/data").and_then(Value::as_object_mut) {
        data.remove("requestId").context("no request id")?;
    }
    Ok(body)
}

#[tokio::test]
async fn nobody_comes_in_without_a_token_or_with_a_wrong_one() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = start(&upstream, "", &json!({})).await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let mut sentences = Vec::new();
    let (unknown, ended) = (format!("Bearer {ANN}x"), format!("Bearer {ENDED}"));
    for (authorization, challenge) in [
        (None, "Bearer"),
        (Some(unknown.as_str()), "Bearer error=\"invalid_token\""),
        (Some(&ended), "Bearer error=\"invalid_token\""),
        (Some("Basic YW5uOmFubg=="), "Bearer error=\"invalid_token\""),
        (Some(ANN), "Bearer error=\"invalid_token\""),
    ] {
        for (kind, answer) in each_kind(&plugway, ann.session(), authorization).await? {
            ensure!(answer.status == 401, "{kind} {authorization:?}: {}", answer.status);
            ensure!(
                answer.header("www-authenticate") == Some(challenge),
                "{kind} {authorization:?}"
            );
            ensure!(without_id(&answer)?["error"]["data"]["code"] == "unauthenticated", "{kind}");
            if authorization.is_some() {
                sentences.push(without_id(&answer)?);
            }
        }
        let head: Vec<_> =
            authorization.map(|value| ("authorization", value)).into_iter().collect();
        let opened = web::post(plugway.address(), "/mcp", &head, initialize()).await?;
        ensure!(opened.status == 401 && opened.header("mcp-session-id").is_none());
    }
    sentences.dedup();
    ensure!(sentences.len() == 1, "an unknown token and one that ended differ: {sentences:?}");
    for token in [None, Some("wrong")] {
        let modern = plugway.modern().with_token(token);
        ensure!(modern.call("tools/list", json!({})).await?.status == 401);
    }
    for path in ["/health", "/ready", "/metrics"] {
        ensure!(plugway.get(path).await?.status == 200, "{path} wants a credential");
    }
    ensure!(ann.call_text("up_json", json!({})).await? == "json", "ann's session was harmed");
    ensure!(upstream.calls() == 1);
    Ok(())
}

#[tokio::test]
async fn the_session_of_another_caller_is_one_that_never_was() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = start(&upstream, "", &json!({})).await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    ensure!(ann.call_text("up_json", json!({})).await? == "json");
    let bob = format!("Bearer {BOB}");
    let never = "v1.00000000000000000000000000000000";
    let foreign = each_kind(&plugway, ann.session(), Some(&bob)).await?;
    let unknown = each_kind(&plugway, Some(never), Some(&bob)).await?;
    for ((kind, foreign), (_, unknown)) in foreign.iter().zip(&unknown) {
        ensure!(foreign.status == 404 && unknown.status == 404, "{kind}: {}", foreign.status);
        ensure!(without_id(foreign)? == without_id(unknown)?, "{kind}: {}", foreign.text());
        let names = |answer: &web::Answer| {
            let mut names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
            names.sort();
            names
        };
        ensure!(names(foreign) == names(unknown), "{kind}");
    }
    // The session lives on, and its stream too.
    let _stream = ann.listen().await?;
    ensure!(ann.call_text("up_json", json!({})).await? == "json");
    ensure!(upstream.deletes() == 0 && upstream.calls() == 2);
    Ok(())
}

#[tokio::test]
async fn a_new_token_of_the_same_caller_keeps_the_session() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = start(&upstream, "", &json!({})).await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    ensure!(ann.call_text("up_json", json!({})).await? == "json");
    let opened = upstream.initializes();
    let ann = ann.with_token(Some(ANN_TOO));
    let _stream = ann.listen().await?;
    ensure!(ann.call_text("up_json", json!({})).await? == "json");
    ensure!(upstream.initializes() == opened, "the upstream's session was not kept");
    ensure!((200..300).contains(&ann.delete().await?));
    Ok(())
}

#[tokio::test]
async fn a_token_is_replaced_while_its_session_and_those_of_others_go_on() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = start_with_file(&upstream, ANN).await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let bob = Client::modern_as(plugway.address(), "/mcp", BOB);
    for client in [&ann, &bob] {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    let opened = upstream.initializes();
    plugway.write("tokens.json", listed(ANN_TOO))?;
    wait::until("the old token is taken out", BOUND, async || {
        let status = ann.call("tools/list", json!({})).await?.status;
        Ok((status == 401).then_some(()))
    })
    .await?;
    let ann = ann.with_token(Some(ANN_TOO));
    for client in [&ann, &bob] {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    ensure!(upstream.initializes() == opened && upstream.deletes() == 0, "state was lost");
    Ok(())
}

#[tokio::test]
async fn a_token_ends_in_the_middle_of_a_session() -> Result<()> {
    let upstream = Scripted::start().await?;
    let (plugway, short) = (start_with_file(&upstream, ANN).await?, "short-0123456789abcdef");
    let now = || Ok::<_, anyhow::Error>(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs());
    let end = AtomicU64::new(0);
    // On a busy machine a token may end before it is taken in: then another end is written.
    let ann = wait::until("the token is taken in", BOUND, async || {
        if now()? >= end.load(Ordering::Relaxed) {
            end.store(now()? + 3, Ordering::Relaxed);
            let end = end.load(Ordering::Relaxed);
            let tokens = json!({
                (short): {"client_id": "ann", "expires_at": end}, (ANN): {"client_id": "ann"},
            });
            plugway.write("tokens.json", tokens.to_string())?;
        }
        Ok(Client::legacy_as(plugway.address(), "/mcp", short).await.ok())
    })
    .await?;
    wait::until("the token ends", BOUND, async || {
        let reply = ann.call("tools/list", json!({})).await?;
        ensure!(reply.status == 200 || reply.status == 401, "{}", reply.status);
        Ok((reply.status == 401).then_some(()))
    })
    .await?;
    ensure!(now()? >= end.load(Ordering::Relaxed), "it ended before its time");
    let ann = ann.with_token(Some(ANN));
    ensure!(ann.call_text("up_json", json!({})).await? == "json", "the session is still ann's");
    Ok(())
}

#[tokio::test]
async fn the_stream_of_a_caller_whose_token_is_taken_away_ends() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = start_with_file(&upstream, ANN).await?;
    let ann = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let bob = Client::legacy_as(plugway.address(), "/mcp", BOB).await?;
    let (mut of_ann, mut of_bob) = (ann.listen().await?, bob.listen().await?);
    // Bob keeps his token, ann does not.
    let tokens = json!({ (BOB): { "client_id": "bob" } });
    plugway.write("tokens.json", tokens.to_string())?;
    plugway.logged("configuration applied", BOUND).await?;
    for stream in [&mut of_ann, &mut of_bob] {
        while stream.next(BOUND).await?.is_some() {}
    }
    ensure!(bob.listen().await.is_ok(), "who keeps a token opens another stream");
    ensure!(ann.listen().await.is_err(), "who has none does not");
    Ok(())
}

#[tokio::test]
async fn strangers_come_where_the_connector_lets_them_and_own_nobodys_session() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = start(&upstream, "anonymous: true\n", &json!({})).await?;
    let (ann, stranger) =
        (Client::legacy_as(plugway.address(), "/mcp", ANN).await?, plugway.legacy().await?);
    for client in [&ann, &stranger, &plugway.modern()] {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
    }
    let ann_s = format!("Bearer {ANN}");
    for (session, authorization) in [(&ann, None), (&stranger, Some(ann_s.as_str()))] {
        for (kind, answer) in each_kind(&plugway, session.session(), authorization).await? {
            ensure!(answer.status == 404, "{kind} {authorization:?}: {}", answer.status);
        }
    }
    let wrong = plugway.modern().with_token(Some("wrong"));
    ensure!(
        wrong.call("tools/list", json!({})).await?.status == 401,
        "a wrong token is no stranger"
    );
    Ok(())
}

#[tokio::test]
async fn stateful_servers_keep_the_state_of_exactly_one_caller() -> Result<()> {
    let upstream = Scripted::start().await?;
    let configuration = format!(
        "name: hub\n{}upstreams:\n  - {{name: up, url: '{}'}}\n  - {{name: notes, command: '{}'}}\n",
        auth_yaml(),
        upstream.url(),
        demo_notes_path()?.display()
    );
    let plugway = identified(Setup::new(configuration), &json!({})).start().await?;
    let as_caller = |token: &str| Client::modern_as(plugway.address(), "/mcp", token);
    let (ann, bob) = (as_caller(ANN), as_caller(BOB));
    let before = upstream.initializes();
    // The same caller with another token, and in another client, is in the same session of the server.
    for (client, sessions) in
        [(&ann, 1), (&ann, 1), (&as_caller(ANN_TOO), 1), (&bob, 2), (&ann, 2), (&bob, 2)]
    {
        ensure!(client.call_text("up_json", json!({})).await? == "json");
        let opened = upstream.initializes() - before;
        ensure!(opened == sessions, "{opened} sessions instead of {sessions}");
    }
    ensure!(upstream.deletes() == 0);

    ann.call_tool("notes_add_note", json!({"text": "only ann knows"})).await?;
    let theirs = bob.call_text("notes_list_notes", json!({})).await?;
    ensure!(!theirs.contains("only ann knows"), "bob reads ann's notes: {theirs}");
    let hers = ann.call_text("notes_list_notes", json!({})).await?;
    ensure!(hers.contains("only ann knows"), "ann lost her notes: {hers}");
    let again = as_caller(ANN_TOO).call_text("notes_list_notes", json!({})).await?;
    ensure!(again.contains("only ann knows"), "another token of ann is another caller: {again}");
    let session = Client::legacy_as(plugway.address(), "/mcp", ANN).await?;
    let own = session.call_text("notes_list_notes", json!({})).await?;
    ensure!(!own.contains("only ann knows"), "a session has state of its own: {own}");
    Ok(())
}

#[tokio::test]
async fn clients_of_one_caller_do_not_get_in_each_others_way() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = start(&upstream, "", &json!({})).await?;
    let client = || Client::modern_as(plugway.address(), "/mcp", ANN);
    // Both begin to count at the same number, and share one session of the server.
    let (one, other) = (client(), client());
    let mut ids = Vec::new();
    for client in [&one, &other] {
        let sent: Value = serde_json::from_str(&client.call_text("up_raw", json!({})).await?)?;
        ids.push(sent.get("id").context("no id")?.clone());
    }
    ensure!(ids.first() != ids.last(), "two requests with the id {:?} in one session", ids.first());
    let pair = |client: Client, word: &'static str| async move {
        client.call_text("up_pair", json!({"word": word})).await
    };
    let (first, second) = tokio::try_join!(pair(client(), "one"), pair(client(), "other"))?;
    ensure!((first.as_str(), second.as_str()) == ("one", "other"), "{first} {second}");
    for name in ["up_json", "up_events", "up_nothing"] {
        let reply = client().call("tools/call", json!({"name": name, "arguments": {}})).await?;
        reply.response().with_context(|| format!("{name} lost its id"))?;
    }
    Ok(())
}

#[tokio::test]
async fn what_servers_keep_for_an_idle_caller_ends() -> Result<()> {
    let upstream = Scripted::start().await?;
    let plugway = start(&upstream, "limits: {session_idle: 300ms}\n", &json!({})).await?;
    let ann = Client::modern_as(plugway.address(), "/mcp", ANN);
    ensure!(ann.call_text("up_json", json!({})).await? == "json");
    wait::until("the session at the upstream ends", BOUND, async || {
        Ok((upstream.deletes() == 1).then_some(()))
    })
    .await?;
    let opened = upstream.initializes();
    ensure!(ann.call_text("up_json", json!({})).await? == "json");
    ensure!(upstream.initializes() == opened + 1);
    Ok(())
}
