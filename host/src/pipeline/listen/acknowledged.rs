//! What plugway says it honours: its own lists, and what each server said.

use bytes::Bytes;
use serde_json::Value;

use super::filter::{Filter, LIST_KEYS, TASKS, URIS};
use super::part::Honoured;
use crate::protocol::{Id, Method, scan, subscription};

/// `notifications/subscriptions/acknowledged` for the listen request of this id.
pub(super) fn acknowledged(id: &Id, filter: &Filter, servers: &[Honoured]) -> Bytes {
    let lists = LIST_KEYS.iter().zip(filter.lists).filter(|(_, wanted)| *wanted);
    let mut members: Vec<String> = lists.map(|(key, _)| format!("\"{key}\":true")).collect();
    let mut named = |key: &str, wanted: &[String], told: fn(&Honoured) -> &Vec<String>| {
        let is_told = |name: &&String| servers.iter().any(|server| told(server).contains(name));
        let names: Vec<&str> = wanted.iter().filter(is_told).map(String::as_str).collect();
        if !names.is_empty() {
            members.push(format!("\"{key}\":{}", Value::from(names)));
        }
    };
    named(URIS, &filter.uris, |server| &server.uris);
    named(TASKS, &filter.tasks, |server| &server.tasks);
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
            tasks: own(&["a.2", "nobody's", "b.1", "a.1"]),
            extensions: vec![pair("y", "[]"), pair("x", "1.0"), pair("unheard-of", "1")],
        };
        let servers = [
            Honoured {
                uris: own(&["a", "never asked for"]),
                tasks: own(&["a.1", "a.2"]),
                extensions: vec![pair("y", r#"["1", "2"]"#), pair("x", "1.0")],
            },
            Honoured {
                uris: own(&["b"]),
                tasks: own(&["b.1"]),
                extensions: vec![pair("y", r#"["2","3"]"#)],
            },
        ];
        assert_eq!(
            acknowledged(&Id::parse("\"i\"").unwrap(), &filter, &servers),
            concat!(
                r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":"#,
                r#"{"io.modelcontextprotocol/subscriptionId":"i"},"notifications":{"toolsListChanged":true,"#,
                r#""resourcesListChanged":true,"resourceSubscriptions":["b","a"],"taskIds":["a.2","b.1","a.1"],"#,
                r#""y":["1","2","3"],"x":1.0}}}"#
            )
        );
    }
}
