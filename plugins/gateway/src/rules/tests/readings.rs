//! Arguments that servers may read as another type than they have.

use plugway_sdk::serde_json::{Value, json};

use super::{Act, Facts, Made, rules};

/// A call with one argument `/x`, as the client wrote it.
struct Written(Made, &'static str);

impl Facts for Written {
    fn has_scope(&self, scope: &str) -> bool {
        self.0.has_scope(scope)
    }
    fn claim(&self, name: &str) -> Option<String> {
        self.0.claim(name)
    }
    fn tenant(&self) -> Option<String> {
        self.0.tenant()
    }
    fn client(&self) -> Option<String> {
        self.0.client()
    }
    fn caller(&self) -> String {
        self.0.caller()
    }
    fn tool_names(&self) -> &[String] {
        self.0.tool_names()
    }
    fn kind(&self) -> &str {
        self.0.kind()
    }
    fn upstream(&self) -> Option<String> {
        self.0.upstream()
    }
    fn hint(&self, name: &str) -> Option<bool> {
        self.0.hint(name)
    }
    fn argument(&self, pointer: &str) -> Option<Option<String>> {
        Some((pointer == "/x").then(|| self.1.to_owned()))
    }
    fn now_ms(&self) -> f64 {
        self.0.now_ms()
    }
}

fn decided(test: &Value, act: &str, default: &str, written: &'static str) -> Act {
    let mut test = test.clone();
    if test.get("pointer").is_none() {
        test["pointer"] = json!("/x");
    }
    let rules = rules(json!({
        "default": default, "rules": [{"when": {"argument": test}, "do": act}],
    }));
    rules.decide(&Written(Made::default(), written)).act
}

/// Neither a rule that denies such values nor one that allows them lets this one pass.
fn passes_none(test: &Value, written: &'static str) {
    assert_eq!(decided(test, "deny", "allow", written), Act::Deny, "{test} denies {written}");
    assert_eq!(decided(test, "allow", "deny", written), Act::Deny, "{test} allows {written}");
}

const BIG: &str = concat!(
    "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
    "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
    "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
    "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111",
);

#[test]
fn no_number_is_too_large_for_a_range() {
    for written in ["500", "1e400", BIG] {
        let test = json!({"range": {"min": 100}});
        assert_eq!(decided(&test, "deny", "allow", written), Act::Deny, "{written}");
        let test = json!({"range": {"max": 100}});
        assert_eq!(decided(&test, "allow", "deny", written), Act::Deny, "{written}");
    }
    assert_eq!(decided(&json!({"range": {"min": 100}}), "deny", "allow", "-1e400"), Act::Allow);
}

#[test]
fn spellings_that_a_server_may_read_as_the_value_pass_no_rule() {
    for (test, written) in [
        (json!({"range": {"min": 100}}), r#""500""#),
        (json!({"range": {"min": 100}}), r#"" 5_00.0""#),
        (json!({"range": {"min": 100}}), r#""1e400""#),
        (json!({"range": {"min": 100}}), r#""0x1f4""#),
        (json!({"range": {"min": 100}}), r#""\uff15\uff10\uff10""#),
        (json!({"range": {"min": 1}}), "true"),
        (json!({"equals": 5}), r#""5.0""#),
        (json!({"equals": "5"}), "5"),
        (json!({"equals": true}), r#""Yes""#),
        (json!({"equals": true}), "1"),
        (json!({"equals": "true"}), "true"),
        (json!({"one_of": [1, [5, null]]}), r#""[\"5\", null]""#),
        (json!({"equals": {"a": 5}}), r#""{\"a\": \"5\"}""#),
        (json!({"equals": {"a": 5}}), r#"{"a": "5"}"#),
        (json!({"equals": null}), r#""null""#),
        (json!({"matches": "[0-9]{4}"}), "4111"),
        (json!({"matches": ".*rm -rf.*"}), r#""a\nrm -rf /""#),
        (json!({"matches": "ls .*"}), r#""ls a\nrm -rf /""#),
        (json!({"matches": ".*rm -rf.*"}), r#""\ud800 rm -rf /""#),
        (json!({"size": {"min": 3, "max": 3}}), r#""[1, 2, 3]""#),
        (json!({"size": {"max": 3}}), "123"),
        (json!({"exists": false}), "null"),
        (json!({"pointer": "/x/force", "equals": true}), r#""{\"force\": true}""#),
    ] {
        passes_none(&test, written);
    }
}

#[test]
fn what_no_server_takes_for_the_value_is_another() {
    for (test, written) in [
        (json!({"range": {"min": 100}}), r#""99""#),
        (json!({"range": {"min": 100}}), r#""five hundred""#),
        (json!({"equals": 5}), r#""5 apples""#),
        (json!({"equals": true}), r#""no""#),
        (json!({"equals": [5]}), r#""[6]""#),
        (json!({"matches": "[0-9]{4}"}), "411"),
        (json!({"size": {"min": 9}}), r#""[1, 2]""#),
        (json!({"exists": false}), "0"),
        (json!({"pointer": "/x/force", "equals": true}), r#""{\"force\": false}""#),
    ] {
        assert_eq!(decided(&test, "deny", "allow", written), Act::Allow, "{test} {written}");
    }
    // As it is written it is what the rule says, whatever else it could be.
    for (test, written) in [
        (json!({"equals": "5"}), r#""5""#),
        (json!({"matches": "[0-9]+"}), r#""500""#),
        (json!({"range": {"max": 5}}), "5.0"),
        (json!({"size": {"max": 2}}), "[1, 2]"),
    ] {
        assert_eq!(decided(&test, "allow", "deny", written), Act::Allow, "{test} {written}");
    }
}

#[test]
fn a_text_that_is_too_long_to_be_matched_passes_no_rule() {
    for (more, act) in [(0, Act::Allow), (1, Act::Deny)] {
        let text = json!("a".repeat((32 << 10) + more)).to_string().leak();
        assert_eq!(decided(&json!({"matches": "b+"}), "deny", "allow", text), act);
    }
}

#[test]
fn of_the_rules_that_may_decide_the_strictest_does() {
    let rules = rules(json!({"rules": [
        {"name": "few", "when": {"argument": {"pointer": "/x", "range": {"max": 10}}}, "do": "limit", "limit": {"per_minute": 1}},
        {"name": "asked", "when": {"argument": {"pointer": "/x", "range": {"max": 100}}}, "do": "confirm"},
        {"name": "rest", "when": {"argument": {"pointer": "/x", "exists": true}}, "do": "allow"},
        {"name": "never", "do": "deny"},
    ]}));
    for (written, rule) in
        [("5", "few"), (r#""5""#, "asked"), ("50", "asked"), ("500", "rest"), (r#""500""#, "rest")]
    {
        let made = Written(Made::default(), written);
        assert_eq!(rules.decide(&made).rule, Some(rule), "{written}");
    }
    assert_eq!(rules.decide(&Written(Made::default(), "null")).rule, Some("never"));
}
