//! Where a server listens, and the connections to it.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderValue, Request, Uri};
use http_body_util::Full;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;

use super::body::Drainer;
use crate::upstream::failure::Failure;
use crate::upstream::limits::{IDLE_CONNECTION, IDLE_CONNECTIONS, Limits};
use crate::upstream::settings::Unusable;
use crate::upstream::status::Status;

/// The path that a URL without one gets.
const DEFAULT_PATH: &str = "/mcp";

/// One server: its address, written out once, and a pool of connections.
pub(in crate::upstream) struct Endpoint {
    pub(super) uri: Uri,
    pub(super) host: HeaderValue,
    client: Pool,
    pub(super) limits: Limits,
    pub(super) status: Arc<Status>,
    pub(super) drainer: Arc<Drainer>,
}

enum Pool {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Secure(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Endpoint {
    /// Opens nothing yet. The first `https` endpoint of the process loads the system's certificates.
    pub(in crate::upstream) fn new(
        url: &str,
        limits: &Limits,
        status: &Arc<Status>,
        drainer: Drainer,
    ) -> Result<Self, Unusable> {
        let uri = target(url).ok_or_else(|| Unusable::Url { url: url.to_owned() })?;
        let host = uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
        let host = host.ok_or_else(|| Unusable::Url { url: url.to_owned() })?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(limits.connect));
        let client = if uri.scheme() == Some(&Scheme::HTTPS) {
            connector.enforce_http(false);
            let config = certificates().map_err(|why| Unusable::Certificates { why })?;
            let connector = HttpsConnectorBuilder::new()
                .with_tls_config((*config).clone())
                .https_only()
                .enable_http1()
                .wrap_connector(connector);
            Pool::Secure(builder().build(connector))
        } else {
            Pool::Plain(builder().build(connector))
        };
        Ok(Self {
            uri,
            host,
            client,
            limits: limits.clone(),
            status: Arc::clone(status),
            drainer: Arc::new(drainer),
        })
    }

    /// The operator's name for the server.
    pub(super) fn name(&self) -> &str {
        self.status.name()
    }

    /// Sends over a connection that is open, or a new one.
    pub(super) fn send(&self, request: Request<Full<Bytes>>) -> ResponseFuture {
        match &self.client {
            Pool::Plain(client) => client.request(request),
            Pool::Secure(client) => client.request(request),
        }
    }

    /// What a failed exchange means. One that did not reach the server makes the keeper look at once.
    pub(super) fn failure(&self, error: &hyper_util::client::legacy::Error) -> Failure {
        self.status.suspect();
        let failure = if error.is_connect() {
            Failure::unavailable(self.name())
        } else {
            Failure::broken(self.name(), "broke off the connection")
        };
        failure.because(chain(error))
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("uri", &self.uri).finish_non_exhaustive()
    }
}

fn builder() -> hyper_util::client::legacy::Builder {
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .pool_idle_timeout(IDLE_CONNECTION)
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .pool_timer(TokioTimer::new())
        .timer(TokioTimer::new());
    builder
}

/// The system's certificates, read once for the process and only when an `https` server is configured.
fn certificates() -> Result<Arc<ClientConfig>, String> {
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
    CONFIG.get_or_init(load).clone()
}

/// The URL that is asked: one without a path, which is the same as the path `/` (RFC 3986, section 6.2.3), gets
/// [`DEFAULT_PATH`]; any other path is used as it is.
fn target(url: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let mut parts = uri.into_parts();
    let known = [Scheme::HTTP, Scheme::HTTPS];
    parts.scheme.as_ref().filter(|scheme| known.contains(scheme))?;
    parts.authority.as_ref().filter(|host| !host.as_str().contains('@'))?;
    if parts.path_and_query.as_ref().is_none_or(|path| path.path() == "/") {
        let query = parts.path_and_query.as_ref().and_then(PathAndQuery::query);
        let path = query.map_or(DEFAULT_PATH.to_owned(), |query| format!("{DEFAULT_PATH}?{query}"));
        parts.path_and_query = Some(path.parse().ok()?);
    }
    Uri::from_parts(parts).ok()
}

/// An error with its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_path_gets_one_and_any_other_path_stays() {
        let target = |url| target(url).map(|uri| uri.to_string());
        for (url, want) in [
            ("http://h:1", "http://h:1/mcp"),
            ("http://h:1?k=v", "http://h:1/mcp?k=v"),
            ("http://h:1/", "http://h:1/mcp"),
            ("http://h:1/mcp", "http://h:1/mcp"),
            ("http://h:1/mcp/", "http://h:1/mcp/"),
            ("https://h/a/b?c=d", "https://h/a/b?c=d"),
            ("http://[::1]:9", "http://[::1]:9/mcp"),
        ] {
            assert_eq!(target(url).as_deref(), Some(want), "{url}");
        }
        for url in ["", "h:1", "/mcp", "ftp://h", "http://u:p@h", "http://"] {
            assert_eq!(target(url), None, "{url}");
        }
    }
}
