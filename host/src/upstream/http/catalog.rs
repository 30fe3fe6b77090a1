//! `GET /catalog`: what a server that runs code says of the functions and skills that its tools do not show. It is data:
//! nothing in it is looked up or run here.

use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;
use http::Uri;
use tokio::time::{Instant, timeout_at};

use super::body::{Pace, Source};
use super::endpoint::{Endpoint, at_origin};
use super::request::catalog;
use crate::protocol::scan;
use crate::upstream::documents::Document;
use crate::upstream::limits::{CATALOG, CATALOG_TIME};

/// The path at an origin.
const PATH: &str = "/catalog";
/// Levels around a function where the router hands it on.
const AROUND: u32 = 3;

/// Where a server may have its catalogue, and what is known of it.
#[derive(Debug)]
pub(super) struct Catalog {
    /// In the order in which they are tried.
    places: Vec<Uri>,
    known: Mutex<Known>,
    /// The reading of the server's lists with which it was read, where it is read for callers; one at a time reads it.
    current: tokio::sync::Mutex<Option<u64>>,
}

#[derive(Debug, Default)]
struct Known {
    /// What the last reading gave: where it failed, what the one before gave.
    given: Option<Document>,
    /// What the log was told last.
    said: Option<String>,
}

/// What one place answered.
enum Found {
    /// A catalogue.
    Text(Arc<str>),
    /// There is none.
    Nothing,
    /// Something that is no catalogue.
    Unusable(String),
    /// Nobody knows: it may be there the next time.
    Unread(String),
}

impl Catalog {
    /// The places beside an endpoint: `http://h/p/catalog` for `http://h/p/mcp`, then `/catalog` of the origin, where the
    /// connectors of agora-workbench look. None where it is never to be asked for.
    pub(super) fn beside(endpoint: &Uri, asked: bool) -> Self {
        let mut places = Vec::new();
        if asked {
            let path = endpoint.path().trim_end_matches('/');
            let base = path.rsplit_once('/').map_or("", |(base, _)| base);
            for path in [[base, PATH].concat(), PATH.to_owned()] {
                let uri = at_origin(endpoint, &path);
                places.extend(uri.filter(|uri| !places.contains(uri)));
            }
        }
        Self { places, known: Mutex::default(), current: tokio::sync::Mutex::default() }
    }

    /// What the last reading gave, without asking.
    pub(super) fn last(&self) -> Option<Document> {
        self.known().given.clone()
    }

