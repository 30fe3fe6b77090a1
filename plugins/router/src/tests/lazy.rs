//! Lazy discovery: what is offered, found and loaded, behind a host that keeps what is loaded or does not.

use plugway_sdk::prelude::*;
use plugway_sdk::testing::{Host, plugin};
use serde_json::{Value, json};

use super::{connector, list, shown, upstream};
use crate::component::DefaultRouter;
use crate::config::Options;
use crate::shape::shape;
use crate::warning::Warning;

fn lazily(upstreams: Vec<UpstreamView>) -> ConnectorView {
    let attributes = vec![("discovery".to_owned(), "lazy".to_owned())];
    ConnectorView { attributes, ..connector(upstreams) }
}

/// A server whose tools have these names and descriptions.
fn server(name: &str, tools: &[(&str, &str)]) -> UpstreamView {
    let define = |(name, description): &(&str, &str)| {
        let schema = json!({"type": "object", "title": "x".repeat(100)});
        json!({"name": name, "description": description, "inputSchema": schema}).to_string()
    };
    UpstreamView { tools: tools.iter().map(define).collect(), ..upstream(name, &[]) }
}

fn both() -> Vec<UpstreamView> {
    let git = server("git", &[("log", "Shows commits."), ("blame", "Shows who wrote a line.")]);
    vec![git, server("mail", &[("send", "Sends a letter."), ("log", "Shows letters.")])]
}

struct Lazy {
    router: DefaultRouter,
    host: Host,
}

impl Lazy {
    fn of(upstreams: Vec<UpstreamView>, hidden: &[&str]) -> Self {
        let router: DefaultRouter = plugin("{}").unwrap();
        let host = Host::new();
        let up: Vec<String> =
            upstreams.iter().filter(|one| one.up).map(|one| one.name.clone()).collect();
        let shaped = host.run(|| router.shape(lazily(upstreams))).unwrap();
        host.document(&shaped.document);
        list(&host, &shaped.entries, &up, hidden);
        Self { router, host }
    }

    fn reply(&self, tool: &str, arguments: Value) -> Reply {
        self.host.call("tools/call", tool).attribute("connector", "hub").arguments(arguments);
        self.host.run(|| self.router.answer()).unwrap()
    }

