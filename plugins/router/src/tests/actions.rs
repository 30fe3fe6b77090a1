//! Tools that become a tool for each of their actions.

use plugway_sdk::prelude::{Entry, Target};
use serde_json::{Value, json};

use super::{names, shaped, upstream};
use crate::warning::Warning;

fn server(settings: &str, tools: &[Value]) -> plugway_sdk::prelude::UpstreamView {
    let mut one = upstream("gh", &[]);
    settings.clone_into(&mut one.settings);
    one.tools = tools.iter().map(Value::to_string).collect();
    one
}

const SPLIT: &str = r#"{"split_actions": true}"#;

fn manage(name: &str, action: &Value) -> Value {
    json!({
        "name": name, "title": "Items", "description": "Manages items.",
        "inputSchema": {
            "type": "object",
            "properties": {"action": action, "id": {"type": "integer", "maximum": 1e2}},
            "required": ["action", "id"],
        },
        "_meta": {"kept": 1.0},
    })
}

fn split(tool: &Value) -> Vec<(Value, String)> {
    let (entries, warnings) = shaped(vec![server(SPLIT, std::slice::from_ref(tool))]);
    assert_eq!(warnings, []);
    let of = |entry: Entry| {
        let Target::Bound((upstream, own, arguments)) = entry.target else {
            panic!("not bound: {entry:?}")
        };
        assert_eq!((&*upstream, &*own), ("gh", "manage"));
        (serde_json::from_str(&entry.definition).unwrap(), arguments)
    };
    entries.into_iter().map(of).collect()
}

