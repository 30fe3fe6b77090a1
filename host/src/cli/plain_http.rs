//! The few requests that the command line itself makes to a plugway on this machine: HTTP/1.0 over one connection,
//! so that it needs neither threads nor a client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Time for each step: connecting, writing, reading.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Largest answer that is read.
const MAX_ANSWER: u64 = 8 << 20;

/// A host, a port and a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) authority: String,
    pub(super) path: String,
}

impl Place {
    /// Reads `http://HOST:PORT/PATH`; the path may be missing, and is then the one given here.
    pub(super) fn parse(url: &str, default_path: &str) -> Option<Self> {
        let uri: http::Uri = url.parse().ok()?;
        let authority = uri.authority()?;
        (uri.scheme_str() == Some("http") && !authority.as_str().contains('@')).then_some(())?;
        let port = authority.port_u16().unwrap_or(80);
        let path = match uri.path() {
            "" | "/" => default_path,
            path => path,
        };
        Some(Self { authority: format!("{}:{port}", authority.host()), path: path.to_owned() })
    }
}

/// Asks, and gives the status and the body.
pub(super) fn ask(place: &Place, body: Option<&str>) -> std::io::Result<(u16, String)> {
    let nowhere = || std::io::Error::other("the host has no address");
    let address: SocketAddr = place.authority.to_socket_addrs()?.next().ok_or_else(nowhere)?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let method = if body.is_some() { "POST" } else { "GET" };
    let body = body.unwrap_or_default();
    let Place { authority, path } = place;
    write!(
        stream,
        "{method} {path} HTTP/1.0\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = Vec::new();
    stream.take(MAX_ANSWER).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    parse(&answer).ok_or_else(|| std::io::Error::other("the answer is not HTTP"))
}

fn parse(answer: &str) -> Option<(u16, String)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.")?.split(' ').nth(1)?;
    let status = status.split("\r\n").next()?.parse().ok()?;
    Some((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_answers_are_read() {
        let place = |url| Place::parse(url, "/health").map(|place| place.authority + &place.path);
        for (url, expected) in [
            ("http://127.0.0.1:9000", Some("127.0.0.1:9000/health")),
            ("http://localhost/ready", Some("localhost:80/ready")),
            ("http://[::1]:1/", Some("[::1]:1/health")),
            ("https://localhost", None),
            ("localhost:9000", None),
            ("http://u@h", None),
        ] {
            assert_eq!(place(url).as_deref(), expected, "{url}");
        }
        let read = parse("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody");
        assert_eq!(read, Some((200, "body".to_owned())));
        assert_eq!(parse("HTTP/1.0 503\r\n\r\n"), Some((503, String::new())));
        assert_eq!(parse("SSH-2.0"), None);
    }
}
