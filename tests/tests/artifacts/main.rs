//! Links to files of servers that run code: plugway's own in every answer, and what they lead to.
#![expect(clippy::indexing_slicing, reason = "a JSON value gives null where there is nothing")]

mod answers;
mod callers;
mod files;
mod kept;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::Full;
use plugway_tests::{Plugway, Shelf, http as web, rpc::Client};
use serde_json::{Value, json};

const BOUND: Duration = Duration::from_secs(20);

/// A hub before the server, with these further keys of its upstream and of the top.
fn hub(shelf: &Shelf, upstream: &str, top: &str) -> String {
    format!(
        "name: hub\nstatus: false\n{top}upstreams: [{{name: up, url: '{}'{upstream}}}]\n",
        shelf.url()
    )
}

async fn fetch(
    plugway: &Plugway,
    method: Method,
    link: &str,
    token: Option<&str>,
) -> Result<web::Answer> {
    web::send(plugway.address(), request(plugway, method, link, token)?).await
}

fn request(
    plugway: &Plugway,
    method: Method,
    link: &str,
    token: Option<&str>,
) -> Result<Request<Full<Bytes>>> {
    let path = link.strip_prefix(&plugway.base_url()).context("a link to plugway")?;
    let mut request = Request::builder().method(method).uri(path).body(Full::default())?;
    let mut put = |name: &'static str, value: &str| -> Result<()> {
        request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_str(value)?);
        Ok(())
    };
    put("host", &plugway.address().to_string())?;
    if let Some(token) = token {
        put("authorization", &format!("Bearer {token}"))?;
    }
    Ok(request)
}

/// The link that a client gets for a file.
async fn link(client: &Client, name: &str) -> Result<String> {
    let text = format!("ORIGIN/artifacts/session-1/0a1b2c/{name}");
    client.call_text("up_links", json!({"text": text})).await
}

/// The parts of a link to plugway: token and name.
fn parts<'a>(plugway: &Plugway, link: &'a str) -> Result<(&'a str, &'a str)> {
    let rest =
        link.strip_prefix(&plugway.base_url()).and_then(|path| path.strip_prefix("/artifacts/"));
    let (token, name) =
        rest.and_then(|rest| rest.split_once('/')).with_context(|| link.to_owned())?;
    ensure!(token.len() >= 22, "{token}: 128 bits");
    Ok((token, name))
}

/// What an answer says without the id of its request.
fn said(answer: &web::Answer) -> Result<(u16, Value)> {
    let mut body = answer.json()?;
    body["error"]["requestId"].take();
    Ok((answer.status, body))
}