    fn ask(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.reply(tool, arguments);
        let Reply::Answer(result) = reply else { panic!("refused: {reply:?}") };
        let result: Value = serde_json::from_str(&result).unwrap();
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    fn refusal(&self, tool: &str, arguments: Value) -> String {
        match self.reply(tool, arguments) {
            Reply::Reject(rejection) => rejection.message,
            Reply::Answer(answer) => panic!("answered: {answer}"),
        }
    }
}

fn names(found: &Value) -> Vec<&str> {
    found["items"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn the_tools_are_there_only_where_discovery_is_lazy_and_their_names_are_taken() {
    let own = ["find_tools", "load_tools", "unload_tools", "call_tool"];
    let mut plain = upstream("a", &["find_tools", "x"]);
    plain.settings = r#"{"prefix":"never"}"#.to_owned();
    let (shaped, warnings) = shape(lazily(vec![plain.clone()]), &Options::default()).unwrap();
    let listed: Vec<String> = shaped.entries.iter().map(shown).collect();
    assert_eq!(listed, ["x", "find_tools", "load_tools", "unload_tools", "call_tool"]);
    let Some(Warning::Clash { name, winner, .. }) = warnings.first() else {
        panic!("{warnings:?}")
    };
    assert_eq!((name.as_str(), winner.as_str()), ("find_tools", "a tool of hub itself"));
    for entry in shaped.entries.iter().filter(|entry| own.contains(&&*shown(entry))) {
        let definition: Value = serde_json::from_str(&entry.definition).unwrap();
        assert_eq!(definition["inputSchema"]["additionalProperties"], false);
        assert!(matches!(entry.target, Target::Local));
    }
    let (shaped, warnings) = shape(connector(vec![plain]), &Options::default()).unwrap();
    assert!(warnings.is_empty() && shaped.document.is_empty(), "nothing of it where it is eager");
    assert_eq!(shaped.entries.iter().map(shown).collect::<Vec<_>>(), ["find_tools", "x"]);
}

#[test]
fn tools_are_found_by_words_by_servers_and_page_by_page() {
    let lazy = Lazy::of(both(), &["mail_send"]);
    let find = |arguments| lazy.ask("find_tools", arguments);
    let found = find(json!({"query": "who wrote this line"}));
    assert_eq!(names(&found), ["git_blame", "git_log", "mail_log"][..1]);
    let item = &found["items"][0];
    assert_eq!((&item["kind"], &item["server"]), (&json!("tool"), &json!("git")));
    assert!(item["score"].as_f64().unwrap() > 0.0 && item["input_schema"]["type"] == "object");
    assert!(item.get("loaded").is_none(), "nothing is kept: {item}");
    assert_eq!(names(&find(json!({"query": "log"}))), ["git_log", "mail_log"]);
    assert_eq!(names(&find(json!({"query": "log", "servers": ["git"]}))), ["git_log"]);
    assert_eq!(names(&find(json!({"servers": ["mail", "nobody"]}))), ["mail_log"]);

    let (mut all, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = find(json!({"browse": true, "limit": 1, "cursor": cursor}));
        assert_eq!(names(&page).len(), 1);
        all.push(names(&page)[0].to_owned());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(all, ["git_log", "git_blame", "mail_log"], "what is hidden is not found");
    let nothing = find(json!({"query": "zzz"}));
    assert!(nothing["hint"].as_str().unwrap().contains("'zzz'"));
}

#[test]
fn a_small_budget_keeps_names_before_schemas_and_the_best_before_others() {
    let tools: Vec<(String, &str)> = (0..50).map(|n| (format!("t{n:02}"), "Does it.")).collect();
    let tools: Vec<(&str, &str)> =
        tools.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let lazy = Lazy::of(vec![server("a", &tools)], &[]);
    let page = |arguments| lazy.ask("find_tools", arguments);
    let (mut seen, mut cursor) = (0, Value::Null);
    loop {
        let page = page(json!({"browse": true, "context_budget_tokens": 256, "cursor": cursor}));
        let items = page["items"].as_array().unwrap();
        assert!(page.to_string().len() < 1_024 + 128 && !items.is_empty(), "{page}");
        seen += items.len();
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, 50);
    let page = page(json!({"browse": true, "limit": 6, "context_budget_tokens": 256}));
    let has: Vec<bool> = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.get("input_schema").is_some())
        .collect();
    assert!(has[0] && !has[5] && has.is_sorted_by(|a, b| a >= b), "{has:?}");
}

#[test]
fn questions_that_mean_nothing_are_refused() {
    let lazy = Lazy::of(both(), &[]);
    for (arguments, says) in [
        (json!({}), "Give a `query`, `servers`, or `browse`: true."),
        (json!({"query": " "}), "Give a `query`"),
        (json!({"query": "x".repeat(4_097)}), "longer than 4096 bytes"),
        (json!({"browse": true, "cursor": "x".repeat(1_025)}), "longer than 1024 bytes"),
        (json!({"browse": true, "cursor": "gone"}), "begin again without it"),
        (json!({"browse": true, "limit": 0}), "from 1 to 100"),
        (json!({"browse": true, "limit": 101}), "from 1 to 100"),
        (json!({"browse": true, "context_budget_tokens": 255}), "from 256 to 1000000"),
        (json!({"kinds": ["skill"]}), "unknown field `kinds`"),
    ] {
        let refusal = lazy.refusal("find_tools", arguments);
        assert!(refusal.contains(says), "{refusal}");
    }
    for (tool, arguments, says) in [
        ("load_tools", json!({"items": []}), "from 1 to 256 names"),
        ("load_tools", json!({"items": vec!["x"; 257]}), "from 1 to 256 names"),
        ("load_tools", json!({"items": ["git_log", "nobody"]}), "No tool \"nobody\""),
        ("load_tools", json!({"items": ["x"], "evict": "all"}), "unknown variant `all`"),
        ("unload_tools", json!({}), "Give `items`, `servers`, or `all_items`: true."),
    ] {
        let refusal = lazy.refusal(tool, arguments);
        assert!(refusal.contains(says), "{refusal}");
    }
    assert!(lazy.host.loaded().is_empty());
}

#[test]
fn a_session_loads_and_unloads() {
    let lazy = Lazy::of(both(), &["mail_send"]);
    lazy.host.keeps_loaded(2);
    let loaded = lazy.ask("load_tools", json!({"items": ["git_log", "mail_log", "git_log"]}));
    assert_eq!(loaded["loaded"], json!(["git_log", "mail_log"]));
    assert_eq!((&loaded["session_total"], &loaded["session_cap"]), (&json!(2), &json!(2)));
    let item = &loaded["items"][0];
    assert_eq!(
        (&item["callable_as"], &item["description"]),
        (&json!("git_log"), &json!("Shows commits."))
    );
    assert_eq!(item["input_schema"]["type"], "object");
    assert_eq!(
        item["fallback"],
        json!({"tool": "call_tool", "arguments": {"name": "git_log", "arguments": {}}})
    );
    let found = lazy.ask("find_tools", json!({"servers": ["git"]}));
    let marks: Vec<&Value> =
        found["items"].as_array().unwrap().iter().map(|one| &one["loaded"]).collect();
    assert_eq!(marks, [&json!(true), &json!(false)]);
    assert!(lazy.refusal("load_tools", json!({"items": ["git_blame"]})).contains("no room"));
    let loaded = lazy.ask("load_tools", json!({"items": ["git_blame"], "evict": "lru"}));
    assert_eq!(
        (&loaded["loaded"], &loaded["evicted"]),
        (&json!(["git_blame"]), &json!(["git_log"]))
    );
    assert!(lazy.refusal("load_tools", json!({"items": ["mail_send"]})).contains("No tool"));

    let gone = lazy.ask("unload_tools", json!({"servers": ["mail"], "items": ["unknown"]}));
    assert_eq!(gone, json!({"unloaded": ["mail_log"], "session_total": 1}));
    let gone = lazy.ask("unload_tools", json!({"all_items": true}));
    assert_eq!(gone, json!({"unloaded": ["git_blame"], "session_total": 0}));
}

#[test]
fn nothing_is_kept_where_there_is_no_session() {
    let lazy = Lazy::of(both(), &[]);
    let loaded = lazy.ask("load_tools", json!({"items": ["git_log"]}));
    assert_eq!(
        (&loaded["loaded"], &loaded["items"][0]["callable_as"]),
        (&json!([]), &json!("call_tool"))
    );
    assert!(loaded.get("session_total").is_none());
    assert_eq!(lazy.ask("unload_tools", json!({"all_items": true})), json!({"unloaded": []}));
}

#[test]
fn every_tool_of_a_server_that_runs_code_is_found_once() {
    let mut chem = upstream("chem", &["execute_chem_code", "load_chem_skill", "chem_check_job"]);
    let function = |name: &str| json!({"name": name, "description": "Parses molecules."});
    let skill = json!({"name": "screening", "description": "Screens."});
    let catalogue = json!({"tools": [function("parse"), function("compute")], "skills": [skill]});
    chem.documents = vec![("catalog".to_owned(), catalogue.to_string())];
    let lazy = Lazy::of(vec![chem], &[]);
    let all = lazy.ask("find_tools", json!({"browse": true}));
    assert_eq!(names(&all), ["execute_chem_code", "load_chem_skill", "chem_check_job"]);
    // What its functions do leads to the tool that runs them.
    assert_eq!(
        names(&lazy.ask("find_tools", json!({"query": "molecules"}))),
        ["execute_chem_code"]
    );
}

#[test]
fn tools_of_a_server_that_is_away_are_marked_and_not_loaded() {
    let mut git = server("git", &[("log", "Shows commits.")]);
    git.up = false;
    let lazy = Lazy::of(vec![git], &[]);
    let live =
        json!({"servers": [{"name": "git", "listed": false, "tools": ["git_log"]}]}).to_string();
    lazy.host.call("tools/call", "find_tools").attribute("connector-status", &live);
    lazy.host.arguments(json!({"query": "commits"}));
    let reply = lazy.host.run(|| lazy.router.answer()).unwrap();
    let Reply::Answer(result) = reply else { panic!("{reply:?}") };
    assert!(
        result.contains(r#"\"available\":false"#) && result.contains("Shows commits."),
        "{result}"
    );
    assert!(lazy.refusal("load_tools", json!({"items": ["git_log"]})).contains("No tool"));
}

#[test]
fn a_page_ends_where_enough_was_read() {
    let mut heavy = upstream("heavy", &[]);
    heavy.tools = (0..20)
        .map(|place| {
            let schema = json!({"x": "y".repeat(300_000)});
            json!({"name": format!("t{place}"), "inputSchema": schema}).to_string()
        })
        .collect();
    let lazy = Lazy::of(vec![heavy], &[]);
    let (mut all, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let page = lazy.ask("find_tools", json!({"browse": true, "limit": 100, "cursor": cursor}));
        assert!((1..=4).contains(&names(&page).len()), "{}", names(&page).len());
        all.extend(names(&page).iter().map(|name| (*name).to_owned()));
        pages += 1;
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((all.len(), pages), (20, 5));
}

#[test]
fn each_part_of_a_split_tool_is_found_by_itself() {
    let mut gh = upstream("gh", &[]);
    gh.settings = r#"{"split_actions": true}"#.to_owned();
    let schema = json!({"type": "object", "properties": {"action": {"enum": ["read", "erase"]}}});
    gh.tools = vec![json!({"name": "items", "inputSchema": schema}).to_string()];
    let browse = |hidden: &[&str]| {
        let found = Lazy::of(vec![gh.clone()], hidden).ask("find_tools", json!({"browse": true}));
        names(&found).iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(browse(&[]), ["gh_read", "gh_erase"]);
    assert_eq!(browse(&["gh_read"]), ["gh_erase"], "a part that is seen is not hidden by another");
    assert_eq!(browse(&["gh_erase"]), ["gh_read"]);
}

#[test]
fn names_that_are_too_long_are_said_again_in_short() {
    let lazy = Lazy::of(both(), &[]);
    let long = "x".repeat(100_000);
    assert!(lazy.refusal("load_tools", json!({"items": [long]})).len() < 1_024);
}
