use plugway_sdk::testing::{Host, plugin};

use super::*;

fn server(name: &str) -> UpstreamView {
    UpstreamView {
        name: name.to_owned(),
        server_name: name.to_owned(),
        up: true,
        tools: vec![r#"{"name":"echo"}"#.to_owned(), r#"{"title":"nameless"}"#.to_owned()],
        prompts: Vec::new(),
        resources: Vec::new(),
        templates: Vec::new(),
        documents: Vec::new(),
        settings: String::new(),
    }
}

fn shaped() -> Shaped {
    let router: NamesAndAsks = plugin("{}").unwrap();
    let upstreams = vec![server("north"), server("south")];
    let (name, description) = ("hub".to_owned(), String::new());
    router.shape(ConnectorView { name, description, upstreams, attributes: Vec::new() }).unwrap()
}

#[test]
fn servers_stand_before_their_tools() {
    let shaped = shaped();
    let names: Vec<Value> = shaped
        .entries
        .iter()
        .map(|entry| serde_json::from_str::<Value>(&entry.definition).unwrap()["name"].take())
        .collect();
    assert_eq!(names, ["list_servers", "ask_servers", "north__echo", "south__echo"]);
    assert_eq!(shaped.document, r#"["north","south"]"#);
}

#[test]
fn what_is_no_question_is_refused() {
    let router: NamesAndAsks = plugin("{}").unwrap();
    let host = Host::new();
    let many: Vec<String> = (0..=SERVERS_MAX).map(|number| number.to_string()).collect();
    for arguments in [json!({"tool": 1}), json!({"tool": "echo", "servers": many})] {
        host.call("tools/call", "ask_servers").arguments(arguments);
        let Ok(Reply::Reject(_)) = host.run(|| router.answer()) else { panic!("answered") };
    }
}
