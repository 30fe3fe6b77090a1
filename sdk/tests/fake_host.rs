//! Plugins meet the same host natively as on wasm: every import, asked once.

use plugway_sdk::host::{log::Level, transfers};
use plugway_sdk::prelude::*;
use plugway_sdk::testing::{Caller, Host};
use serde_json::{Value, json};

#[test]
fn the_call() {
    let host = Host::new();
    host.call("tools/call", "read")
        .arguments(json!({"path": "/a", "n": [1, 2]}))
        .target("files", "cat");
    host.session("s").header("X-Team", "red").hint("readOnlyHint", true).attribute("era", "modern");
    host.attempt(1, Some("first"), Some(250));
    host.run(|| {
        assert_eq!((call::method(), call::name()), ("tools/call".into(), "read".into()));
        assert_eq!(call::target(), Some(("files".into(), "cat".into())));
        assert_eq!(call::argument::<String>("/path"), Ok(Some("/a".into())));
        assert_eq!(call::argument::<u32>("/n/1"), Ok(Some(2)));
        assert_eq!(call::argument::<u32>("/none"), Ok(None));
        assert!(
            call::argument::<u32>("/path").unwrap_err().message.starts_with("argument /path: ")
        );
        assert_eq!(call::argument_json("/n").as_deref(), Some("[1,2]"));
        assert_eq!(call::arguments::<Value>(), Ok(json!({"path": "/a", "n": [1, 2]})));
        assert_eq!(call::arguments_len() as usize, call::arguments_json().len());
        assert_eq!(
            (call::header("x-team").as_deref(), call::header("x-other")),
            (Some("red"), None)
        );
        assert_eq!((call::hint("readOnlyHint"), call::hint("openWorldHint")), (Some(true), None));
        assert_eq!(call::attribute("era").as_deref(), Some("modern"));
        assert_eq!(
            (call::session().as_deref(), call::direction()),
            (Some("s"), call::Way::FromClient)
        );
        assert_eq!(
            (call::attempt(), call::retry_of(), call::deadline_ms()),
            (1, Some("first".into()), Some(250))
        );
    });
    host.call("elicitation/create", "").from_upstream();
    assert_eq!(host.run(call::direction), call::Way::FromUpstream);
    assert_eq!(host.run(call::arguments_json), "{}");
}

#[test]
fn the_caller() {
    let host = Host::new();
    host.as_caller(Caller { id: "1".into(), tenant: Some("t".into()), ..Caller::default() });
    host.scope("files.read").claim("groups", json!(["a"]));
    host.run(|| {
        assert_eq!(
            (caller::id(), caller::tenant(), caller::client()),
            ("1".into(), Some("t".into()), None)
        );
        assert!(
            caller::has_scope("files.read") && !caller::has_scope("files") && !caller::anonymous()
        );
        assert_eq!(caller::claim::<Vec<String>>("groups"), Ok(Some(vec!["a".to_owned()])));
        assert_eq!(caller::claim::<bool>("missing"), Ok(None));
        assert!(caller::claim::<bool>("groups").is_err());
    });
}

