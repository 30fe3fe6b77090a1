//! Resolves, judges, connects.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use http::Uri;
use http::uri::Scheme;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{sleep, timeout};
use tower_service::Service;

use super::address::{Reach, Refusal, judge};
use super::own::OwnListeners;

/// The next address is tried beside the last one after so long (RFC 8305 names 250 ms).
const STAGGER: Duration = Duration::from_millis(250);

/// Addresses of one name that are tried.
const ADDRESSES: usize = 16;

/// Connects to the host of a URI.
#[derive(Clone, Debug)]
pub struct Dialer {
    own: OwnListeners,
    rule: Rule,
    limit: Duration,
}

/// How far the dialer reaches.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// What operators configure: everything but what is never dialled.
    Configured,
    /// What is granted by origin: an address or `localhost` that is written down is meant; a name may stand for private
    /// networks only if that was said.
    Granted { private: bool },
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The URI names no host.
    #[error("the URL names no host")]
    NoHost,
    /// The name has no address.
    #[error("the name {name} cannot be resolved: {source}")]
    Resolve {
        /// The name.
        name: Box<str>,
        /// What the system says.
        source: io::Error,
    },
    /// No address of it may be dialled.
    #[error("{address} is refused: {why}")]
    Refused {
        /// The first that was refused.
        address: IpAddr,
        /// Why.
        why: Refusal,
    },
    /// Nobody answers.
    #[error("{address}: {source}")]
    Connect {
        /// The last that was tried.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// It took too long.
    #[error("no connection within {0:?}")]
    Timeout(Duration),
}

impl Dialer {
    /// For what the operator wrote down. `limit` is for resolving and connecting together.
    pub fn configured(own: OwnListeners, limit: Duration) -> Self {
        Self { own, rule: Rule::Configured, limit }
    }

    /// For what a plugin asks for, within its grant: `private` says that names may stand for private networks.
    pub fn granted(own: OwnListeners, private: bool, limit: Duration) -> Self {
        Self { own, rule: Rule::Granted { private }, limit }
    }

    /// Connects to the host and port of a URI.
    pub async fn dial(&self, uri: &Uri) -> Result<TcpStream, DialError> {
        timeout(self.limit, self.connect(uri))
            .await
            .unwrap_or_else(|_elapsed| Err(DialError::Timeout(self.limit)))
    }

    async fn connect(&self, uri: &Uri) -> Result<TcpStream, DialError> {
        let (host, port) = place(uri)?;
        let found = resolve(host, port).await?;
        first(self.judged(host, found)?).await
    }

    /// Why the host of a URI is never dialled, where it is an address: what a name stands for shows when it is dialled.
    pub fn refuses(&self, uri: &Uri) -> Option<DialError> {
        let (host, port) = place(uri).ok()?;
        let address = host.parse::<IpAddr>().ok()?;
        self.judged(host, vec![SocketAddr::new(address, port)]).err()
    }

    /// Those of the addresses that may be dialled; an error when none may.
    fn judged(&self, host: &str, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, DialError> {
        let reach = self.reach(host);
        let mut refused = None;
        let mut allowed = Vec::with_capacity(found.len());
        for address in found.into_iter().take(ADDRESSES) {
            let mut verdict = judge(address.ip(), reach);
            if verdict.is_ok() && self.own.contains(address) {
                verdict = Err(Refusal::OwnListener);
            }
            match verdict {
                Ok(()) => allowed.push(address),
                Err(why) => {
                    refused.get_or_insert(DialError::Refused { address: address.ip(), why });
                }
            }
        }
        match refused {
            Some(refused) if allowed.is_empty() => Err(refused),
            _ => Ok(allowed),
        }
    }

    fn reach(&self, host: &str) -> Reach {
        match self.rule {
            Rule::Configured | Rule::Granted { private: true } => Reach::Private,
            Rule::Granted { private: false } if host.parse::<IpAddr>().is_ok() => Reach::Private,
            Rule::Granted { private: false } if host.eq_ignore_ascii_case("localhost") => {
                Reach::Loopback
            }
            Rule::Granted { private: false } => Reach::Public,
        }
    }
}

/// The host and the port of a URI.
fn place(uri: &Uri) -> Result<(&str, u16), DialError> {
    let host = uri.host().ok_or(DialError::NoHost)?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let standard = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    Ok((host, uri.port_u16().unwrap_or(standard)))
}

async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, DialError> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let failed = |source| DialError::Resolve { name: host.into(), source };
    let found: Vec<SocketAddr> = lookup_host((host, port)).await.map_err(failed)?.collect();
    if found.is_empty() {
        return Err(failed(io::Error::new(io::ErrorKind::NotFound, "it has no address")));
    }
    Ok(found)
}

/// The first connection that stands. The addresses are tried in order, each a little after the last, or at once when that
/// one failed.
async fn first(addresses: Vec<SocketAddr>) -> Result<TcpStream, DialError> {
    let mut rest = addresses.into_iter();
    let mut tried = FuturesUnordered::new();
    let mut last = DialError::NoHost;
    loop {
        if let Some(address) = rest.next() {
            tried.push(connect(address));
        } else if tried.is_empty() {
            return Err(last);
        }
        let pause = async {
            if rest.len() == 0 {
                std::future::pending::<()>().await;
            } else {
                sleep(STAGGER).await;
            }
        };
        tokio::select! {
            biased;
            Some(done) = tried.next() => match done {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            },
            () = pause => {}
        }
    }
}

async fn connect(address: SocketAddr) -> Result<TcpStream, DialError> {
    let failed = |source| DialError::Connect { address, source };
    let stream = TcpStream::connect(address).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    Ok(stream)
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = DialError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, DialError>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), DialError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let dialer = self.clone();
        Box::pin(async move { dialer.dial(&uri).await.map(TokioIo::new) })
    }
}
