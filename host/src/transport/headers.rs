//! Checks of request headers.

use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, ORIGIN, PROXY_AUTHORIZATION, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::fault::{Code, Fault};
use crate::protocol::header;

/// Session of the legacy era.
pub const SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);
/// Revision of the request.
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
/// Method of the request, in the modern era.
pub const METHOD: HeaderName = HeaderName::from_static(header::METHOD);
/// What the request is about, in the modern era.
pub const NAME: HeaderName = HeaderName::from_static(header::NAME);
/// Where a broken stream is to be resumed (legacy).
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static(header::LAST_EVENT_ID);

/// Headers that decide something may come once only: two readers could take different ones.
const SINGLE: [HeaderName; 8] = [
    SESSION_ID,
    PROTOCOL_VERSION,
    METHOD,
    NAME,
    LAST_EVENT_ID,
    CONTENT_TYPE,
    AUTHORIZATION,
    ORIGIN,
];

/// How nearly every client says that it takes both forms of an answer, JSON rather than events.
const BOTH: &[u8] = b"application/json, text/event-stream";

/// Refuses requests with a deciding header twice.
pub fn check_single(headers: &HeaderMap) -> Result<(), Fault> {
    // As many values as names: none stands twice.
    if headers.len() == headers.keys_len() {
        return Ok(());
    }
    match SINGLE.iter().find(|name| headers.get_all(*name).iter().nth(1).is_some()) {
        Some(name) => Err(twice(name)),
        None => Ok(()),
    }
}

/// The text of a header that may come once.
pub fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Fault> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(twice(name));
    }
    text(name, value).map(Some)
}

/// The text of a header that [`check_single`] looked at.
pub fn get<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Fault> {
    headers.get(name).map(|value| text(name, value)).transpose()
}

fn text<'a>(name: &HeaderName, value: &'a HeaderValue) -> Result<&'a str, Fault> {
    value.to_str().map_err(|error| {
        Fault::new(Code::BadHeader, format!("The header {name} is not visible ASCII."))
            .because(error)
    })
}

fn twice(name: &HeaderName) -> Fault {
    Fault::new(Code::BadHeader, format!("The header {name} stands twice."))
}

/// A message is JSON.
pub fn check_content_type(headers: &HeaderMap) -> Result<(), Fault> {
    let value = get(headers, &CONTENT_TYPE)?.unwrap_or_default();
    let media = value.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Fault::new(Code::UnsupportedMediaType, "The content type must be application/json."))
}

/// The client must accept what the answer may be. An absent header accepts everything (RFC 9110, section 12.5.1).
pub fn check_accept(headers: &HeaderMap, needed: &[&str]) -> Result<(), Fault> {
    if !headers.contains_key(ACCEPT) || accepts_both(headers) {
        return Ok(());
    }
    let accepts = |wanted: &str| {
        headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .any(|value| value.split(',').any(|range| covers(range, wanted)))
    };
    if needed.iter().all(|wanted| accepts(wanted)) {
        return Ok(());
    }
    let text = format!("The header Accept must list {}.", needed.join(" and "));
    Err(Fault::new(Code::NotAcceptable, text))
}

/// Whether the client takes both forms of an answer and prefers JSON, in the words of nearly every client: a quick look before
/// its weights are read.
pub(super) fn accepts_both(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT).iter();
    values.next().is_some_and(|value| value == BOTH) && values.next().is_none()
}

fn covers(range: &str, wanted: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let refused = parts.any(|part| {
        let quality = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
        quality.and_then(|q| q.parse::<f32>().ok()).is_some_and(|q| q <= 0.0)
    });
    let matches = media == "*/*"
        || media.eq_ignore_ascii_case(wanted)
        || media.strip_suffix("/*").is_some_and(|kind| {
            wanted.split_once('/').is_some_and(|(wanted, _)| wanted.eq_ignore_ascii_case(kind))
        });
    matches && !refused
}

/// A WebSocket is not opened. Other upgrades are ignored, as HTTP allows.
pub fn check_upgrade(headers: &HeaderMap) -> Result<(), Fault> {
    let protocols = headers.get_all(UPGRADE).iter().filter_map(|value| value.to_str().ok());
    if protocols
        .flat_map(|value| value.split(','))
        .any(|one| one.trim().eq_ignore_ascii_case("websocket"))
    {
        let text = "WebSocket is not spoken here: use Streamable HTTP.";
        return Err(Fault::new(Code::InvalidRequest, text));
    }
    Ok(())
}

/// Headers that plugins may be allowed to read: credentials and session ids are never among them.
pub fn without_credentials(mut headers: HeaderMap) -> HeaderMap {
    for name in [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE] {
        headers.remove(name);
    }
    headers.remove(SESSION_ID);
    headers.remove(LAST_EVENT_ID);
    headers
}

/// The headers of a modern request that travel on as they are (SEP-2243): intermediaries must not drop them.
pub fn passed(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    headers
        .iter()
        .filter(|(name, _)| name.as_str().starts_with(header::PARAM_PREFIX))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::{check_accept, check_content_type};

    #[test]
    fn accept_must_cover_both_forms_of_an_answer() {
        let both = ["application/json", "text/event-stream"];
        for (accept, fits) in [
            ("application/json, text/event-stream", true),
            ("*/*", true),
            ("application/*, text/*", true),
            ("application/json", false),
            ("text/event-stream", false),
            ("application/json, text/event-stream;q=0", false),
            ("text/html", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("accept", HeaderValue::from_static(accept));
            assert_eq!(check_accept(&headers, &both).is_ok(), fits, "{accept}");
        }
        assert!(check_accept(&HeaderMap::new(), &both).is_ok());
    }

    #[test]
    fn only_json_is_taken() {
        for (value, fits) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("application/json-patch+json", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert("content-type", HeaderValue::from_static(value));
            assert_eq!(check_content_type(&headers).is_ok(), fits, "{value}");
        }
    }
}
