//! What plugway says it honours: its own lists, and what each server said.

use bytes::Bytes;
use serde_json::Value;

use super::filter::{Filter, LIST_KEYS, URIS};
use super::part::Honoured;
use crate::protocol::{Id, Method, scan, subscription};

/// `notifications/subscriptions/acknowledged` for the listen request of this id.
pub(super) fn acknowledged(id: &Id, filter: &Filter, servers: &[Honoured]) -> Bytes {
    let lists = LIST_KEYS.iter().zip(filter.lists).filter(|(_, wanted)| *wanted);
    let mut members: Vec<String> = lists.map(|(key, _)| format!("\"{key}\":true")).collect();
    let told = |uri: &&String| servers.iter().any(|server| server.uris.contains(uri));
    let uris: Vec<&str> = filter.uris.iter().filter(told).map(String::as_str).collect();
    if !uris.is_empty() {
        members.push(format!("\"{URIS}\":{}", Value::from(uris)));
    }
    for (name, _) in &filter.extensions {
        let all = servers.iter().flat_map(|server| &server.extensions);
        let values: Vec<&str> =
            all.filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect();
        if let Some(value) = merged(&values) {
            members.push(format!("{}:{value}", Value::from(name.as_str())));
        }
    }
    let (method, tag) = (Method::Acknowledged.as_str(), subscription::member(id));
    format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{{{tag}}},"notifications":{{{}}}}}}}"#,
        members.join(",")
    )
    .into()
}

/// What several servers honour of one wish: all items of arrays, each once; of anything else what the first one says.
fn merged(values: &[&str]) -> Option<String> {
    let first = values.first()?;
    if scan::items(first).is_none() {
        return Some((*first).to_owned());
    }
    let mut items: Vec<&str> = Vec::new();
    for array in values {
        for span in scan::items(array).unwrap_or_default() {
            let item = array.get(span.range()).unwrap_or_default();
            if !items.contains(&item) {
                items.push(item);
            }
        }
    }
    Some(format!("[{}]", items.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_honoured_is_what_was_asked_for_and_somebody_tells_of() {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let filter = Filter {
            lists: [true, false, true],
            uris: own(&["b", "a", "nobody's"]),
            extensions: vec![pair("taskIds", "[]"), pair("x", "1.0"), pair("unheard-of", "1")],
        };
        let servers = [
            Honoured {
                uris: own(&["a", "never asked for"]),
                extensions: vec![pair("taskIds", r#"["1", "2"]"#), pair("x", "1.0")],
            },
            Honoured { uris: own(&["b"]), extensions: vec![pair("taskIds", r#"["2","3"]"#)] },
        ];
        assert_eq!(
            acknowledged(&Id::parse("\"i\"").unwrap(), &filter, &servers),
            concat!(
                r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":"#,
                r#"{"io.modelcontextprotocol/subscriptionId":"i"},"notifications":{"toolsListChanged":true,"#,
                r#""resourcesListChanged":true,"resourceSubscriptions":["b","a"],"taskIds":["1","2","3"],"x":1.0}}}"#
            )
        );
    }
}
