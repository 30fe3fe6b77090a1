//! What a server sends to register itself.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::config::{LABELS, LONGEST_LEASE, SHORTEST_LEASE, USUAL_LEASE, is_name, labels_fit};
use crate::fault::{Code, Fault};

/// Bytes of one request.
pub const BODY: usize = 16 * 1024;
/// Bytes of an address.
pub const LONGEST_URL: usize = 2048;
/// Characters of a reader's sentence that are passed on.
const LONGEST_REASON: usize = 200;

/// A server that wants to be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The name of its upstream.
    pub name: Arc<str>,
    /// Where it is.
    pub url: Uri,
    /// For how long.
    pub ttl: Duration,
    /// Words about it.
    pub labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `name` and `url`")]
struct Written {
    name: String,
    url: String,
    ttl: Option<u64>,
    #[serde(default)]
    labels: Labels,
}

/// Labels, none of which stands twice.
#[derive(Default)]
struct Labels(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LabelsVisitor;
        impl<'de> Visitor<'de> for LabelsVisitor {
            type Value = Labels;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of labels, each a text")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Labels, A::Error> {
                let mut labels = BTreeMap::new();
                while let Some((name, text)) = access.next_entry::<String, String>()? {
                    if labels.insert(name, text).is_some() {
                        return Err(de::Error::custom("a label stands twice"));
                    }
                }
                Ok(Labels(labels))
            }
        }
        deserializer.deserialize_map(LabelsVisitor)
    }
}

impl Registration {
    /// Reads the body of a request: `{"name": .., "url": .., "ttl": seconds, "labels": {..}}`.
    pub fn read(body: &[u8]) -> Result<Self, Fault> {
        let invalid = |text: String| Fault::new(Code::InvalidParams, text);
        let written: Written = serde_json::from_slice(body).map_err(|error| {
            let why: String = error.to_string().chars().take(LONGEST_REASON).collect();
            invalid(format!("The body is no registration: {why}."))
        })?;
        if !is_name(&written.name) {
            let text = "The name must be 1 to 32 letters, digits, `_` and `-`.";
            return Err(invalid(text.to_owned()));
        }
        let url = address(&written.url).map_err(|why| invalid(format!("The url {why}.")))?;
        let ttl = written.ttl.map_or(USUAL_LEASE, Duration::from_secs);
        if !(SHORTEST_LEASE..=LONGEST_LEASE).contains(&ttl) {
            let (from, to) = (SHORTEST_LEASE.as_secs(), LONGEST_LEASE.as_secs());
            return Err(invalid(format!("The ttl must be {from} to {to} seconds.")));
        }
        let Labels(labels) = written.labels;
        if !labels_fit(&labels) {
            return Err(invalid(format!("The labels must be {LABELS}.")));
        }
        Ok(Self { name: written.name.into(), url, ttl, labels })
    }
}