#[test]
fn answers_catalogue_and_workers() {
    let host = Host::new();
    host.gathered(vec![(4, json!({"isError": true})), (5, json!({"content": []}))]);
    host.document("doc").entry("tool", "read", &json!({"name": "read"}));
    host.detail(0, "digest", "ab").worker(4, "w4", &[("zone", "a")]);
    host.run(|| {
        assert_eq!((outcome::count(), outcome::worker(1), outcome::worker(2)), (2, Some(5), None));
        assert!(outcome::is_error(0) && !outcome::is_error(1) && outcome::dispatched(0));
        assert_eq!(outcome::field::<bool>(0, "/isError"), Ok(Some(true)));
        assert_eq!(outcome::body_len(1), 14);
        assert_eq!((catalogue::document(), catalogue::generation()), ("doc".into(), 1));
        assert_eq!(catalogue::entries().collect::<Vec<_>>(), [r#"{"name":"read"}"#]);
        assert_eq!(
            (catalogue::find("tool", "read"), catalogue::find("prompt", "read")),
            (Some(0), None)
        );
        assert_eq!((listing::digest(0), listing::attribute(0, "x")), ("ab".into(), None));
        assert_eq!((workers::name(4).as_deref(), workers::find("w4")), (Some("w4"), Some(4)));
        assert_eq!(workers::label(4, "zone").as_deref(), Some("a"));
    });
    host.failed("connect");
    assert!(!host.run(|| outcome::dispatched(0)));
}

#[test]
fn services() {
    let host = Host::new();
    host.random(7).advance(1_500);
    host.run(|| {
        assert_eq!((random::next(), random::next()), (7, 8));
        assert!((clock::monotonic_us() - 1_500_000.0).abs() < 1.0);
        assert_eq!((state::next(0), state::next(0)), (0, 1));
        assert!(state::set("k", "v", None) && !state::compare_and_set("k", None, "w", None));
        assert_eq!(state::take("w", 1, 1, 500), Ok(()));
        assert_eq!(state::take("w", 1, 1, 500), Err(500));
        log::log(Level::Warn, "careful", &[("key", "value")]);
    });
    host.advance(500);
    assert_eq!(host.run(|| state::take("w", 1, 1, 500)), Ok(()));
    assert_eq!(host.stored("k").as_deref(), Some("v"));
    assert_eq!(host.logs()[0].fields, [("key".to_owned(), "value".to_owned())]);
}

#[test]
fn capabilities_need_a_grant() {
    let host = Host::new();
    host.run(|| {
        assert!(fetch::send(&fetch::Outgoing::get("https://x")).is_err());
        assert!(upstreams::request("u", "ping", "{}").is_err());
        assert!(transfers::send("r", "to", "").is_err());
        assert!(reveal::load(&["read".to_owned()], false, false).is_err());
        assert_eq!(reveal::loaded(), None);
    });
    host.on_request(|upstream, method, params| Ok(json!([upstream, method, params]).to_string()));
    host.on_send(|data, to, _name| Ok(format!("{data} to {to}")));
    host.on_fetch(|request| {
        Ok(fetch::Incoming { status: 200, headers: vec![], body: request.url.clone().into() })
    });
    host.entry("tool", "read", &json!({})).entry("tool", "write", &json!({})).keeps_loaded(1);
    host.run(|| {
        let called: Value = upstreams::call_tool("u", "read", &json!({"a": 1})).unwrap();
        assert_eq!(called[1], "tools/call");
        assert_eq!(transfers::send("r", "shelf", "").as_deref(), Ok("r to shelf"));
        assert_eq!(fetch::send(&fetch::Outgoing::get("https://x")).unwrap().body, b"https://x");
        let load = |name: &str, evict: bool| {
            let change = reveal::load(&[name.to_owned()], false, evict)?;
            Ok::<_, String>((change.loaded, change.unloaded, change.total, change.cap))
        };
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert!(load("unknown", false).is_err());
        assert_eq!(load("write", false), Ok((names(&["write"]), names(&[]), 1, 1)));
        assert_eq!(load("write", false), Ok((names(&[]), names(&[]), 1, 1)));
        assert!(load("read", false).is_err_and(|full| full.contains("write")));
        assert_eq!(load("read", true), Ok((names(&["read"]), names(&["write"]), 1, 1)));
        assert_eq!(reveal::loaded(), Some(names(&["read"])));
        announce::content_changed();
        announce::resource_updated("file:///a");
    });
    assert_eq!(host.loaded(), ["read"]);
    let change = host.run(|| reveal::unload(&["read".to_owned()]));
    assert_eq!((change.unloaded.len(), change.total), (1, 0));
    assert_eq!(host.announced(), ["content-changed", "file:///a"]);
}

#[test]
fn hosts_do_not_mix() {
    let (outer, inner) = (Host::new(), Host::new());
    outer.call("tools/call", "outer");
    inner.call("tools/call", "inner");
    outer.run(|| {
        assert_eq!(inner.run(call::name), "inner");
        assert_eq!(call::name(), "outer");
    });
    assert_eq!(call::name(), "");
}
