//! Speaks to the registry of another plugway.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::uri::Scheme;
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use serde_json::{Value, json};

use super::super::leaver;
use super::course::Outcome;
use super::registrar::Parent;
use crate::config::RegisterSettings;
use crate::outbound::client::Idle;
use crate::outbound::{self, Dialer, NoCertificates, OwnListeners, chain};

/// Time until a connection stands.
pub const CONNECT: Duration = Duration::from_secs(5);
/// Time until an answer is there as a whole.
pub const ANSWER: Duration = Duration::from_secs(10);
/// Bytes of an answer.
pub const BODY: usize = 64 * 1024;
/// Characters of a registry's sentence that stand in the log.
const SENTENCE: usize = 300;
/// A connection is not kept between two requests, which are far apart.
const IDLE: Idle = Idle { connections: 0, time: Duration::from_secs(1) };

/// The registry where a connector registers itself.
#[derive(Debug)]
pub struct Client {
    http: outbound::Client,
    servers: Uri,
    /// The lease's own address, by which this server leaves and no other of that name.
    own: Uri,
    authorization: HeaderValue,
    body: Bytes,
}

impl Client {
    /// Opens nothing yet.
    pub fn new(settings: &RegisterSettings, own: OwnListeners) -> Result<Self, NoCertificates> {
        let dialer = Dialer::configured(own, CONNECT);
        let http = if settings.servers.scheme() == Some(&Scheme::HTTPS) {
            outbound::Client::secure(dialer, IDLE)?
        } else {
            outbound::Client::plain(dialer, IDLE)
        };
        let text = format!("Bearer {}", settings.token.reveal());
        // What is no value of a header was refused with the configuration.
        let mut authorization =
            HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("Bearer"));
        authorization.set_sensitive(true);
        let body = json!({
            "name": &*settings.name, "url": &*settings.public_url,
            "ttl": settings.ttl.as_secs(), "labels": settings.labels,
        });
        let servers = settings.servers.clone();
        let query = leaver::query(&settings.public_url);
        let own = format!("{servers}/{}?{query}", settings.name).parse().unwrap_or(servers.clone());
        Ok(Self { http, servers, own, authorization, body: body.to_string().into() })
    }

    async fn ask(&self, method: Method, uri: &Uri, body: Bytes) -> Outcome {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        request.headers_mut().insert(AUTHORIZATION, self.authorization.clone());
        let answered = tokio::time::timeout(ANSWER, self.exchange(request)).await;
        answered.unwrap_or_else(|_elapsed| {
            Outcome::Unreachable(format!("no answer within {} s", ANSWER.as_secs()))
        })
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Outcome {
        let response = match self.http.send(request).await {
            Ok(response) => response,
            Err(error) => return Outcome::Unreachable(chain(&error)),
        };
        let status = response.status().as_u16();
        let body = match read(response.into_body()).await {
            Ok(body) => body,
            Err(why) => return Outcome::Unreachable(why),
        };
        match status {
            200..=299 => registered(&body),
            _ => Outcome::Refused(sentence(status, &body)),
        }
    }
}

impl Parent for Client {
    async fn register(&self) -> Outcome {
        self.ask(Method::POST, &self.servers, self.body.clone()).await
    }

    async fn leave(&self) -> Outcome {
        self.ask(Method::DELETE, &self.own, Bytes::new()).await
    }

    async fn wait(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

async fn read(mut body: Incoming) -> Result<Bytes, String> {
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| chain(&error))?;
        let Ok(data) = frame.into_data() else { continue };
        if all.len() + data.len() > BODY {
            return Err(format!("the answer is larger than {BODY} bytes"));
        }
        all.extend_from_slice(&data);
    }
    Ok(all.freeze())
}

/// Whether the registry serves what it has.
fn registered(body: &[u8]) -> Outcome {
    let lease: Value = serde_json::from_slice(body).unwrap_or_default();
    let word = |name: &str| lease.get(name).and_then(Value::as_str).unwrap_or_default();
    match (word("state"), word("reason")) {
        ("held", "") => Outcome::HeldBack("it gives no reason".to_owned()),
        ("held", why) => Outcome::HeldBack(plain(why)),
        _ => Outcome::Held,
    }
}

/// The registry's own sentence, or at least its status.
fn sentence(status: u16, body: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = answer.pointer("/error/message").and_then(Value::as_str);
    let Some(message) = message.filter(|message| !message.is_empty()) else {
        return format!("the status {status}, and no reason");
    };
    plain(message)
}

/// What a registry says, as it can stand in a line.
fn plain(message: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    message.chars().take(SENTENCE).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::super::course::Outcome;
    use super::{registered, sentence};

    #[test]
    fn a_lease_that_is_held_back_is_not_taken_for_one_that_serves() {
        let body = br#"{"name": "w", "state": "held", "reason": "The tools\ndiffer."}"#;
        assert_eq!(registered(body), Outcome::HeldBack("The tools differ.".to_owned()));
        let body = br#"{"state": "held", "reason": null}"#;
        assert_eq!(registered(body), Outcome::HeldBack("it gives no reason".to_owned()));
        for body in
            ["", r#"{"state": "joining"}"#, r#"{"state": "serving"}"#, r#"{"removed": "w"}"#]
        {
            assert_eq!(registered(body.as_bytes()), Outcome::Held, "{body}");
        }
    }

    #[test]
    fn the_sentence_of_the_registry_is_passed_on_within_bounds() {
        let body = br#"{"error": {"message": "The name\nis taken."}}"#;
        assert_eq!(sentence(409, body), "The name is taken.");
        for body in ["", "<html>", "{}", r#"{"error": {"message": 5}}"#] {
            assert_eq!(sentence(502, body.as_bytes()), "the status 502, and no reason");
        }
        let long = format!(r#"{{"error": {{"message": "{}"}}}}"#, "x".repeat(1_000));
        assert_eq!(sentence(400, long.as_bytes()).len(), 300);
    }
}
