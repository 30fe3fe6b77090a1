//! What is sent: one message, and the headers that say what it is.

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method as Verb, Request, Uri};
use http_body_util::Full;

use super::endpoint::Endpoint;
use crate::pipeline::port::Order;
use crate::protocol::{Field, Message, Method, Mirrored, Revision, header};
use crate::upstream::settings::Access;
use crate::upstream::status::Status;

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const SESSION_ID: HeaderName = HeaderName::from_static(header::SESSION_ID);
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(header::PROTOCOL_VERSION);
const METHOD: HeaderName = HeaderName::from_static(header::METHOD);
const NAME: HeaderName = HeaderName::from_static(header::NAME);

/// On whose behalf something is sent, where callers' credentials are passed on.
#[derive(Clone, Debug, Default)]
pub(super) enum Whose {
    /// plugway's own question.
    #[default]
    Own,
    /// A caller's request, with the credential that the caller sent.
    Caller(Option<HeaderValue>),
}

/// The headers of one message. Those of the transport are set last: none that a caller passes along replaces them.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    /// Session of the legacy era.
    pub(super) session: Option<HeaderValue>,
    /// Revision.
    pub(super) version: Option<HeaderValue>,
    /// Method, in the modern era.
    pub(super) method: Option<HeaderValue>,
    /// What the request is about, in the modern era.
    pub(super) name: Option<HeaderValue>,
    /// What the caller passes along.
    pub(super) extra: Vec<(HeaderName, HeaderValue)>,
    /// Whose credential goes along.
    pub(super) whose: Whose,
}

impl Head {
    /// The headers that the modern era wants for a request: the message itself says what they have to say, whoever wrote it.
    /// Those of arguments are made of it where the caller did not send them.
    pub(super) fn modern(order: &Order, status: &Status) -> Self {
        let message = &order.message;
        let field = match message.method() {
            Method::ToolsCall | Method::PromptsGet => Some(Field::Name),
            Method::ResourcesRead => Some(Field::Uri),
            _ => None,
        };
        let own = field.and_then(|field| message.string(field));
        let name = field.and(order.name.as_deref().or(own.as_deref()));
        let mut extra = order.headers.clone();
        if message.method() == Method::ToolsCall
            && let Some(mirrored) =
                name.and_then(|name| status.mirrored(name, order.credential.as_ref()))
        {
            add_missing(&mut extra, &mirrored, message);
        }
        Self {
            name: name.and_then(|name| HeaderValue::from_str(&header::encode(name)).ok()),
            extra,
            ..Self::modern_method(&message.method_name())
        }
    }

    /// The headers of a modern request that is about nothing in particular.
    pub(super) fn modern_method(method: &str) -> Self {
        Self {
            version: Some(HeaderValue::from_static(Revision::NEWEST.as_str())),
            method: HeaderValue::from_str(method).ok(),
            ..Self::default()
        }
    }

    /// In this order, so that nothing that a caller passes along replaces what the operator or the transport says.
    fn put(self, endpoint: &Endpoint, map: &mut HeaderMap) {
        map.reserve(9 + self.extra.len() + endpoint.headers.len());
        for (name, value) in self.extra {
            map.insert(name, value);
        }
        for (name, value) in &endpoint.headers {
            map.insert(name, value.clone());
        }
        let credential = match (&endpoint.access, self.whose) {
            (Access::Callers { .. }, Whose::Caller(credential)) => credential,
            (Access::Callers { own }, Whose::Own) => own.clone(),
            _ => None,
        };
        if let Some(mut credential) = credential {
            credential.set_sensitive(true);
            map.insert(AUTHORIZATION, credential);
        }
        let own = [
            (SESSION_ID, self.session),
            (PROTOCOL_VERSION, self.version),
            (METHOD, self.method),
            (NAME, self.name),
        ];
        for (name, value) in own {
            if let Some(value) = value {
                map.insert(name, value);
            }
        }
        map.insert(HOST, endpoint.host.clone());
    }
}

/// Adds the headers of arguments that are not there.
fn add_missing(
    extra: &mut Vec<(HeaderName, HeaderValue)>,
    mirrored: &[Mirrored],
    message: &Message,
) {
    let arguments = message.field(Field::Arguments).unwrap_or("{}");
    for mirrored in mirrored {
        if extra.iter().all(|(name, _)| name != mirrored.header())
            && let Some(value) = mirrored.value(arguments)
        {
            extra.push((mirrored.header().clone(), value));
        }
    }
}

/// The request that carries a message.
pub(super) fn post(endpoint: &Endpoint, head: Head, message: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(message));
    *request.method_mut() = Verb::POST;
    *request.uri_mut() = endpoint.uri.clone();
    let headers = request.headers_mut();
    head.put(endpoint, headers);
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, BOTH);
    request
}

/// The request that ends a session.
pub(super) fn delete(endpoint: &Endpoint, head: Head) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = Verb::DELETE;
    *request.uri_mut() = endpoint.uri.clone();
    head.put(endpoint, request.headers_mut());
    request
}

/// The request that asks for the event stream of a session, from behind the event `after`.
pub(super) fn get(
    endpoint: &Endpoint,
    head: Head,
    after: Option<HeaderValue>,
) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.uri_mut() = endpoint.uri.clone();
    let headers = request.headers_mut();
    head.put(endpoint, headers);
    headers.insert(ACCEPT, EVENTS);
    if let Some(after) = after {
        headers.insert(LAST_EVENT_ID, after);
    }
    request
}

/// The request for a file, of the server or of another origin of it. The credential goes along.
pub(super) fn file(
    endpoint: &Endpoint,
    (verb, uri): (Verb, Uri),
    host: HeaderValue,
    whose: Whose,
) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = verb;
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    Head { whose, ..Head::default() }.put(endpoint, headers);
    headers.insert(HOST, host);
    headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    request
}

/// The request for a catalogue of functions.
pub(super) fn catalog(endpoint: &Endpoint, place: &Uri) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.uri_mut() = place.clone();
    let headers = request.headers_mut();
    Head::default().put(endpoint, headers);
    headers.insert(ACCEPT, JSON);
    request
}

/// The request that asks whether the server is alive.
pub(super) fn health(endpoint: &Endpoint) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.uri_mut() = endpoint.health.clone();
    Head::default().put(endpoint, request.headers_mut());
    request
}
