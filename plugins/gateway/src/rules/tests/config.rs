//! What is wrong is named by its path.

use plugway_sdk::serde_json::{Value, json};

use super::checked;

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "tables are written with values")]
fn wrong(config: Value, path: &str, sentence: &str) {
    let (found, said) = checked(config.clone()).expect_err(&config.to_string());
    assert_eq!(found, path, "{config}: {said}");
    assert!(said.contains(sentence), "{config}: {said}");
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "tables are written with values")]
fn wrong_when(when: Value, path: &str, sentence: &str) {
    let path = format!("rules[0].when{path}");
    wrong(json!({"rules": [{"when": when, "do": "deny"}]}), &path, sentence);
}

#[test]
fn rules() {
    wrong(json!({"rules": 1}), "rules", "must be a list");
    wrong(json!({"rules": [1]}), "rules[0]", "must be an object");
    wrong(json!({"rules": [{}]}), "rules[0].do", "needed");
    wrong(json!({"rules": [{"do": "drop"}]}), "rules[0].do", "one of allow, deny, confirm, limit");
    wrong(json!({"rules": [{"do": "deny", "if": {}}]}), "rules[0].if", "no such key");
    wrong(json!({"rules": [{"do": "deny", "reason": ""}]}), "rules[0].reason", "empty");
    wrong(json!({"rules": [{"do": "limit"}]}), "rules[0].limit", "needed");
    wrong(json!({"rules": [{"do": "deny", "limit": {}}]}), "rules[0].limit", "do: limit");
    let limit = |limit: Value| json!({"rules": [{"do": "limit", "limit": limit}]});
    wrong(limit(json!({})), "rules[0].limit.per_minute", "needed");
    wrong(limit(json!({"per_minute": 0})), "rules[0].limit.per_minute", "at least 1");
    wrong(limit(json!({"per_minute": 1, "burst": 1.5})), "rules[0].limit.burst", "whole number");
    wrong(limit(json!({"per_minute": 1, "per": "day"})), "rules[0].limit.per", "caller_tool");
    wrong(json!({"default": "ask"}), "default", "allow, deny");
    wrong(json!({"mode": true}), "mode", "enforce, observe");
    let twice = json!({"name": "a", "do": "deny"});
    wrong(json!({"rules": [twice, twice]}), "rules[1].name", "another rule");
    let many: Vec<Value> = (0..257).map(|_| json!({"do": "deny"})).collect();
    wrong(json!({"rules": many}), "rules", "at most 256");
}

#[test]
fn conditions() {
    wrong_when(json!([]), "", "must be an object");
    wrong_when(json!({"scopes": "a"}), ".scopes", "no such key");
    wrong_when(json!({"scope": []}), ".scope", "matches nothing");
    wrong_when(json!({"scope": ["a", 1]}), ".scope[1]", "must be a text");
    wrong_when(json!({"tool": "a".repeat(1_025)}), ".tool", "at most 1024 bytes");
    wrong_when(json!({"kind": "function"}), ".kind", "one of tool");
    wrong_when(json!({"hint": {"readonly": true}}), ".hint.readonly", "no such key");
    wrong_when(json!({"hint": {"readOnlyHint": 1}}), ".hint.readOnlyHint", "unknown");
    wrong_when(json!({"hint": {}}), ".hint", "at least one");
    wrong_when(json!({"not": {"x": 1}}), ".not.x", "no such key");
    wrong_when(json!({"all": [{}, {"tool": 1}]}), ".all[1].tool", "must be a text");
    let mut deep = json!({});
    for _ in 0..9 {
        deep = json!({"not": deep});
    }
    wrong_when(deep, &".not".repeat(9), "at most 8 deep");
}

#[test]
fn values() {
    let argument = |test: Value, path: &str, sentence: &str| {
        wrong_when(json!({"argument": test}), &format!(".argument{path}"), sentence);
    };
    argument(json!({"equals": 1}), ".pointer", "needed");
    argument(json!({"pointer": "path", "equals": 1}), ".pointer", "JSON pointer");
    argument(json!({"pointer": "/a~2", "equals": 1}), ".pointer", "JSON pointer");
    argument(json!({"pointer": "/a"}), "", "at least one of equals");
    argument(json!({"pointer": "/a", "equals": 1, "one_of": [1]}), ".one_of", "only one");
    argument(json!({"pointer": "/a", "one_of": []}), ".one_of", "matches nothing");
    argument(json!({"pointer": "/a", "matches": "("}), ".matches", "no pattern");
    argument(json!({"pointer": "/a", "matches": "a)|(?:b"}), ".matches", "no pattern");
    argument(json!({"pointer": "/a", "matches": "a".repeat(513)}), ".matches", "at most 512");
    argument(json!({"pointer": "/a", "matches": "(a{100}){100}"}), ".matches", "no pattern");
    argument(json!({"pointer": "/a", "size": {}}), ".size", "min, max or both");
    argument(json!({"pointer": "/a", "size": {"min": -1}}), ".size.min", "at least 0");
    argument(json!({"pointer": "/a", "range": {"min": 2, "max": 1}}), ".range", "larger");
    argument(json!({"pointer": "/a", "exists": "yes"}), ".exists", "true or false");
    argument(json!({"pointer": "/a", "exists": false, "equals": 1}), "", "does not exist");
    wrong_when(json!({"claim": {"equals": 1}}), ".claim.name", "needed");
    wrong_when(
        json!({"claim": [{"name": "a", "matches": "["}]}),
        ".claim[0].matches",
        "no pattern",
    );
}

#[test]
fn times() {
    let time = |test: Value, path: &str, sentence: &str| {
        wrong_when(json!({"time": test}), &format!(".time{path}"), sentence);
    };
    time(json!({"from": "9:00"}), ".from", "such as \"09:00\"");
    time(json!({"from": "09:60"}), ".from", "such as \"09:00\"");
    time(json!({"to": "24:01"}), ".to", "such as \"09:00\"");
    time(json!({"from": "24:00"}), "", "at most 23:59");
    time(json!({"from": "09:00", "to": "09:00"}), "", "same time");
    time(json!({"days": ["monday"]}), ".days[0]", "one of mon");
    time(json!({"utc_offset": "2"}), ".utc_offset", "such as \"+02:00\"");
    time(json!({"utc_offset": "+15:00"}), ".utc_offset", "at most 14 hours");
    time(json!({"zone": "CET"}), ".zone", "no such key");
}
