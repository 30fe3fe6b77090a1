//! A client of `/admin/v1`.

use std::{net::SocketAddr, path::Path, time::Duration};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::UnixStream;

use crate::{Plugway, http as web, wait};

const BOUND: Duration = Duration::from_secs(20);

/// Where plugway is administered, and with what.
#[derive(Debug, Clone)]
pub struct Admin {
    address: SocketAddr,
    token: String,
}

impl Admin {
    /// The administration of a plugway with `admin: {listen: 127.0.0.1:0, token_file: admin.token}`.
    pub async fn of(plugway: &Plugway) -> Result<Self> {
        let token = std::fs::read_to_string(plugway.folder().join("admin.token"))?;
        Ok(Self { address: address(plugway).await?, token: token.trim().to_owned() })
    }

    /// Its credential.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `GET /admin/v1/{path}`; it must succeed.
    pub async fn get(&self, path: &str) -> Result<Value> {
        let answer = self.ask(Method::GET, path, Some(&self.token)).await?;
        anyhow::ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
        answer.json()
    }

    /// `POST /admin/v1/{path}`, whatever becomes of it.
    pub async fn post(&self, path: &str) -> Result<web::Answer> {
        self.ask(Method::POST, path, Some(&self.token)).await
    }

    /// Any request with any credential.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
    ) -> Result<web::Answer> {
        let request = request(method, path, &self.address.to_string(), token)?;
        web::send(self.address, request).await
    }
}

/// Where a plugway with `admin.listen` listens for administrators.
async fn address(plugway: &Plugway) -> Result<SocketAddr> {
    let line = plugway.logged("\"message\":\"administration\"", BOUND).await?;
    let line: Value = serde_json::from_str(&line)?;
    Ok(line.get("address").and_then(Value::as_str).context("no address")?.parse()?)
}

/// A request to administration.
pub fn request(
    method: Method,
    path: &str,
    host: &str,
    token: Option<&str>,
) -> Result<Request<Full<Bytes>>> {
    let mut request =
        Request::builder().method(method).uri(format!("/admin/v1/{path}")).header("host", host);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    Ok(request.body(Full::default())?)
}

/// Sends a request through a Unix socket; the status and the body.
pub async fn through(socket: &Path, request: Request<Full<Bytes>>) -> Result<(u16, String)> {
    let stream = UnixStream::connect(socket).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let response = wait::within("the answer", BOUND, sender.send_request(request)).await??;
    let status = response.status().as_u16();
    let body = wait::within("the body", BOUND, response.into_body().collect()).await??.to_bytes();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}
