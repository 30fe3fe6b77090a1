//! What a request says about what is to be shown for it, as far as a policy may read it where it judges what is visible.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::HeaderMap;
use sha2::{Digest as _, Sha256};

use super::connector::Connector;
use crate::hex::hex;

/// Bytes of one value; the rest is cut.
const VALUE: usize = 32 * 1024;

/// Headers and query parameters of a request, those that some policy may read. Views are kept for each of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Filters {
    headers: BTreeMap<String, String>,
    query: BTreeMap<String, String>,
    digest: Arc<str>,
}

impl Filters {
    /// All values of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// All values of a query parameter.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// What tells one set of values from another.
    pub(super) fn digest(&self) -> &Arc<str> {
        &self.digest
    }

    fn new(headers: BTreeMap<String, String>, query: BTreeMap<String, String>) -> Arc<Self> {
        let mut hash = Sha256::new();
        for (sort, pairs) in [(b"h", &headers), (b"q", &query)] {
            for (name, value) in pairs {
                hash.update(sort);
                for text in [name, value] {
                    hash.update(text.len().to_le_bytes());
                    hash.update(text);
                }
            }
        }
        let digest = hex(&hash.finalize()).into();
        Arc::new(Self { headers, query, digest })
    }
}

impl Connector {
    /// What policies may read of a request; none where that is nothing, as nearly always.
    pub fn filters(&self, head: &HeaderMap, query: Option<&str>) -> Option<Arc<Filters>> {
        if !self.policies.iter().any(|policy| policy.reads_requests()) {
            return None;
        }
        let reading = || self.policies.iter().filter(|policy| policy.reads_requests());
        let (mut headers, mut parameters) = (BTreeMap::new(), BTreeMap::new());
        for (name, value) in head {
            if reading().any(|policy| policy.may_read_header(name.as_str())) {
                let value = String::from_utf8_lossy(value.as_bytes());
                add(&mut headers, name.as_str(), &value, ", ");
            }
        }
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if reading().any(|policy| policy.may_read_query(&name)) {
                add(&mut parameters, &name, &value, ",");
            }
        }
        if headers.is_empty() && parameters.is_empty() {
            return None;
        }
        Some(Filters::new(headers, parameters))
    }

    /// What of a query a request has to repeat whose URL plugway gives itself: `&NAME=VALUE` for each parameter that a policy
    /// may read.
    pub fn repeated(&self, query: Option<&str>) -> String {
        let Some(filters) = self.filters(&HeaderMap::new(), query) else { return String::new() };
        let mut kept = form_urlencoded::Serializer::new(String::new());
        kept.extend_pairs(&filters.query);
        format!("&{}", kept.finish())
    }
}

fn add(values: &mut BTreeMap<String, String>, name: &str, value: &str, between: &str) {
    let all = values.entry(name.to_owned()).or_default();
    let between = if all.is_empty() || value.is_empty() { "" } else { between };
    let room = VALUE.saturating_sub(all.len() + between.len());
    let kept = value.get(..value.floor_char_boundary(room)).unwrap_or_default();
    if !kept.is_empty() {
        all.push_str(between);
        all.push_str(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headers: &[(&str, &str)], query: &[(&str, &str)]) -> Arc<Filters> {
        let (mut own, mut parameters) = (BTreeMap::new(), BTreeMap::new());
        for (name, value) in headers {
            add(&mut own, name, value, ", ");
        }
        for (name, value) in query {
            add(&mut parameters, name, value, ",");
        }
        Filters::new(own, parameters)
    }

    #[test]
    fn only_the_same_values_are_told_as_the_same() {
        let all = [
            of(&[("a", "b")], &[]),
            of(&[], &[("a", "b")]),
            of(&[("a", "c")], &[]),
            of(&[("ab", "")], &[]),
            of(&[("a", "b"), ("c", "d")], &[]),
            of(&[("a", "bc"), ("d", "")], &[]),
        ];
        for (place, one) in all.iter().enumerate() {
            for (other_place, other) in all.iter().enumerate() {
                assert_eq!(one.digest() == other.digest(), place == other_place);
            }
        }
        assert_eq!(of(&[("a", "b"), ("c", "d")], &[]), of(&[("c", "d"), ("a", "b")], &[]));
    }

    #[test]
    fn values_of_one_name_are_one_and_bounded() {
        let filters = of(&[("a", "b"), ("a", ""), ("a", "c")], &[("a", "b"), ("a", "c")]);
        assert_eq!((filters.header("a"), filters.query("a")), (Some("b, c"), Some("b,c")));
        let long = "é".repeat(VALUE);
        let filters = of(&[("a", &long), ("a", "b")], &[]);
        assert!(
            filters
                .header("a")
                .is_some_and(|value| value.len() <= VALUE && value.len() > VALUE - 4)
        );
    }
}
