//! GET and HEAD of a link to a file of a server, which plugway gave in an answer (docs/decisions/0022).

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method};

use super::plain::{self, Download};
use super::reply::{Reply, ReplyBody};
use super::site::{Endpoint, Site};
use super::visitor::Visitor;
use crate::fault::{Code, Fault};
use crate::pipeline::RequestId;
use crate::pipeline::artifacts::{self, Asked, Opened, PATH, Who};
use crate::pipeline::port::Body;

/// What the path takes.
const METHODS: &str = "GET, HEAD";
/// Longest media type that is passed on.
const MEDIA_TYPE: usize = 127;

/// A link: where it is served, its token, and the name behind it.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// What is served there.
    pub endpoint: &'a Endpoint,
    /// Its token.
    pub token: &'a str,
    /// The name behind it.
    pub name: &'a str,
}

impl<'a> Link<'a> {
    /// The base path of the connector, the token and the name, where a path has the form of a link.
    pub(super) fn split(path: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let (front, name) = path.rsplit_once('/')?;
        let (_, token) = front.rsplit_once('/')?;
        let base = front.strip_suffix(token)?.strip_suffix(PATH)?;
        Some((base, token, name))
    }
}

/// Sends the file. Whoever may not have it cannot tell that there is one.
pub async fn get(site: &Arc<Site>, link: Link<'_>, method: &Method, head: &HeaderMap) -> Reply {
    let request_id = RequestId::next();
    match open(site, link, method, head, request_id).await {
        Ok(opened) => sent(opened, *method == Method::HEAD),
        Err(fault) => {
            site.counts.fault(&fault);
            plain::fault(&fault, request_id, METHODS)
        }
    }
}

async fn open(
    site: &Arc<Site>,
    link: Link<'_>,
    method: &Method,
    head: &HeaderMap,
    request_id: RequestId,
) -> Result<Opened, Fault> {
    let Link { endpoint, token, name } = link;
    if ![Method::GET, Method::HEAD].contains(method) {
        return Err(Fault::new(Code::MethodNotAllowed, "This path takes GET and HEAD."));
    }
    // Where the link is all that is needed, what comes besides says nothing.
    let open = endpoint.connector.links.as_ref().is_some_and(|rules| rules.who == Who::Holder);
    let (caller, credential) = if open {
        (None, None)
    } else {
        let visitor = Visitor::identify(site, endpoint, head).await?;
        (visitor.caller, visitor.credential)
    };
    let request_id = request_id.to_string();
    let head = *method == Method::HEAD;
    let asked = Asked { request_id: &request_id, token, name, caller, credential, head };
    artifacts::open(&endpoint.connector, asked).await
}

fn sent(opened: Opened, head: bool) -> Reply {
    let Opened { name, media_type, length, body } = opened;
    let body = match body {
        Body::Whole(bytes) => ReplyBody::Whole(Some(bytes)),
        Body::Stream(chunks, length) => ReplyBody::Stream(chunks, length),
    };
    let media_type = media_type.as_ref().and_then(sound).unwrap_or(OCTETS);
    // Where nothing is sent, nothing else says how long it would be.
    let length = length.filter(|_| head);
    plain::download(Download { disposition: disposition(&name), media_type, length }, body)
}

const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");

/// `TYPE/SUBTYPE`, with a charset where there is one, and nothing else of what a server says (RFC 9110, section 8.3.1).
fn sound(value: &HeaderValue) -> Option<HeaderValue> {
    let text = value.to_str().ok()?;
    let mut parts = text.split(';').map(str::trim);
    let (kind, subtype) = parts.next()?.split_once('/')?;
    if !is_token(kind) || !is_token(subtype) {
        return None;
    }
    let charset = parts.find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        (key.eq_ignore_ascii_case("charset") && is_token(value)).then_some(value)
    });
    let charset = charset.map_or_else(String::new, |charset| format!("; charset={charset}"));
    let media_type = format!("{kind}/{subtype}{charset}").to_ascii_lowercase();
    HeaderValue::from_str(&media_type).ok().filter(|value| value.len() <= MEDIA_TYPE)
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
}

/// `attachment` with the name of the file: in letters that everybody reads, and as it is (RFC 6266, RFC 8187).
fn disposition(name: &str) -> HeaderValue {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    let simple: String = name
        .chars()
        .map(|letter| if letter.is_ascii() && plain(&(letter as u8)) { letter } else { '_' })
        .collect();
    let encoded = |byte: u8| {
        if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    let whole = name.bytes().map(encoded).collect::<Vec<_>>().concat();
    let text = format!("attachment; filename=\"{simple}\"; filename*=UTF-8''{whole}");
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_link_where_it_has_the_form_of_one() {
        for (path, parts) in [
            ("/artifacts/t/n.csv", Some(("", "t", "n.csv"))),
            ("/a/hub/artifacts/t/n", Some(("/a/hub", "t", "n"))),
            ("/hub/artifacts/artifacts/t/n", Some(("/hub/artifacts", "t", "n"))),
            ("/hub/artifacts/t", None),
            ("/artifacts", None),
            ("/artifacts/a/t/n", None),
            ("/hub/xartifacts/t/n", None),
            ("", None),
        ] {
            assert_eq!(Link::split(path), parts, "{path}");
        }
    }

    #[test]
    fn nothing_but_a_media_type_and_a_charset_passes() {
        for (said, passed) in [
            ("text/csv", Some("text/csv")),
            ("Text/HTML ; Charset=\"UTF-8\"; x=y", Some("text/html; charset=utf-8")),
            ("text/plain; charset=a b", Some("text/plain")),
            ("multipart/form-data; boundary=x", Some("multipart/form-data")),
            ("text", None),
            ("text/", None),
            ("te xt/plain", None),
            ("text/plain, text/html", None),
            ("", None),
        ] {
            let sound = sound(&HeaderValue::from_static(said));
            assert_eq!(sound.as_ref().map(|value| value.to_str().unwrap()), passed, "{said}");
        }
        assert_eq!(sound(&HeaderValue::from_str(&format!("a/{}", "b".repeat(200))).unwrap()), None);
        assert_eq!(sound(&HeaderValue::from_bytes(b"text/\xff").unwrap()), None);
    }

    #[test]
    fn a_name_cannot_leave_its_place_in_the_header() {
        for (name, header) in [
            ("a.csv", "attachment; filename=\"a.csv\"; filename*=UTF-8''a.csv"),
            (
                "a\"; x=\u{e9}\r\n",
                "attachment; filename=\"a___x____\"; filename*=UTF-8''a%22%3B%20x%3D%C3%A9%0D%0A",
            ),
        ] {
            assert_eq!(disposition(name), header);
        }
    }
}
