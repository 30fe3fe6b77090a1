//! Files that a server serves beside its MCP endpoint: what it calls itself in links to them, and where they are fetched.

use std::sync::Arc;

use futures_util::stream;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Method as Verb, StatusCode, Uri};
use tokio::time::{Instant, timeout};

use super::answer::strange;
use super::body::{Pace, Source};
use super::exchange::HttpUpstream;
use super::request::{self, Whose};
use crate::fault::Fault;
use crate::outbound::Client;
use crate::pipeline::port::{Body, File, FileOrder};
use crate::upstream::failure::Failure;
use crate::upstream::limits::{FILE, FILE_TIME};
use crate::upstream::settings::Unusable;
use crate::upstream::tally::Counted;

/// What a server calls itself that only sees its own machine.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The origins of a server.
#[derive(Debug)]
pub(super) struct Files {
    names: Arc<[Arc<str>]>,
    /// Whether the operator says that it gives links to files.
    announced: bool,
    /// What is asked for each of the names.
    places: Vec<Place>,
}

/// Where files of one name are.
#[derive(Clone, Debug)]
struct Place {
    scheme: Scheme,
    authority: Authority,
    host: HeaderValue,
    client: Client,
}

impl Files {
    /// Those of the server at `url`, and further ones, if the operator says that it gives links to files. What a server calls itself on its own machine
    /// means `url`: with the same port, or where the operator names it. `client` gives one for a scheme.
    pub(super) fn new(
        url: &Uri,
        further: Option<&[Arc<str>]>,
        mut client: impl FnMut(&Scheme) -> Result<Client, Unusable>,
    ) -> Result<Self, Unusable> {
        let mut place = |uri: &Uri| {
            let unusable = || Unusable::Url { url: uri.to_string() };
            let scheme = uri.scheme().cloned().ok_or_else(unusable)?;
            let authority = uri.authority().cloned().ok_or_else(unusable)?;
            let host = HeaderValue::from_str(authority.as_str()).ok().ok_or_else(unusable)?;
            let client = client(&scheme)?;
            Ok::<_, Unusable>(Place { scheme, authority, host, client })
        };
        let own = place(url)?;
        let port = own.authority.port_u16().unwrap_or_else(|| default_port(&own.scheme));
        let mut all: Vec<(Arc<str>, Place)> = Vec::new();
        let mut add = |scheme: &Scheme, host: &str, port: u16, place: &Place| {
            for name in names(scheme, host, port) {
                if all.iter().all(|(known, _)| **known != *name) {
                    all.push((name.into(), place.clone()));
                }
            }
        };
        add(&own.scheme, own.authority.host(), port, &own);
        for name in LOOPBACK {
            add(&Scheme::HTTP, name, port, &own);
        }
        for origin in further.unwrap_or_default() {
            let uri: Option<Uri> = origin.parse().ok();
            let uri = uri.ok_or_else(|| Unusable::Url { url: origin.to_string() })?;
            let named = place(&uri)?;
            let port = named.authority.port_u16().unwrap_or_else(|| default_port(&named.scheme));
            let host = named.authority.host();
            let is_own = LOOPBACK.iter().any(|name| host.eq_ignore_ascii_case(name));
            add(&named.scheme, host, port, if is_own { &own } else { &named });
        }
        let (names, places): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        Ok(Self { names: names.into(), announced: further.is_some(), places })
    }

    pub(super) fn are_announced(&self) -> bool {
        self.announced
    }

    pub(super) fn names(&self) -> &Arc<[Arc<str>]> {
        &self.names
    }

    fn place(&self, name: &str) -> Option<&Place> {
        let place = self.names.iter().position(|known| **known == *name)?;
        self.places.get(place)
    }
}

fn default_port(scheme: &Scheme) -> u16 {
    if *scheme == Scheme::HTTPS { 443 } else { 80 }
}

/// The ways to write an origin (RFC 6454, section 6.2): the port may be left out where it is the scheme's own.
fn names(scheme: &Scheme, host: &str, port: u16) -> Vec<String> {
    let host = host.to_ascii_lowercase();
    let mut names = vec![format!("{scheme}://{host}:{port}")];
    if port == default_port(scheme) {
        names.push(format!("{scheme}://{host}"));
    }
    names
}

