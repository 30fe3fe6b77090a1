//! Where a server listens, and the connections to it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderName, HeaderValue, Request, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::ResponseFuture;
use tokio_util::task::TaskTracker;

use super::body::Drainer;
use super::catalog::Catalog;
use super::files::Files;
use super::request::Whose;
use crate::outbound::{self, Client, Dialer, chain};
use crate::upstream::era::EraCell;
use crate::upstream::failure::{Failure, Refused};
use crate::upstream::limits::{DRAINS, IDLE_CONNECTION, IDLE_CONNECTIONS, Limits, REPLIES};
use crate::upstream::settings::{Access, Asks, Settings, Unusable};
use crate::upstream::status::Status;

/// The path that a URL without one gets.
pub(in crate::upstream) const DEFAULT_PATH: &str = "/mcp";
/// The same for HTTP+SSE.
pub(in crate::upstream) const SSE_PATH: &str = "/sse";

/// Where servers that have one say whether they are alive.
const HEALTH_PATH: &str = "/health";

/// One server: its address, written out once, and a pool of connections.
pub(in crate::upstream) struct Endpoint {
    pub(super) uri: Uri,
    /// `/health` of the same origin.
    pub(super) health: Uri,
    /// Its catalogue of functions.
    pub(super) catalog: Catalog,
    pub(super) host: HeaderValue,
    /// What every request carries.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) access: Access,
    /// What it may ask of clients.
    pub(super) asks: Asks,
    client: Client,
    /// What it serves beside its endpoint.
    pub(super) files: Files,
    pub(super) limits: Limits,
    pub(super) status: Arc<Status>,
    pub(super) drainer: Arc<Drainer>,
    /// Carries the answers to its own requests.
    pub(super) replies: Drainer,
    /// Which eras it speaks, as far as that is known.
    pub(in crate::upstream) era: Arc<EraCell>,
    /// It said that sessions have no stream of their own (405): none is asked for until plugway connects again.
    pub(super) no_streams: AtomicBool,
}

impl Endpoint {
    /// Opens nothing yet. `path` is that of a URL without one. The first `https` endpoint of the process loads the system's certificates.
    pub(in crate::upstream) fn new(
        (url, path): (&str, &str),
        settings: &Settings,
        status: &Arc<Status>,
        tracker: &TaskTracker,
    ) -> Result<Self, Unusable> {
        let unusable = || Unusable::Url { url: url.to_owned() };
        let uri = target(url, path).ok_or_else(unusable)?;
        let health = at_origin(&uri, HEALTH_PATH).ok_or_else(unusable)?;
        let host = uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
        let host = host.ok_or_else(unusable)?;
        let dialer = Dialer::configured(settings.own.clone(), settings.limits.connect);
        let idle = outbound::client::Idle { connections: IDLE_CONNECTIONS, time: IDLE_CONNECTION };
        let mut secure: Option<Client> = None;
        let plain = Client::plain(dialer.clone(), idle);
        let mut client = |scheme: &Scheme| -> Result<Client, Unusable> {
            if *scheme != Scheme::HTTPS {
                return Ok(plain.clone());
            }
            if let Some(secure) = &secure {
                return Ok(secure.clone());
            }
            Ok(secure.insert(Client::secure(dialer.clone(), idle)?).clone())
        };
        let files = Files::new(&uri, settings.origins.as_deref(), &mut client)?;
        let client = client(uri.scheme().unwrap_or(&Scheme::HTTP))?;
        let catalog = Catalog::beside(&uri, settings.catalog);
        Ok(Self {
            uri,
            health,
            catalog,
            host,
            headers: settings.headers.clone(),
            access: settings.access.clone(),
            asks: settings.asks,
            client,
            files,
            limits: settings.limits.clone(),
            status: Arc::clone(status),
            drainer: Arc::new(Drainer::new(tracker.clone(), DRAINS)),
            replies: Drainer::new(tracker.clone(), REPLIES),
            era: Arc::new(EraCell::new()),
            no_streams: AtomicBool::new(false),
        })
    }

    /// The operator's name for the server.
    pub(super) fn name(&self) -> &str {
        self.status.name()
    }

    /// Sends over a connection that is open, or a new one.
    pub(super) fn send(&self, request: Request<Full<Bytes>>) -> ResponseFuture {
        self.client.send(request)
    }

    /// Whether requests of callers carry their own credentials.
    pub(super) fn forwards(&self) -> bool {
        matches!(self.access, Access::Callers { .. })
    }

    /// Whether it may say what it offers to callers only.
    pub(super) fn lends(&self) -> bool {
        self.access == Access::Callers { own: None }
    }

    /// A server refused this credential (401): a catalogue may have been read with it.
    pub(super) fn denied(&self, whose: &Whose) {
        if let (true, Whose::Caller(Some(credential))) = (self.lends(), whose) {
            self.status.doubt(credential);
        }
    }

    /// The failure of a request whose credential the server did not accept.
    pub(super) fn refused(&self, whose: &Whose) -> Failure {
        let refused = match (&self.access, whose) {
            (Access::Plugways, _) | (Access::Callers { own: Some(_) }, Whose::Own) => {
                Refused::Plugways
            }
            (Access::Callers { .. }, Whose::Caller(Some(_))) => Refused::Callers,
            (Access::Callers { .. }, Whose::Caller(None)) => Refused::NoCallers,
            (Access::Callers { own: None }, Whose::Own) => Refused::Unlent,
            (Access::Open, _) => Refused::Nobodys,
        };
        Failure::refused(self.name(), refused)
    }

    /// What a failed exchange means. One that did not reach the server makes the keeper look at once.
    pub(super) fn failure(&self, error: &hyper_util::client::legacy::Error) -> Failure {
        self.status.bell.server();
        if let Some(refusal) = outbound::refusal(error) {
            return Failure::not_dialled(self.name(), refusal);
        }
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

/// The URL that is asked: one without a path, which is the same as the path `/` (RFC 3986, section 6.2.3), gets
/// this one; any other path is used as it is.
fn target(url: &str, path: &str) -> Option<Uri> {
    let uri: Uri = url.parse().ok()?;
    let mut parts = uri.into_parts();
    let known = [Scheme::HTTP, Scheme::HTTPS];
    parts.scheme.as_ref().filter(|scheme| known.contains(scheme))?;
    parts.authority.as_ref().filter(|host| !host.as_str().contains('@'))?;
    if parts.path_and_query.as_ref().is_none_or(|path| path.path() == "/") {
        let query = parts.path_and_query.as_ref().and_then(PathAndQuery::query);
        let path = query.map_or(path.to_owned(), |query| format!("{path}?{query}"));
        parts.path_and_query = Some(path.parse().ok()?);
    }
    Uri::from_parts(parts).ok()
}

/// The same origin with another path.
pub(super) fn at_origin(uri: &Uri, path: &str) -> Option<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_path_gets_one_and_any_other_path_stays() {
        let target = |url| target(url, DEFAULT_PATH).map(|uri| uri.to_string());
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
        let origin = "https://h:7/a?b".parse().unwrap();
        assert_eq!(at_origin(&origin, HEALTH_PATH).unwrap(), "https://h:7/health");
        for url in ["", "h:1", "/mcp", "ftp://h", "http://u:p@h", "http://"] {
            assert_eq!(target(url), None, "{url}");
        }
    }
}
