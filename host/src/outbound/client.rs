//! HTTP over the dialer.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;

use super::dialer::{DialError, Dialer};

/// A pool of connections. It knows no redirects, and a response's body is as unbounded as its server likes: whoever
/// reads it brings the bounds.
#[derive(Clone, Debug)]
pub struct Client(Pool);

#[derive(Clone, Debug)]
enum Pool {
    Plain(legacy::Client<Dialer, Full<Bytes>>),
    Secure(legacy::Client<HttpsConnector<Dialer>, Full<Bytes>>),
}

/// The system's certificates cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the system's root certificates cannot be loaded: {why}")]
pub struct NoCertificates {
    /// What the system says.
    pub why: String,
}

/// How many connections wait for another request, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// At one origin.
    pub connections: usize,
    /// How long each.
    pub time: Duration,
}

impl Client {
    /// For `http` URLs.
    pub fn plain(dialer: Dialer, idle: Idle) -> Self {
        Self(Pool::Plain(builder(idle).build(dialer)))
    }

    /// For `https` URLs. The first one of the process loads the system's certificates.
    pub fn secure(dialer: Dialer, idle: Idle) -> Result<Self, NoCertificates> {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config((*certificates()?).clone())
            .https_only()
            .enable_http1()
            .wrap_connector(dialer);
        Ok(Self(Pool::Secure(builder(idle).build(connector))))
    }

    /// Sends over a connection that is open, or a new one.
    pub fn send(&self, request: Request<Full<Bytes>>) -> ResponseFuture {
        match &self.0 {
            Pool::Plain(client) => client.request(request),
            Pool::Secure(client) => client.request(request),
        }
    }
}

fn builder(idle: Idle) -> legacy::Builder {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder
        .pool_idle_timeout(idle.time)
        .pool_max_idle_per_host(idle.connections)
        .pool_timer(TokioTimer::new())
        .timer(TokioTimer::new());
    builder
}

/// The system's certificates, read once for the process and only when `https` is needed.
fn certificates() -> Result<Arc<ClientConfig>, NoCertificates> {
    static CONFIG: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    let load = || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_native_roots()
            .map_err(|error| error.to_string())?
            .with_no_client_auth();
        Ok(Arc::new(config))
    };
    CONFIG.get_or_init(load).clone().map_err(|why| NoCertificates { why })
}

/// Why the dialer refused, if an error comes from that.
pub fn refusal<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a DialError> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(refused @ DialError::Refused { .. }) = cause.downcast_ref::<DialError>() {
            return Some(refused);
        }
        next = cause.source();
    }
    None
}

/// An error with its causes.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