impl HttpUpstream {
    /// Fetches a file. The head of the answer has as long to come as a piece of a body.
    pub(super) async fn fetch(&self, order: FileOrder) -> Result<Option<File>, Failure> {
        let endpoint = &self.endpoint;
        endpoint.status.usable()?;
        let Some(place) = endpoint.files.place(&order.origin) else { return Ok(None) };
        let counted = endpoint.status.tally.request();
        let uri = Uri::builder().scheme(place.scheme.clone()).authority(place.authority.clone());
        let Ok(uri) = uri.path_and_query(&*order.path).build() else { return Ok(None) };
        let verb = if order.head { Verb::HEAD } else { Verb::GET };
        let whose = Whose::Caller(order.credential);
        let request = request::file(endpoint, (verb, uri), place.host.clone(), whose.clone());
        let due = Instant::now() + FILE_TIME;
        let stall = endpoint.limits.stall;
        let response = match timeout(stall, place.client.send(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(endpoint.failure(&error)),
            Err(_elapsed) => return Err(Failure::timeout(endpoint.name(), stall)),
        };
        let (parts, body) = response.into_parts();
        match parts.status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                return Err(endpoint.refused(&whose).because(parts.status));
            }
            StatusCode::TOO_MANY_REQUESTS => return Err(Failure::throttled(endpoint.name())),
            status => return Err(Failure::broken(endpoint.name(), strange(status)).because(status)),
        }
        if parts.headers.contains_key(http::header::CONTENT_ENCODING) {
            let what = "compressed a file although nothing was accepted but the file itself";
            return Err(Failure::broken(endpoint.name(), what));
        }
        let media_type = parts.headers.get(http::header::CONTENT_TYPE).cloned();
        if order.head {
            let length = parts.headers.get(http::header::CONTENT_LENGTH);
            let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
            return Ok(Some(File { media_type, length, body: Body::Whole(bytes::Bytes::new()) }));
        }
        let pace = Pace { deadline: Some(due), call: FILE_TIME, stall: Some(stall) };
        let source = Source::new(body, endpoint.status.name().clone(), pace, None);
        let length = source.length();
        if length.is_some_and(|length| length > FILE as u64) {
            return Err(Failure::too_large(endpoint.name(), FILE));
        }
        Ok(Some(File {
            media_type,
            length,
            body: Rest { source, passed: 0, _counted: counted }.body(length),
        }))
    }
}

/// What is still to come of a file.
struct Rest {
    source: Source,
    passed: usize,
    _counted: Counted,
}

impl Rest {
    fn body(self, length: Option<u64>) -> Body {
        let pieces = stream::unfold(Some(self), |rest| async move { rest?.next().await });
        Body::Stream(Box::pin(pieces), length)
    }

    async fn next(mut self) -> Option<(Result<bytes::Bytes, Fault>, Option<Self>)> {
        match self.source.chunk().await {
            Ok(None) => None,
            Ok(Some(piece)) => {
                self.passed += piece.len();
                if self.passed > FILE {
                    let failure = Failure::too_large(&self.source.name, FILE);
                    return Some((Err(failure.fault()), None));
                }
                Some((Ok(piece), Some(self)))
            }
            Err(failure) => Some((Err(failure.fault()), None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::outbound::{Dialer, OwnListeners, client::Idle};

    fn files(url: &str, further: &[&str]) -> Files {
        let further: Vec<Arc<str>> = further.iter().map(|origin| Arc::from(*origin)).collect();
        let client = |_: &Scheme| {
            let dialer = Dialer::configured(OwnListeners::new(), Duration::ZERO);
            Ok(Client::plain(dialer, Idle { connections: 1, time: Duration::ZERO }))
        };
        Files::new(&url.parse().unwrap(), Some(&further), client).unwrap()
    }

    fn leads(files: &Files, name: &str) -> Option<String> {
        files.place(name).map(|place| format!("{}://{}", place.scheme, place.authority))
    }

    #[test]
    fn a_server_is_known_by_its_address_by_what_it_calls_itself_and_as_the_operator_says() {
        let further = ["https://Public.example", "http://localhost:8000", "http://other:81"];
        let files = files("http://Chem:9000/mcp", &further);
        for (name, leads_to) in [
            ("http://chem:9000", Some("http://Chem:9000")),
            ("http://localhost:9000", Some("http://Chem:9000")),
            ("http://127.0.0.1:9000", Some("http://Chem:9000")),
            ("http://[::1]:9000", Some("http://Chem:9000")),
            ("https://public.example", Some("https://Public.example")),
            ("https://public.example:443", Some("https://Public.example")),
            ("http://localhost:8000", Some("http://Chem:9000")),
            ("http://other:81", Some("http://other:81")),
            ("http://chem", None),
            ("https://chem:9000", None),
            ("http://other", None),
            ("http://127.0.0.1:9001", None),
        ] {
            assert_eq!(leads(&files, name).as_deref(), leads_to, "{name}");
        }
        let plain = self::files("http://h", &[]);
        assert!(leads(&plain, "http://h").is_some() && leads(&plain, "http://h:80").is_some());
    }
}
