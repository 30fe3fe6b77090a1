//! The status tool and resource.

use plugway_sdk::prelude::*;
use plugway_sdk::testing::{Host, plugin};
use serde_json::Value;

use super::{connector, shown, upstream};
use crate::component::DefaultRouter;
use crate::config::Options;
use crate::shape::shape;
use crate::status;
use crate::warning::Warning;

fn plain(connector: ConnectorView) -> Result<(Shaped, Vec<Warning>), Failure> {
    shape(connector, &Options::default())
}

fn wanted(name: &str, upstreams: Vec<UpstreamView>) -> ConnectorView {
    let attributes = vec![("status".to_owned(), "true".to_owned())];
    ConnectorView { name: name.to_owned(), attributes, ..connector(upstreams) }
}

#[test]
fn it_stands_behind_the_servers_entries_where_it_is_wanted() {
    let (shaped, warnings) = plain(wanted("hub", vec![upstream("a", &["x"])])).unwrap();
    let names: Vec<String> = shaped.entries.iter().map(shown).collect();
    assert_eq!(names, ["a_x", "hub_status", "plugway://hub/status"]);
    assert!(shaped.entries.iter().skip(1).all(|entry| matches!(entry.target, Target::Local)));
    assert!(warnings.is_empty());
    let mut unwanted = wanted("hub", Vec::new());
    unwanted.attributes = vec![("status".to_owned(), "false".to_owned())];
    assert!(plain(unwanted).unwrap().0.entries.is_empty());
    assert!(plain(connector(Vec::new())).unwrap().0.entries.is_empty());
}

#[test]
fn its_name_is_taken_whoever_comes_and_goes() {
    let (shaped, warnings) = plain(wanted("a", vec![upstream("a", &["status", "x"])])).unwrap();
    let names: Vec<String> = shaped.entries.iter().map(shown).collect();
    assert_eq!(names, ["a_x", "a_status", "plugway://a/status"]);
    let [warning @ Warning::Clash { .. }] = warnings.as_slice() else { panic!("{warnings:?}") };
    let text = warning.to_string();
    assert!(
        text.starts_with("the tool a_status of a is left out: the status of a comes"),
        "{text}"
    );
}

#[test]
fn the_name_follows_the_rules_of_names() {
    assert_eq!(status::tool_name("my-hub"), "my-hub_status");
    let odd = status::tool_name(&"a.b".repeat(40));
    assert!(odd.len() == 64 && odd.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
}

#[test]
fn it_answers_with_what_the_host_knows() {
    let router: DefaultRouter = plugin("{}").unwrap();
    let host = Host::new();
    let live = r#"{"connector":"hub","servers":[{"name":"a \"b\""}]}"#;
    let ask = |method: &str, name: &str, era: &str| -> Value {
        host.call(method, name).attribute("connector-status", live).attribute("era", era);
        let Ok(Reply::Answer(text)) = host.run(|| router.answer()) else { panic!("no answer") };
        serde_json::from_str(&text).unwrap()
    };
    for (era, kind) in [("legacy", Value::Null), ("modern", "complete".into())] {
        let called = ask("tools/call", "hub_status", era);
        assert_eq!(called["content"][0]["text"], live);
        assert_eq!(called["structuredContent"]["servers"][0]["name"], "a \"b\"");
        assert_eq!(called["resultType"], kind);
        let read = ask("resources/read", "plugway://hub/status", era);
        assert_eq!(read["contents"][0]["text"], live);
        assert_eq!(read["contents"][0]["uri"], "plugway://hub/status");
        assert_eq!(read["resultType"], kind);
    }
    host.call("tools/call", "hub_status");
    assert!(host.run(|| router.answer()).is_err(), "a host without the data");
}
