//! HTTP for plugins: to granted origins only, and bounded both ways.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::uri::Scheme;
use http::{HeaderMap, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use tokio::time::timeout;

use super::client::{Client, Idle, NoCertificates, chain, refusal};
use super::dialer::Dialer;
use super::own::OwnListeners;

/// Largest body, each way.
pub const BODY: usize = 1024 * 1024;
/// Largest sum of names and values of headers, each way.
pub const HEADERS: usize = 32 * 1024;
/// Time until a connection stands.
const CONNECT: Duration = Duration::from_secs(5);
/// Connections that wait for another request.
const IDLE: Idle = Idle { connections: 8, time: Duration::from_secs(4) };

/// Scheme, host and port. Equal ones are the same place, whatever way they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    secure: bool,
    host: Box<str>,
    port: u16,
}

impl Origin {
    /// The origin of an absolute `http` or `https` URL without user name; none for anything else.
    pub fn of(uri: &Uri) -> Option<Self> {
        let secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return None,
        };
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'))?;
        let host = authority.host();
        if host.is_empty() {
            return None;
        }
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let host = match bare.parse::<IpAddr>() {
            Ok(address) => address.to_string(),
            Err(_a_name) => host.to_ascii_lowercase(),
        };
        let port = match authority.as_str().rsplit_once(':') {
            Some((_, port)) if !port.ends_with(']') => port.parse().ok()?,
            _ => {
                if secure {
                    443
                } else {
                    80
                }
            }
        };
        Some(Self { secure, host: host.into(), port })
    }
}

/// Reaches the origins of one grant.
#[derive(Debug)]
pub struct Fetcher {
    origins: Vec<Origin>,
    dialer: Dialer,
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

/// What a server answered.
#[derive(Debug)]
pub struct Fetched {
    /// The status as a number.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// Why nothing came back, in one sentence each.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Not a URL that can be fetched.
    #[error("the URL must be absolute, with http or https and no user name")]
    Url,
    /// Another origin.
    #[error("the host {host} is not granted; the operator lists it in `grants.fetch`")]
    NotGranted {
        /// The authority of the URL.
        host: String,
    },
    /// An address that is not dialled.
    #[error("the host {host} is refused: {why}")]
    Refused {
        /// The authority of the URL.
        host: String,
        /// The dialer's sentence.
        why: String,
    },
    /// Nobody answers, or the connection broke.
    #[error("the host {host} cannot be reached")]
    Unreachable {
        /// The authority of the URL.
        host: String,
        /// For the log.
        why: String,
    },
    /// It took too long.
    #[error("the host {host} did not answer within {} ms", .limit.as_millis())]
    Timeout {
        /// The authority of the URL.
        host: String,
        /// The limit.
        limit: Duration,
    },
    /// More than is taken.
    #[error("the {what} is larger than {limit} bytes")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// plugway's own trouble.
    #[error(transparent)]
    Certificates(#[from] NoCertificates),
}

impl Fetcher {
    /// Opens nothing yet. `private` lets names stand for addresses of private networks.
    pub fn new(origins: Vec<Origin>, private: bool, own: OwnListeners) -> Self {
        let dialer = Dialer::granted(own, private, CONNECT);
        Self { origins, dialer, plain: OnceLock::new(), secure: OnceLock::new() }
    }

    /// Sends one request and reads the whole answer. Redirects are answers like others.
    pub async fn fetch(
        &self,
        request: Request<Bytes>,
        limit: Duration,
    ) -> Result<Fetched, FetchError> {
        let origin = Origin::of(request.uri()).ok_or(FetchError::Url)?;
        let host: Arc<str> = request.uri().authority().map_or("", |host| host.as_str()).into();
        if !self.origins.contains(&origin) {
            return Err(FetchError::NotGranted { host: host.to_string() });
        }
        bounded("request's body", request.body().len(), BODY)?;
        bounded("request's header", size(request.headers()), HEADERS)?;
        let client = self.client(origin.secure)?;
        let exchange = exchange(client, request.map(Full::new), &host);
        let elapsed = |_| Err(FetchError::Timeout { host: host.to_string(), limit });
        timeout(limit, exchange).await.unwrap_or_else(elapsed)
    }

    fn client(&self, secure: bool) -> Result<&Client, NoCertificates> {
        if !secure {
            return Ok(self.plain.get_or_init(|| Client::plain(self.dialer.clone(), IDLE)));
        }
        if let Some(client) = self.secure.get() {
            return Ok(client);
        }
        let client = Client::secure(self.dialer.clone(), IDLE)?;
        Ok(self.secure.get_or_init(|| client))
    }
}

async fn exchange(
    client: &Client,
    request: Request<Full<Bytes>>,
    host: &str,
) -> Result<Fetched, FetchError> {
    let broken = |why| FetchError::Unreachable { host: host.to_owned(), why };
    let response = client.send(request).await.map_err(|error| match refusal(&error) {
        Some(refused) => FetchError::Refused { host: host.to_owned(), why: refused.to_string() },
        None => broken(chain(&error)),
    })?;
    let (parts, body) = response.into_parts();
    bounded("answer's header", size(&parts.headers), HEADERS)?;
    let body = read(body, broken).await?;
    Ok(Fetched { status: parts.status.as_u16(), headers: parts.headers, body })
}

async fn read(
    mut body: Incoming,
    broken: impl Fn(String) -> FetchError,
) -> Result<Bytes, FetchError> {
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| broken(chain(&error)))?;
        if let Ok(data) = frame.into_data() {
            bounded("answer's body", all.len() + data.len(), BODY)?;
            all.extend_from_slice(&data);
        }
    }
    Ok(all.freeze())
}

fn bounded(what: &'static str, size: usize, limit: usize) -> Result<(), FetchError> {
    if size > limit { Err(FetchError::TooLarge { what, limit }) } else { Ok(()) }
}

fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}