    /// What there is since the server's lists were read again; asks for it where nobody did yet.
    pub(super) async fn current(&self, endpoint: &Endpoint) -> Option<Document> {
        let reads = endpoint.status.reads();
        let mut read_with = self.current.lock().await;
        if *read_with == Some(reads) {
            return self.last();
        }
        let document = self.read(endpoint).await;
        // One that could not be read is asked for again by the next caller.
        *read_with = document.as_ref().is_none_or(Document::is_known).then_some(reads);
        document
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for it. One that cannot be read now is the last one that could; one that is not there any more, or is none, is
    /// forgotten.
    pub(super) async fn read(&self, endpoint: &Endpoint) -> Option<Document> {
        if self.places.is_empty() {
            return None;
        }
        let deadline = Instant::now() + CATALOG_TIME.min(endpoint.limits.catalogue / 2);
        let mut found = Found::Nothing;
        for place in &self.places {
            let asked = timeout_at(deadline, ask(endpoint, place)).await;
            let answered = asked.unwrap_or_else(|_| Found::Unread("it takes too long".to_owned()));
            match answered {
                Found::Nothing => {}
                // A page for people stands at every path of some servers: the other place may still have it.
                Found::Unusable(_) => found = answered,
                Found::Text(_) | Found::Unread(_) => {
                    found = answered;
                    break;
                }
            }
        }
        self.note(endpoint, found)
    }

    /// Keeps what was found, and says in the log what is wrong, once.
    fn note(&self, endpoint: &Endpoint, found: Found) -> Option<Document> {
        let mut known = self.known();
        let (document, said) = match found {
            Found::Text(text) => (Some(Document::Text(text)), None),
            Found::Nothing => (None, None),
            Found::Unusable(why) => (None, Some(why)),
            Found::Unread(why) => {
                let last = known.given.take().filter(Document::is_known);
                (Some(last.unwrap_or_else(|| Document::Unread(why.as_str().into()))), Some(why))
            }
        };
        known.given.clone_from(&document);
        if let Some(why) = said.as_ref().filter(|why| known.said.as_ref() != Some(why)) {
            tracing::warn!(
                connector = &**endpoint.status.connector(),
                upstream = endpoint.name(),
                reason = &**why,
                kept = document.as_ref().is_some_and(Document::is_known),
                "the catalogue of functions (GET /catalog) cannot be used"
            );
        }
        known.said = said;
        document
    }
}

async fn ask(endpoint: &Endpoint, place: &Uri) -> Found {
    let response = match endpoint.send(catalog(endpoint, place)).await {
        Ok(response) => response,
        Err(error) => return Found::Unread(crate::outbound::chain(&error)),
    };
    let (parts, body) = response.into_parts();
    let pace = Pace { deadline: None, call: CATALOG_TIME, stall: None };
    let mut source = Source::new(body, Arc::clone(endpoint.status.name()), pace, None);
    let status = parts.status;
    if !status.is_success() {
        source.finish(&endpoint.drainer);
        return match status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::GONE => {
                Found::Nothing
            }
            StatusCode::TOO_MANY_REQUESTS => Found::Unread(format!("it answers {status}")),
            status if status.is_server_error() => Found::Unread(format!("it answers {status}")),
            status => Found::Unusable(format!("it answers {status}")),
        };
    }
    match source.up_to(CATALOG).await {
        Ok((text, true)) if text.len() <= CATALOG => judged(&text),
        Ok(_) => Found::Unusable(format!("it has more than {CATALOG} bytes")),
        Err(failure) => Found::Unread(failure.reason().to_string()),
    }
}

/// Whether these bytes may be handed to a router.
fn judged(bytes: &[u8]) -> Found {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Found::Unusable("it is no text".to_owned());
    };
    if !text.trim_ascii_start().starts_with('{') {
        return Found::Unusable("it is no JSON object".to_owned());
    }
    match scan::check(text, AROUND) {
        Ok(()) => Found::Text(text.into()),
        Err(error) => Found::Unusable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(endpoint: &str) -> Vec<String> {
        let catalog = Catalog::beside(&endpoint.parse().unwrap(), true);
        catalog.places.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn it_is_looked_for_beside_the_endpoint_and_at_the_origin() {
        for (endpoint, wanted) in [
            ("http://h:1/mcp", &["http://h:1/catalog"][..]),
            ("http://h:1/p/mcp", &["http://h:1/p/catalog", "http://h:1/catalog"]),
            ("https://h/a/b/mcp/?k=v", &["https://h/a/b/catalog", "https://h/catalog"]),
            ("http://h:1/", &["http://h:1/catalog"]),
        ] {
            assert_eq!(places(endpoint), wanted, "{endpoint}");
        }
        let never = Catalog::beside(&"http://h/mcp".parse().unwrap(), false);
        assert!(never.places.is_empty());
    }

    #[test]
    fn only_an_object_of_json_that_is_not_nested_too_deep_is_taken() {
        let taken = |text: &str| matches!(judged(text.as_bytes()), Found::Text(_));
        assert!(taken(r#" {"tools": []}"#) && taken("{}"));
        let deep = format!(r#"{{"tools":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        for text in ["", "[]", "<html></html>", "{\"tools\": [}", "{} {}", &deep] {
            assert!(!taken(text), "{text}");
        }
        assert!(matches!(judged(b"{\"a\":\"\xff\"}"), Found::Unusable(_)));
    }
}
