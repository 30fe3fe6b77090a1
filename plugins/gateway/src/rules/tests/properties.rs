//! What holds for any rules, callers and calls.

use plugway_sdk::serde_json::{Map, Value, json};
use proptest::prelude::*;

use super::{Act, Made, Outlook, rules};

/// One member of `when`.
fn member() -> impl Strategy<Value = (&'static str, Value)> {
    let scope = prop::sample::select(vec!["read", "write", "admin"]);
    let tool = prop::sample::select(vec!["a", "b", "files_*", "*_x", "*"]);
    let hours = prop::sample::select(vec!["00:00", "06:00", "12:30", "23:00"]);
    let day = prop::sample::select(vec!["mon", "wed", "sun"]);
    prop_oneof![
        scope.prop_map(|scope| ("scope", json!(scope))),
        tool.prop_map(|tool| ("tool", json!([tool, "c"]))),
        any::<bool>().prop_map(|flag| ("tenant", json!(if flag { "acme" } else { "o*" }))),
        any::<bool>().prop_map(|flag| ("hint", json!({"readOnlyHint": flag}))),
        Just(("hint", json!({"readOnlyHint": "unknown"}))),
        (0..3_u8).prop_map(|n| ("argument", json!({"pointer": "/n", "equals": n}))),
        (0..3_u8).prop_map(|n| ("argument", json!({"pointer": "/n", "range": {"max": n}}))),
        Just(("argument", json!({"pointer": "/n", "exists": false}))),
        (0..3_u8).prop_map(|n| ("claim", json!({"name": "level", "equals": n}))),
        (hours, day).prop_map(|(to, day)| (
            "time",
            json!({"from": "05:00", "to": to, "days": [day, "thu"]})
        )),
    ]
}

fn when() -> impl Strategy<Value = Value> {
    let plain = prop::collection::vec(member(), 0..4)
        .prop_map(|members| {
            Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
        })
        .boxed();
    (plain.clone(), prop::option::of(plain)).prop_map(|(mut when, not)| {
        if let Some(not) = not {
            when["not"] = not;
        }
        when
    })
}

fn rule() -> impl Strategy<Value = Value> {
    let act = prop::sample::select(vec!["allow", "deny", "deny", "confirm", "limit"]);
    (when(), act).prop_map(|(when, act)| match act {
        "limit" => json!({"when": when, "do": act, "limit": {"per_minute": 1}}),
        _ => json!({"when": when, "do": act}),
    })
}

fn config() -> impl Strategy<Value = Value> {
    (prop::collection::vec(rule(), 0..6), prop::sample::select(vec!["allow", "deny"]))
        .prop_map(|(rules, default)| json!({"rules": rules, "default": default}))
}

fn made() -> impl Strategy<Value = Made> {
    let names = prop::sample::select(vec!["a", "b", "c", "files_x", "y"]);
    let hint = prop::option::of(any::<bool>());
    let scopes = prop::collection::btree_set("read|write|admin", 0..3);
    (
        names,
        hint,
        scopes,
        0..4_u8,
        any::<bool>(),
        0..20_160_u32,
        prop::sample::select(vec!["tool", "prompt"]),
    )
        .prop_map(|(name, hint, scopes, level, tenant, minutes, kind)| Made {
            names: vec![name.to_owned()],
            hints: hint.map(|hint| ("readOnlyHint".to_owned(), hint)).into_iter().collect(),
            scopes,
            claims: json!({"level": level}),
            tenant: tenant.then(|| "acme".to_owned()),
            now_ms: f64::from(minutes) * 60_000.0 + 12_345.0,
            kind: kind.to_owned(),
            ..Made::default()
        })
}

/// All arguments that the conditions can tell apart.
fn every_arguments() -> Vec<Value> {
    let mut all: Vec<Value> = (0..4_u8).map(|n| json!({"n": n})).collect();
    all.push(json!({}));
    all.push(json!({"n": "text"}));
    all
}

fn later(made: &Made, valid: Option<u32>, part: f64) -> Made {
    let now_ms = made.now_ms + (f64::from(valid.unwrap_or(604_800_000)) - 1.0) * part;
    Made { now_ms, ..made.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_and_calls_agree_while_a_list_is_valid(config in config(), made in made(), part in 0.0..1.0_f64) {
        let rules = rules(config);
        let (outlook, valid) = rules.sight(&made.listed());
        let then = later(&made, valid, part);
        let denied: Vec<bool> = every_arguments()
            .into_iter()
            .map(|arguments| rules.decide(&Made { arguments: Some(arguments), ..then.clone() }).act == Act::Deny)
            .collect();
        match outlook {
            Outlook::Denied => prop_assert!(denied.iter().all(|denied| *denied)),
            Outlook::Callable => prop_assert!(denied.iter().all(|denied| !denied)),
            Outlook::Maybe => {}
        }
    }

    #[test]
    fn the_first_rule_that_holds_alone_decides(config in config(), made in made()) {
        let all = rules(config.clone());
        let verdict = all.decide(&made);
        let written = config["rules"].as_array().unwrap();
        let first = written.iter().position(|rule| super::holds(&rule["when"], &made));
        let expected = first.map(|at| format!("rules[{at}]"));
        prop_assert_eq!(verdict.rule, expected.as_deref());
        let act = first.map_or(&config["default"], |at| &written[at]["do"]);
        let said = match verdict.act {
            Act::Allow => "allow",
            Act::Deny => "deny",
            Act::Confirm => "confirm",
            Act::Limit { .. } => "limit",
        };
        prop_assert_eq!(act, said);
    }

    #[test]
    fn observing_never_refuses(config in config(), made in made()) {
        let enforced = rules(config.clone());
        let mut config = config;
        config["mode"] = json!("observe");
        let observed = rules(config);
        let verdict = observed.decide(&made);
        prop_assert!(!matches!(verdict.act, Act::Deny | Act::Confirm), "{verdict:?}");
        let would = matches!(enforced.decide(&made).act, Act::Deny | Act::Confirm);
        prop_assert_eq!(verdict.observed.is_some(), would);
        prop_assert_eq!(observed.sight(&made.listed()).0, Outlook::Callable);
    }

    #[test]
    fn the_order_of_conditions_means_nothing(when in when(), made in made()) {
        let turned: Map<String, Value> = when.as_object().unwrap().clone().into_iter().rev().collect();
        let turned = Value::Object(turned);
        prop_assert_eq!(super::holds(&when, &made), super::holds(&turned, &made));
        let one = rules(json!({"rules": [{"when": when, "do": "deny"}]}));
        let other = rules(json!({"rules": [{"when": turned, "do": "deny"}]}));
        // Of two hours that both are over either may be the one that is asked about.
        prop_assert_eq!(one.sight(&made.listed()).0, other.sight(&made.listed()).0);
    }
}
