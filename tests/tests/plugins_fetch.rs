//! The import `fetch`: granted origins are reached, everything else is refused with one sentence.

use std::{convert::Infallible, net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use plugway_tests::{Guest, Hub, Plugway, rpc::Client};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

const MIB: usize = 1024 * 1024;

/// A server that says what it was asked.
struct Site {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Site {
    async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service_fn(answer));
                // A client that goes away is no concern of this server.
                tokio::spawn(async move { drop(serving.await) });
            }
        });
        Ok(Self { address, task })
    }

    fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let response = Response::builder().header("set-cookie", "id=secret").header("x-own", "yes");
    let response = match parts.uri.path() {
        "/redirect" => response.status(302).header("location", "/ok").body(Full::default()),
        "/big" => response.body(Full::from(vec![b'b'; MIB + 1])),
        "/slow" => std::future::pending().await,
        _ => {
            let body = Limited::new(body, 2 * MIB).collect().await;
            let length = body.map(|body| body.to_bytes().len()).unwrap_or_default();
            let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
            let seen = json!({
                "method": parts.method.as_str(), "host": header("host"), "x": header("x-asked"),
                "length": length,
            });
            response.status(201).body(Full::from(seen.to_string()))
        }
    };
    Ok(response.unwrap_or_default())
}

/// A plugway whose router fetches, with these origins granted.
async fn granted(grants: Value) -> Result<(Plugway, Client)> {
    let router = Guest::new("fetching").grants(grants);
    let hub = Hub::before("http://127.0.0.1:9/mcp").router(router);
    let plugway = hub.setup()?.absent("clock").unready().start().await?;
    plugway.logged("catalogue shaped", Duration::from_secs(20)).await?;
    let client = plugway.legacy().await?;
    Ok((plugway, client))
}

async fn fetch(client: &Client, wanted: Value) -> Result<Value> {
    let result = client.call_tool("fetch", wanted).await?;
    result.get("structuredContent").cloned().with_context(|| result.to_string())
}

async fn error(client: &Client, wanted: Value) -> Result<String> {
    let seen = fetch(client, wanted).await?;
    let error = seen.get("error").and_then(Value::as_str).map(str::to_owned);
    error.with_context(|| format!("it was fetched: {seen}"))
}

#[tokio::test]
async fn a_granted_origin_is_reached_and_any_status_is_an_answer() -> Result<()> {
    let site = Site::start().await?;
    let (_plugway, client) = granted(json!({"fetch": [site.origin()]})).await?;
    let wanted = json!({
        "url": site.url("/ok?q"), "method": "POST", "body": 5, "headers": [["X-Asked", "a"]],
    });
    let seen = fetch(&client, wanted).await?;
    ensure!(seen["status"] == 201, "{seen}");
    let asked: Value = serde_json::from_str(seen["body"].as_str().context("no body")?)?;
    let host = site.address.to_string();
    ensure!(asked == json!({"method": "POST", "host": host, "x": "a", "length": 5}), "{asked}");
    let headers = seen["headers"].to_string();
    ensure!(headers.contains("x-own") && !headers.contains("secret"), "{headers}");

    let seen = fetch(&client, json!({"url": site.url("/redirect")})).await?;
    ensure!(seen["status"] == 302, "a redirect is an answer, and is not followed: {seen}");
    ensure!(seen["headers"].to_string().contains("location"), "{seen}");
    Ok(())
}