/// The address of a server; an error is the end of a sentence.
fn address(text: &str) -> Result<Uri, &'static str> {
    if text.len() > LONGEST_URL {
        return Err("is longer than 2048 bytes");
    }
    if text.contains('#') {
        return Err("must have no fragment");
    }
    let uri: Uri = text.parse().map_err(|_no_url| "is no URL")?;
    let authority = match (uri.scheme(), uri.authority()) {
        (Some(scheme), Some(authority)) if [Scheme::HTTP, Scheme::HTTPS].contains(scheme) => {
            authority
        }
        _ => return Err("must begin with http:// or https:// and a host"),
    };
    if authority.host().is_empty() {
        return Err("must begin with http:// or https:// and a host");
    }
    if authority.as_str().contains('@') {
        return Err("must hold no user name");
    }
    let has_port = authority.as_str().len() > authority.host().len();
    if has_port && authority.port_u16().is_none_or(|port| port == 0) {
        return Err("has a port that is no number from 1 to 65535");
    }
    if uri.query().is_some() {
        return Err("must have no query");
    }
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_left_out_has_a_default() {
        let read = Registration::read(br#"{"url": "https://h/x", "name": "a"}"#).unwrap();
        assert_eq!((&*read.name, read.url.to_string()), ("a", "https://h/x".to_owned()));
        assert_eq!((read.ttl, read.labels.len()), (USUAL_LEASE, 0));
        let body =
            br#"{"name": "a_B-9", "url": "http://[::1]:80", "ttl": 60, "labels": {"zone": "x y"}}"#;
        let read = Registration::read(body).unwrap();
        assert_eq!((read.ttl, &*read.labels["zone"]), (SHORTEST_LEASE, "x y"));
    }

    #[test]
    fn each_thing_that_is_wrong_has_its_sentence() {
        let long = format!(r#"{{"name": "a", "url": "http://h/{}"}}"#, "x".repeat(LONGEST_URL));
        let many: Vec<String> = (0..17).map(|n| format!(r#""l{n}": """#)).collect();
        let many = many.join(",");
        let many = format!(r#"{{"name": "a", "url": "http://h", "labels": {{{many}}}}}"#);
        for (body, sentence) in [
            ("", "The body is no registration: EOF"),
            ("[]", "The body is no registration: "),
            ("{}", "missing field `name`"),
            (r#"{"name": "a"}"#, "missing field `url`"),
            (r#"{"name": "a", "name": "b", "url": "http://h"}"#, "duplicate field `name`"),
            (r#"{"name": "a", "url": "http://h", "weight": 1}"#, "unknown field `weight`"),
            (r#"{"name": 5, "url": "http://h"}"#, "expected a string"),
            (r#"{"name": "", "url": "http://h"}"#, "The name must be"),
            (r#"{"name": "a.b", "url": "http://h"}"#, "The name must be"),
            (r#"{"name": "a/../b", "url": "http://h"}"#, "The name must be"),
            (r#"{"name": "a", "url": "h"}"#, "The url must begin with http"),
            (r#"{"name": "a", "url": "ftp://h"}"#, "The url must begin with http"),
            (r#"{"name": "a", "url": "file:///etc/passwd"}"#, "The url "),
            (r#"{"name": "a", "url": "http://u:p@h"}"#, "must hold no user name"),
            (r#"{"name": "a", "url": "http://h:0"}"#, "has a port"),
            (r#"{"name": "a", "url": "http://h:99999"}"#, "The url "),
            (r#"{"name": "a", "url": "http://h/?k=v"}"#, "must have no query"),
            (r#"{"name": "a", "url": "http://h/#x"}"#, "must have no fragment"),
            (r#"{"name": "a", "url": "http://h x"}"#, "is no URL"),
            (&long, "is longer than 2048"),
            (r#"{"name": "a", "url": "http://h", "ttl": 59}"#, "The ttl must be 60 to 3600"),
            (r#"{"name": "a", "url": "http://h", "ttl": 3601}"#, "The ttl must be 60 to 3600"),
            (r#"{"name": "a", "url": "http://h", "ttl": -1}"#, "integer `-1`"),
            (r#"{"name": "a", "url": "http://h", "ttl": 60.5}"#, "floating point"),
            (r#"{"name": "a", "url": "http://h", "labels": {"x": 1}}"#, "expected a string"),
            (r#"{"name": "a", "url": "http://h", "labels": {"x": "", "x": ""}}"#, "stands twice"),
            (r#"{"name": "a", "url": "http://h", "labels": {"": ""}}"#, "The labels must be"),
            (
                r#"{"name": "a", "url": "http://h", "labels": {"x": "\u0007"}}"#,
                "The labels must be",
            ),
            (&many, "The labels must be at most 16"),
        ] {
            let fault = Registration::read(body.as_bytes()).unwrap_err();
            assert_eq!(fault.code(), Code::InvalidParams, "{body}");
            let said = fault.public();
            assert!(said.contains(sentence) && said.ends_with('.'), "{body}: {said}");
        }
    }
}
