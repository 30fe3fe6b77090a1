//! HTTP/1.1 as the tests need it: exact bytes for tables of bad input, and ordinary requests through hyper.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::wait;

const ANSWERED_WITHIN: Duration = Duration::from_secs(20);
const BODY_MAX: usize = 64 * 1024 * 1024;

/// A whole answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    /// The whole body, without its transfer coding.
    pub body: Bytes,
}

impl Answer {
    /// A header's value as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.body).with_context(|| format!("not JSON: {}", self.text()))
    }
}

/// `GET path`, the whole answer.
pub async fn get(address: SocketAddr, path: &str) -> Result<Answer> {
    let request = Request::get(path).header("host", address.to_string()).body(Full::default())?;
    send(address, request).await
}

/// `POST path` of a message with these headers besides the usual ones, the whole answer.
pub async fn post(
    address: SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    message: impl Into<Bytes>,
) -> Result<Answer> {
    let mut request = Request::post(path)
        .header("host", address.to_string())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    send(address, request.body(Full::from(message.into()))?).await
}

/// Sends a request on a connection of its own and reads the whole answer.
pub async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Result<Answer> {
    let response = open(address, request).await?;
    let (parts, body) = response.into_parts();
    let body = wait::within("the body", ANSWERED_WITHIN, Limited::new(body, BODY_MAX).collect())
        .await?
        .map_err(|error| anyhow::anyhow!("the body broke off: {error}"))?;
    Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body: body.to_bytes() })
}

/// Sends a request on a connection of its own and returns when the answer's head is there.
pub async fn open(
    address: SocketAddr,
    request: Request<Full<Bytes>>,
) -> Result<http::Response<Incoming>> {
    let stream =
        TcpStream::connect(address).await.with_context(|| format!("no one at {address}"))?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let response =
        wait::within("the answer", ANSWERED_WITHIN, sender.send_request(request)).await?;
    Ok(response?)
}

/// Sends exactly these bytes, then reads one answer. The connection must be answered or closed within the bound.
pub async fn exchange(address: SocketAddr, bytes: &[u8]) -> Result<Answer> {
    let mut stream = TcpStream::connect(address).await?;
    wait::within("the raw answer", ANSWERED_WITHIN, async {
        // A server may answer and close before it has read everything; its answer still counts.
        let sent = stream.write_all(bytes).await;
        let answer = read_answer(&mut stream).await;
        sent.or_else(|error| if answer.is_ok() { Ok(()) } else { Err(error) })?;
        answer
    })
    .await?
}

async fn read_answer(stream: &mut TcpStream) -> Result<Answer> {
    let mut bytes = Vec::new();
    loop {
        if let Some(answer) = parse(&bytes, false)? {
            return Ok(answer);
        }
        let mut chunk = vec![0; 16 * 1024];
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            return parse(&bytes, true)?.with_context(|| {
                format!("the connection was closed after {} bytes of an answer", bytes.len())
            });
        }
        chunk.truncate(count);
        bytes.extend(chunk);
        ensure!(bytes.len() < BODY_MAX, "the answer does not end");
    }
}

/// The answer, once its last byte is there.
fn parse(bytes: &[u8], is_closed: bool) -> Result<Option<Answer>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let (head, rest) = bytes.split_at(end);
    let head = std::str::from_utf8(head).context("the head is not text")?;
    let mut lines = head.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.with_context(|| format!("no status line: {status_line}"))?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').with_context(|| format!("no header: {line}"))?;
        headers.append(HeaderName::try_from(name)?, HeaderValue::try_from(value.trim())?);
    }
    let rest = rest.get(4..).unwrap_or_default();
    Ok(body(rest, &headers, is_closed)?.map(|body| Answer { status, headers, body }))
}

fn body(rest: &[u8], headers: &HeaderMap, is_closed: bool) -> Result<Option<Bytes>> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if text("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return unchunk(rest);
    }
    let length = text("content-length").map(str::parse::<usize>).transpose()?;
    Ok(match length {
        Some(length) => rest.get(..length).map(Bytes::copy_from_slice),
        None => is_closed.then(|| Bytes::copy_from_slice(rest)),
    })
}

fn unchunk(mut rest: &[u8]) -> Result<Option<Bytes>> {
    let mut whole = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            return Ok(None);
        };
        let line = std::str::from_utf8(rest.get(..end).unwrap_or_default())?;
        let size = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16);
        let Ok(size) = size else { bail!("no chunk size: {line}") };
        let data = rest.get(end + 2..).unwrap_or_default();
        if data.len() < size + 2 {
            return Ok(None);
        }
        if size == 0 {
            return Ok(Some(whole.into()));
        }
        whole.extend_from_slice(data.get(..size).unwrap_or_default());
        rest = data.get(size + 2..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_ways_of_framing_a_body() {
        let plain = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nhi";
        let answer = parse(plain, false).unwrap().unwrap();
        assert_eq!((answer.status, answer.text().as_str()), (400, "hi"));
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(parse(chunked, false).unwrap().unwrap().text(), "abc");
        assert!(parse(&chunked[..chunked.len() - 1], false).unwrap().is_none());
    }
}
