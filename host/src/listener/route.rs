//! What a path and a method name.

use std::sync::Arc;

use http::request::Parts;
use http::{Method, Request};
use hyper::body::Incoming;

use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;
use crate::transport::plain;
use crate::transport::reply::{Asked, Reply};
use crate::transport::site::Door;
use crate::transport::{Site, artifacts, catalog, delete, get, health, post, sse};

/// Answers one HTTP request.
pub async fn route(site: Arc<Site>, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let authority = head.uri.authority().map(http::uri::Authority::as_str);
    if let Err(fault) = site.hosts.check(authority, &head.headers) {
        return site.refuse(&fault, Asked::unknown(RequestId::next()));
    }
    let door = site.door(head.uri.path());
    match (door, &head.method) {
        (None, _) => match site.annex(head.uri.path()) {
            Some((annex, item)) => annex.answer(&site, item, &head, body).await,
            None => own(&site, &head).await,
        },
        (Some(Door::Mcp(endpoint)), &Method::POST) => {
            post::post(&site, endpoint, (head.headers, head.uri.query()), body).await
        }
        (Some(Door::Mcp(endpoint)), &Method::GET) => get::get(&site, endpoint, &head.headers).await,
        (Some(Door::Mcp(endpoint)), &Method::DELETE) => {
            delete::delete(&site, endpoint, &head.headers).await
        }
        (Some(Door::Stream(endpoint, base)), &Method::GET) => {
            sse::get::get(&site, endpoint, base, &head).await
        }
        (Some(Door::Messages(endpoint)), &Method::POST) => {
            sse::post::post(&site, endpoint, &head.uri, &head.headers, body).await
        }
        (Some(Door::Artifact(link)), method) => {
            artifacts::get(&site, link, method, &head.headers).await
        }
        (Some(Door::Catalog(endpoint)), &Method::GET) => {
            catalog::get(&site, endpoint, head.headers, head.uri.query()).await
        }
        (Some(door), _) => refuse(&site, Code::MethodNotAllowed, door.methods()),
    }
}

/// The paths of plugway itself.
async fn own(site: &Arc<Site>, head: &Parts) -> Reply {
    let reading = head.method == Method::GET || head.method == Method::HEAD;
    match head.uri.path() {
        "/health" | "/healthz" | "/ready" | "/metrics" if !reading => {
            refuse(site, Code::MethodNotAllowed, "This path takes GET.")
        }
        "/health" | "/healthz" => health::health(site),
        "/ready" => health::ready(site).await,
        "/metrics" => plain::text("text/plain; version=0.0.4; charset=utf-8", (site.metrics)(site)),
        _ => refuse(
            site,
            Code::UnknownPath,
            "There is nothing at this path: an MCP endpoint ends in /mcp.",
        ),
    }
}

fn refuse(site: &Site, code: Code, text: &'static str) -> Reply {
    site.refuse(&Fault::new(code, text), Asked::unknown(RequestId::next()))
}