#[test]
fn every_action_is_a_tool_with_what_it_takes() {
    let tools = split(&manage("manage", &json!({"enum": ["list_items", "delete_item", "add"]})));
    let names: Vec<&str> = tools.iter().map(|(tool, _)| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["gh_list_items", "gh_delete_item", "gh_add"]);
    let bound: Vec<&str> = tools.iter().map(|(_, arguments)| &**arguments).collect();
    assert_eq!(
        bound,
        [r#"{"action":"list_items"}"#, r#"{"action":"delete_item"}"#, r#"{"action":"add"}"#]
    );
    for (tool, _) in &tools {
        let schema = json!({
            "type": "object", "properties": {"id": {"type": "integer", "maximum": 100.0}},
            "required": ["id"],
        });
        assert_eq!(tool["inputSchema"], schema);
        assert_eq!(tool["_meta"], json!({"kept": 1.0}));
        assert!(tool["description"].as_str().unwrap().ends_with("of: Manages items."));
    }
    assert_eq!(tools[0].0["title"], "Items: list_items");
    let notes: Vec<&Value> = tools.iter().map(|(tool, _)| &tool["annotations"]).collect();
    assert_eq!(*notes[0], json!({"readOnlyHint": true, "destructiveHint": false}));
    assert_eq!(*notes[1], json!({"readOnlyHint": false, "destructiveHint": true}));
    assert_eq!(*notes[2], json!({}));
}

#[test]
fn words_promise_no_more_than_the_server() {
    let mut tool =
        manage("manage", &json!({"enum": ["find_and_replace", "list_add", "get", "wipe"]}));
    let notes = |tool: &Value| -> Vec<Value> {
        split(tool).into_iter().map(|(mut part, _)| part["annotations"].take()).collect()
    };
    let read = json!({"readOnlyHint": true, "destructiveHint": false});
    let destroys = json!({"readOnlyHint": false, "destructiveHint": true});
    assert_eq!(notes(&tool), [json!({}), json!({}), read, destroys.clone()]);
    tool["annotations"] = json!({"readOnlyHint": false});
    let said = json!({"readOnlyHint": false});
    assert_eq!(notes(&tool), [said.clone(), said.clone(), said, destroys]);
}

#[test]
fn conditions_are_answered_however_deep_they_stand() {
    let when = |action: &str, then: Value, other: Value| json!({"if": {"properties": {"action": {"const": action}}}, "then": then, "else": other});
    let needs = |name: &str| json!({"required": [name]});
    let mut tool = manage("manage", &json!({"enum": ["a", "b", "c"]}));
    let schema = tool["inputSchema"].as_object_mut().unwrap();
    schema.extend(when("a", needs("x"), needs("y")).as_object().unwrap().clone());
    let chain = when("a", needs("p"), when("b", needs("q"), needs("r")));
    schema.insert("allOf".to_owned(), json!([chain]));
    schema.insert("dependentRequired".to_owned(), json!({"action": ["always"]}));
    let required: Vec<Value> =
        split(&tool).into_iter().map(|(part, _)| part["inputSchema"]["required"].clone()).collect();
    let wanted = [["p", "x"], ["q", "y"], ["r", "y"]]
        .map(|[one, other]| json!(["id", one, other, "always"]));
    assert_eq!(required, wanted);
    for (part, _) in split(&tool) {
        assert!(
            part["inputSchema"].get("if").is_none() && part["inputSchema"].get("else").is_none()
        );
    }
    // More than the action is asked for: the condition stays.
    let both = json!({"if": {"properties": {"action": {"const": "a"}, "id": {"const": 1}}}, "then": needs("z")});
    tool["inputSchema"]["allOf"] = json!([both]);
    assert!(split(&tool)[0].0["inputSchema"]["allOf"][0].get("if").is_some());
}

#[test]
fn a_branch_that_narrows_an_argument_leaves_what_the_rest_says_of_it() {
    let mut tool = manage("manage", &json!({"enum": ["a", "b"]}));
    let narrower = json!({"properties": {"id": {"minimum": 1}}});
    tool["inputSchema"]["allOf"] =
        json!([{"if": {"properties": {"action": {"const": "a"}}}, "then": narrower}]);
    let parts = split(&tool);
    assert_eq!(parts[0].0["inputSchema"]["allOf"], json!([narrower]));
    assert_eq!(parts[0].0["inputSchema"]["properties"]["id"]["type"], "integer");
    assert_eq!(parts[1].0["inputSchema"].get("allOf"), None);
}

#[test]
fn tools_about_ids_of_somebody_stay_whole_and_guarded() {
    let mut one = server(
        SPLIT,
        &[
            json!({"name": "execute_lab_code", "inputSchema": {}}),
            manage("lab_inspect_session", &json!({"enum": ["peek"]})),
        ],
    );
    "lab".clone_into(&mut one.server_name);
    let (entries, warnings) = shaped(vec![one]);
    assert!(matches!(&entries[1].target, Target::Guarded(_)), "{entries:?}");
    assert_eq!(entries.len(), 2);
    assert!(matches!(&warnings[..], [Warning::Whole { .. }]), "{warnings:?}");
}

#[test]
fn numbers_and_order_stay_as_the_server_wrote_them() {
    let tool = r#"{"name":"manage","inputSchema":{"properties":{"action":{"const":"a"},"n":{"maximum":1e2,"minimum":0.10}},"type":"object"},"x":1.00}"#;
    let mut one = server(SPLIT, &[]);
    one.tools = vec![tool.to_owned()];
    let (entries, _) = shaped(vec![one]);
    let expected = r#"{"name":"gh_a","inputSchema":{"properties":{"n":{"maximum":1e2,"minimum":0.10}},"type":"object"},"x":1.00,"description":"The action `a` of: ","annotations":{}}"#;
    assert_eq!(entries[0].definition, expected);
}

#[test]
fn actions_are_found_in_every_form_of_a_list() {
    let about = json!({"oneOf": [
        {"const": "get", "description": "Reads one."}, {"const": "put", "title": "Writes one."},
    ]});
    let tools = split(&manage("manage", &about));
    assert!(tools[0].0["description"].as_str().unwrap().starts_with("Reads one.\n"));
    assert!(tools[1].0["description"].as_str().unwrap().starts_with("Writes one.\n"));
    let optional = json!({"anyOf": [{"enum": ["get", "put"], "type": "string"}, {"type": "null"}], "default": null});
    assert_eq!(split(&manage("manage", &optional)).len(), 2);
    let mut elsewhere = manage("manage", &json!({"$ref": "#/$defs/Action"}));
    elsewhere["inputSchema"]["$defs"] = json!({"Action": {"enum": ["get", "put"]}});
    assert_eq!(split(&elsewhere).len(), 2);
}

#[test]
fn branches_about_other_actions_go() {
    let mut tool = manage("manage", &json!({"enum": ["get", "put"]}));
    tool["inputSchema"]["oneOf"] = json!([
        {"properties": {"action": {"const": "get"}, "fields": {"type": "array"}}, "required": ["action"]},
        {"properties": {"action": {"const": "put"}, "value": {"type": "string"}}, "required": ["action", "value"]},
    ]);
    let tools = split(&tool);
    let get = json!({
        "type": "object",
        "properties": {"id": {"type": "integer", "maximum": 100.0}, "fields": {"type": "array"}},
        "required": ["id"],
    });
    assert_eq!(tools[0].0["inputSchema"], get);
    assert_eq!(tools[1].0["inputSchema"]["required"], json!(["id", "value"]));
    assert_eq!(tools[1].0["inputSchema"]["properties"].get("fields"), None);

    // The same, said with conditions.
    let schema = tool["inputSchema"].as_object_mut().unwrap();
    schema.remove("oneOf");
    schema.insert("allOf".to_owned(), json!([
        {"if": {"properties": {"action": {"const": "put"}}}, "then": {"required": ["value"]}, "else": {"properties": {"fields": {"type": "array"}}}},
        {"properties": {"value": {"type": "string"}}},
    ]));
    let tools = split(&tool);
    assert_eq!(tools[0].0["inputSchema"]["required"], json!(["id"]));
    assert!(tools[0].0["inputSchema"]["properties"].get("fields").is_some());
    assert_eq!(tools[1].0["inputSchema"]["required"], json!(["id", "value"]));
    assert_eq!(tools[1].0["inputSchema"].get("allOf"), None);
}

#[test]
fn a_choice_about_something_else_stays() {
    let mut tool = manage("manage", &json!({"enum": ["get", "put"]}));
    let other = json!([{"required": ["id"]}, {"required": ["name"]}]);
    tool["inputSchema"]["anyOf"] = other.clone();
    for (part, _) in split(&tool) {
        assert_eq!(part["inputSchema"]["anyOf"], other);
    }
}

#[test]
fn an_action_that_a_tool_of_its_own_does_stays_there() {
    let tools = [
        manage("manage", &json!({"enum": ["list", "add"]})),
        json!({"name": "list", "inputSchema": {}}),
    ];
    assert_eq!(names(vec![server(SPLIT, &tools)]), ["gh_add", "gh_list"]);
}

#[test]
fn tools_that_share_an_action_have_their_names_in_between_and_an_alias_stands_before() {
    let tools = [
        manage("issues", &json!({"enum": ["list", "close"]})),
        manage("pulls", &json!({"enum": ["list", "merge"]})),
    ];
    assert_eq!(
        names(vec![server(SPLIT, &tools)]),
        ["gh_issues_list", "gh_close", "gh_pulls_list", "gh_merge"]
    );
    let settings = r#"{"split_actions": true, "prefix": "never", "aliases": {"pulls": "pr"}}"#;
    assert_eq!(
        names(vec![server(settings, &tools)]),
        ["issues_list", "close", "pr_list", "pr_merge"]
    );
}

#[test]
fn what_is_not_listed_or_too_much_stays_whole_and_is_said() {
    let many: Vec<String> = (0..65).map(|number| format!("a{number}")).collect();
    for action in [
        json!({"type": "string"}),
        json!({"enum": many}),
        json!({"enum": ["a", 1]}),
        json!({"enum": ["a", "a"]}),
        json!({"enum": []}),
        json!({"oneOf": [{"const": "a"}, {"type": "string"}]}),
        json!({"$ref": "#/$defs/Nothing"}),
    ] {
        let (entries, warnings) = shaped(vec![server(SPLIT, &[manage("manage", &action)])]);
        assert_eq!(entries.len(), 1);
        assert!(matches!(&entries[0].target, Target::Fixed(_)));
        let (tool, upstream) = ("manage".to_owned(), "gh".to_owned());
        assert_eq!(warnings, [Warning::Whole { tool, upstream }]);
    }
    let mut large = manage("large", &json!({"enum": ["get", "put"]}));
    large["description"] = "x".repeat(crate::actions::BYTES_MAX / 2).into();
    let (entries, warnings) =
        shaped(vec![server(SPLIT, &[large, manage("manage", &json!({"enum": ["a"]}))])]);
    assert_eq!((entries.len(), warnings.len()), (2, 1), "what does not fit stays whole");
    assert!(matches!(&entries[0].target, Target::Fixed(_)));
    assert!(matches!(&entries[1].target, Target::Bound(_)));
}

#[test]
fn without_the_wish_nothing_is_split() {
    let tools = [manage("manage", &json!({"enum": ["list", "add"]}))];
    assert_eq!(names(vec![server("", &tools)]), ["gh_manage"]);
}

#[test]
fn tags_take_tools_away() {
    let tagged = |name: &str, meta: &Value| json!({"name": name, "inputSchema": {}, "_meta": meta});
    let tools = [
        tagged("a", &json!({"fastmcp": {"tags": ["Admin", "x"]}})),
        tagged("b", &json!({"tags": ["split-action"]})),
        tagged("c", &json!({"fastmcp": {"tags": ["other"]}})),
        tagged("d", &json!("none")),
        tagged("e", &json!({"fastmcp": {"tags": ["admin", 5]}})),
        tagged("f", &json!({"fastmcp": {"tags": []}, "tags": ["admin"]})),
    ];
    let settings = r#"{"hide_tags": ["admin", "split_action"]}"#;
    assert_eq!(names(vec![server(settings, &tools)]), ["gh_c", "gh_d"]);
}

#[test]
fn a_tool_that_cannot_be_shown_still_says_what_its_server_is() {
    let hidden = json!({"name": "execute_lab_code", "description": "\u{202e}", "inputSchema": {}});
    let sessions = json!({"name": "lab_list_sessions", "inputSchema": {}});
    let (entries, _) = shaped(vec![server("", &[hidden, sessions])]);
    assert!(matches!(&entries[..], [entry] if matches!(&entry.target, Target::Guarded(_))));
}
