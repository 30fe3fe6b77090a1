use plugway_sdk::plugin::Plugin as _;
use plugway_sdk::prelude::Info;
use plugway_sdk::testing::plugin;
use serde_json::json;

use super::wrong;
use crate::gateway::Gateway;

#[test]
fn nothing_at_all_is_a_gateway_that_lets_everything_pass() {
    assert!(plugin::<Gateway>("").is_ok());
    assert!(plugin::<Gateway>("{}").is_ok());
}

#[test]
fn what_is_wrong_is_named() {
    for (config, path) in [
        (json!({"max_call_per_minute": 60}), "max_call_per_minute"),
        (json!({"max_calls_per_minute": 0}), "max_calls_per_minute"),
        (json!({"max_calls_per_minute": "many"}), "max_calls_per_minute"),
        (json!({"blocked_tools": "send"}), "blocked_tools"),
        (json!({"blocked_tools": ["a", ""]}), "blocked_tools[1]"),
        (json!({"allowed_prompts": [""]}), "allowed_prompts[0]"),
        (json!({"limits": [{"calls_per_minute": 1}, {"burst": 1}]}), "limits[1]"),
        (json!({"limits": [{"calls_per_minute": 1, "per": "day"}]}), "limits[0].per"),
        (json!({"limits": [{"calls_per_minute": 1, "burst": 0}]}), "limits[0].burst"),
        (json!({"limits": [{"calls_per_minute": 1, "tools": []}]}), "limits[0].tools"),
        (json!({"limits": [{"calls_per_minute": 1, "tool": "a"}]}), "limits[0].tool"),
        (json!({"limits": vec![json!({"calls_per_minute": 1}); 15]}), "limits"),
        (json!({"confirm": "always"}), "confirm"),
        (json!({"confirm": true}), "confirm"),
        (json!({"not_destructive": ["a"]}), "not_destructive"),
        (json!({"rules": [{"do": "maybe"}]}), "rules[0].do"),
        (json!({"mode": "sleep"}), "mode"),
        (json!({"rules": [{"when": {"kind": "template"}, "do": "deny"}]}), "rules[0].when.kind"),
    ] {
        assert_eq!(wrong(config.clone()), path, "{config}");
    }
}

#[test]
fn an_unknown_key_is_told_which_there_are() {
    let error = plugin::<Gateway>(r#"{"block_tools": []}"#).unwrap_err().to_string();
    assert!(error.contains("blocked_tools") && error.contains("rules"), "{error}");
}

#[test]
fn off_is_off_however_yaml_reads_it() {
    for off in [json!("off"), json!(false)] {
        assert!(plugin::<Gateway>(&json!({"confirm": off}).to_string()).is_ok());
    }
}

#[test]
fn the_schema_is_json_and_names_every_key() {
    let nothing = Info {
        name: String::new(),
        version: String::new(),
        description: String::new(),
        config_schema: String::new(),
    };
    let schema = Gateway::describe(nothing).config_schema;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let known = schema["properties"].as_object().unwrap();
    for key in ["max_calls_per_minute", "limits", "allowed_tools", "confirm", "rules", "mode"] {
        assert!(known.contains_key(key), "{key}");
    }
    assert_eq!(known.len(), 13);
}
