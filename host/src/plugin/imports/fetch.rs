//! `fetch`: HTTP to the origins that the operator granted.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use plugway_bindings::waiting::fetch::{Host, Incoming, Outgoing};
use wasmtime::{Result, bail};

use super::clean;
use crate::outbound::{FetchError, Fetched};
use crate::plugin::ctx::Ctx;
use crate::plugin::limits::{FETCH_HEADERS, FETCH_WAIT};

/// Headers that a guest does not set: credentials are the operator's, and framing is the transport's.
const NOT_THE_GUESTS: [&str; 16] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "host",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "connection",
    "proxy-connection",
    "keep-alive",
    "upgrade",
    "expect",
    "forwarded",
    "x-forwarded-for",
    "via",
];

/// Headers of an answer that a guest does not read.
const NOT_FOR_GUESTS: [&str; 7] = [
    "set-cookie",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "trailer",
    "upgrade",
    "proxy-authenticate",
];

impl Host for Ctx {
    async fn send(&mut self, request: Outgoing) -> Result<Result<Incoming, String>> {
        self.charge()?;
        self.task.impure("fetch")?;
        let Some(fetcher) = self.place.fetch.clone() else {
            bail!("the plugin fetched without a grant");
        };
        match self.budget.fetches.checked_sub(1) {
            Some(left) => self.budget.fetches = left,
            None => return Ok(Err("this call has fetched as many times as one call may".into())),
        }
        let limit = match request.timeout_ms {
            0 => FETCH_WAIT,
            ms => Duration::from_millis(ms.into()).min(FETCH_WAIT),
        };
        let request = match checked(request) {
            Ok(request) => request,
            Err(why) => return Ok(Err(why)),
        };
        Ok(match fetcher.fetch(request, limit).await {
            Ok(fetched) => Ok(incoming(fetched)),
            Err(error) => {
                let (plugin, connector) = (&*self.place.plugin, &*self.place.connector);
                if self.place.may_log() {
                    let why = match &error {
                        FetchError::Unreachable { why, .. } => why.as_str(),
                        _ => "",
                    };
                    tracing::debug!(plugin, connector, %error, why, "a fetch failed");
                }
                Err(error.to_string())
            }
        })
    }
}

/// The request, if the guest may send it.
fn checked(wanted: Outgoing) -> std::result::Result<Request<Bytes>, String> {
    let method = Method::from_bytes(wanted.method.as_bytes());
    let method =
        method.ok().filter(|method| *method != Method::CONNECT && *method != Method::TRACE);
    let Some(method) = method else {
        return Err(format!("the method {:?} cannot be fetched with", clean(&wanted.method, 32)));
    };
    let uri: Uri = wanted.url.parse().map_err(|_invalid| FetchError::Url.to_string())?;
    if wanted.headers.len() > FETCH_HEADERS {
        return Err(format!("the request has more than {FETCH_HEADERS} headers"));
    }
    let mut request = Request::new(Bytes::from(wanted.body));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    for (name, value) in wanted.headers {
        let shown = clean(&name, 64);
        let Ok(name) = HeaderName::try_from(name) else {
            return Err(format!("{shown:?} is no name of a header"));
        };
        if NOT_THE_GUESTS.contains(&name.as_str()) {
            return Err(format!("the header {name} is not the plugin's to set"));
        }
        let Ok(value) = HeaderValue::try_from(value) else {
            return Err(format!("the value of the header {name} cannot be sent"));
        };
        request.headers_mut().append(name, value);
    }
    Ok(request)
}

fn incoming(fetched: Fetched) -> Incoming {
    let headers = fetched
        .headers
        .iter()
        .filter(|(name, _)| !NOT_FOR_GUESTS.contains(&name.as_str()))
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    Incoming { status: fetched.status, headers, body: fetched.body.into() }
}