#[tokio::test]
async fn other_origins_are_refused_however_they_are_written() -> Result<()> {
    let (site, other) = (Site::start().await?, Site::start().await?);
    let (_plugway, client) = granted(json!({"fetch": [site.origin()]})).await?;
    let port = site.address.port();
    for url in [
        other.url("/ok"),
        format!("https://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://127.0.0.1.:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
    ] {
        let said = error(&client, json!({"url": url})).await?;
        ensure!(said.contains("is not granted"), "{url}: {said}");
    }
    for url in ["/ok", "ftp://127.0.0.1/", &site.url("/ok").replace("//", "//user:pass@")] {
        let said = error(&client, json!({"url": url})).await?;
        ensure!(said.contains("URL") && !said.contains("pass"), "{url}: {said}");
    }
    Ok(())
}

#[tokio::test]
async fn a_grant_does_not_reach_metadata_nor_a_name_private_addresses() -> Result<()> {
    let site = Site::start().await?;
    let port = site.address.port();
    // A name that is an address of this machine, as a resolver under somebody else's control may say it.
    let name = format!("http://2130706433:{port}");
    let metadata = ["http://169.254.169.254", "http://[fd00:ec2::254]", "http://100.100.100.200"];
    let granted_all: Vec<&str> = metadata.into_iter().chain([name.as_str()]).collect();
    let (plugway, client) = granted(json!({"fetch": granted_all})).await?;
    for url in metadata {
        let said = error(&client, json!({"url": url})).await?;
        ensure!(said.contains("metadata service"), "{url}: {said}");
    }
    let said = error(&client, json!({"url": name})).await?;
    ensure!(said.contains("the machine itself, which is not granted"), "{said}");
    drop((plugway, client));

    let grants = json!({"fetch": [name, metadata[0]], "fetch_private": true});
    let (_plugway, client) = granted(grants).await?;
    ensure!(fetch(&client, json!({"url": name})).await?["status"] == 201);
    let said = error(&client, json!({"url": metadata[0]})).await?;
    ensure!(said.contains("metadata service"), "whatever is granted: {said}");
    Ok(())
}

#[tokio::test]
async fn plugways_own_listener_is_never_fetched_from() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    drop(listener);
    let origin = format!("http://{address}");
    let router = Guest::new("fetching").grants(json!({"fetch": [origin]}));
    let hub = Hub::before("http://127.0.0.1:9/mcp").router(router);
    let setup = hub.setup()?.absent("clock").unready().chooses_address();
    let plugway = setup.environment("PORT", address.port().to_string()).start().await?;
    ensure!(plugway.address() == address, "it listens elsewhere: {}", plugway.address());
    plugway.logged("catalogue shaped", Duration::from_secs(20)).await?;
    let said = error(&plugway.legacy().await?, json!({"url": origin})).await?;
    ensure!(said.contains("plugway itself listens there"), "{said}");
    Ok(())
}

#[tokio::test]
async fn what_is_too_large_too_slow_or_not_the_guests_to_say_is_refused() -> Result<()> {
    let site = Site::start().await?;
    let (_plugway, client) = granted(json!({"fetch": [site.origin()]})).await?;
    let url = site.url("/ok");
    for (wanted, part) in [
        (json!({"url": site.url("/big")}), "answer's body is larger"),
        (json!({"url": url, "method": "POST", "body": MIB + 1}), "request's body is larger"),
        (json!({"url": site.url("/slow"), "timeout_ms": 50}), "did not answer within 50 ms"),
        (json!({"url": url, "headers": [["Authorization", "Bearer x"]]}), "authorization"),
        (json!({"url": url, "headers": [["cookie", "a=b"]]}), "cookie"),
        (json!({"url": url, "headers": [["Host", "other"]]}), "host"),
        (json!({"url": url, "headers": [["transfer-encoding", "chunked"]]}), "transfer-encoding"),
        (json!({"url": url, "headers": [["x-a", "b\r\nx-c: d"]]}), "x-a"),
        (json!({"url": url, "headers": [["x a", "b"]]}), "header"),
        (json!({"url": url, "method": "CONNECT"}), "method"),
        (json!({"url": url, "method": "G T"}), "method"),
        (json!({"url": url, "times": 100}), "as many"),
    ] {
        let said = error(&client, wanted.clone()).await?;
        ensure!(said.contains(part), "{wanted}: {said}");
        ensure!(!said.contains("Bearer"), "{said}");
    }
    let body = "x".repeat(MIB);
    let seen = fetch(&client, json!({"url": url, "method": "PUT", "body": body.len()})).await?;
    ensure!(seen["body"].as_str().is_some_and(|seen| seen.contains("1048576")), "{seen}");
    Ok(())
}

#[tokio::test]
async fn without_a_grant_the_import_is_refused_by_name() -> Result<()> {
    let router = Guest::new("fetching").grants(json!({"upstreams": true}));
    let output = Hub::before("http://127.0.0.1:9/mcp").router(router).setup()?.check().await?;
    ensure!(output.status.code() == Some(4), "{}", output.status);
    ensure!(output.stderr.contains("plugway:plugin/fetch@0.1.0"), "{}", output.stderr);
    ensure!(output.stderr.contains("`grants`"), "{}", output.stderr);
    Ok(())
}
