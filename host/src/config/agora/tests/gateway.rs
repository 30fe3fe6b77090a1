//! Gateways: what a `GatewayConfig` and the environment become, and what is said about them.

use serde_json::{Value, json};

use super::{environment, file, said, upstreams};
use crate::config::Settings;

/// Stands where a file of a gateway names its plugin, which any file could be.
const PLUGIN: &str = "plugins: {gateway: {file: gateway.wasm}}\n";
const HEAD: &str = "form: agora\nname: gate\nupstream: {name: a, url: 'http://x:1/'}\n";

fn with(more: &str) -> String {
    [HEAD, PLUGIN, more].concat()
}

/// Each policy of the lone connector with its configuration.
fn policies(settings: &Settings) -> Vec<(String, Value)> {
    let places = settings.connectors[0].policies.iter();
    places
        .map(|place| (place.plugin.to_string(), serde_json::from_str(&place.config).unwrap()))
        .collect()
}

fn gateway(config: Value) -> Vec<(String, Value)> {
    vec![("gateway".to_owned(), config)]
}

#[test]
fn one_upstream_keeps_its_names_and_gets_credentials() {
    let settings = file(HEAD).unwrap();
    assert_eq!(upstreams(&settings), [("a".to_owned(), "http://x:1/".to_owned(), true)]);
    let connector = &settings.connectors[0];
    assert_eq!(connector.upstreams[0].naming.prefix, crate::config::Prefix::Never);
    let router: Value = serde_json::from_str(&connector.router.config).unwrap();
    assert_eq!(router, json!({"unified_tools": "search"}));
    assert!(policies(&settings).is_empty() && settings.warnings.list.is_empty());
    let always = "form: agora\nname: g\nupstream: {name: a, url: 'http://x:1', prefix: always, auth: none}\n";
    let settings = file(always).unwrap();
    assert_eq!(settings.connectors[0].upstreams[0].naming.prefix, crate::config::Prefix::Always);
    assert!(!upstreams(&settings)[0].2);
}

#[test]
fn a_file_that_does_not_say_what_it_is_is_named() {
    let text = HEAD.replace("form: agora\n", "");
    let warning = said(file(&text));
    let wanted = "`upstream` makes this a GatewayConfig of agora-workbench: the credential of whoever calls goes to a";
    assert!(warning.contains(wanted), "{warning}");
    assert_eq!(said(file(HEAD)), "");
}

#[test]
fn a_policy_is_the_first_of_the_plugins() {
    for (more, wanted) in [
        (
            "policy: {blocked_tools: [send], max_calls_per_minute: 5, allowed_tools: ~}\n",
            gateway(json!({"blocked_tools": ["send"], "max_calls_per_minute": 5})),
        ),
        (
            "policy: {allowed_tools: [parse, 'job_*']}\n",
            gateway(json!({"allowed_tools": ["parse", "job_*"]})),
        ),
        ("policy: {allowed_tools: ~, blocked_tools: [], max_calls_per_minute: ~}\n", Vec::new()),
        ("policy: {}\n", Vec::new()),
        ("policy: ~\n", Vec::new()),
    ] {
        let settings = file(&with(more)).unwrap_or_else(|problems| panic!("{more}{problems}"));
        assert_eq!(policies(&settings), wanted, "{more}");
    }
    let more = "policy: {blocked_tools: [send]}\npolicies: [{use: gateway, config: {limits: []}}, gateway]\n";
    let settings = file(&with(more)).unwrap();
    let all = [json!({"blocked_tools": ["send"]}), json!({"limits": []}), json!({})];
    assert_eq!(policies(&settings), all.map(|config| ("gateway".to_owned(), config)));
}

#[test]
fn problems_are_said_in_the_words_and_at_the_place_of_the_file() {
    for (text, sentences) in [
        (with("policy: {max_calls_per_minute: 0}\n"),
         &["hub.yaml:5:10: `policy.max_calls_per_minute` is 0, with which nobody could call anything"][..]),
        (with("policy: {max_calls_per_minute: -1}\n"), &["`policy.max_calls_per_minute` must be a whole number above 0"]),
        (with("policy: {blocked_tools: send}\n"), &["`policy.blocked_tools` must be a list of names"]),
        (with("policy: {blocked_tools: [send, '']}\n"), &["`policy.blocked_tools[1]` must be the name of a tool"]),
        (with("policy: {blocked_tool: [send]}\n"), &["`policy.blocked_tool` is not a key", "did you mean `blocked_tools`?"]),
        (with("policy: [send]\n"), &["`policy` must be a set of keys"]),
        (with("upstreams: [{name: b, url: 'http://x:2'}]\n"), &["`upstreams` stands beside `upstream`, but a gateway has exactly one"]),
        (with("bridges: [{from_state: a, to_state: b}]\n"), &["`bridges` belongs to a RouterConfig"]),
        (with("entra_client_id: x\n"), &["`entra_client_id` does nothing yet"]),
        (with("policy: {blocked_tools: [send]}\npolicies: [{use: nobody}]\n"), &["hub.yaml:6:12: `policies[0]` uses `nobody`"]),
        (with("policy: {blocked_tools: [send]}\npolicies: 7\n"), &["`policies` must be a list"]),
        ([HEAD, "plugins: {gateway: {file: g.wasm, config: {limits: []}}}\npolicy: {blocked_tools: [send]}\n"].concat(),
         &["`policy` stands beside `plugins.gateway.config`"]),
        ("form: agora\nname: g\nupstream:\n  name: a\n  url: ftp://x\n  expose_tools: 7\n".to_owned(),
         &["hub.yaml:5:3: `upstream.url` has the scheme `ftp`", "hub.yaml:6:3: `upstream.expose_tools` must be a list"]),
        ("form: agora\nname: g\nupstream: {name: a, url: 'http://x:1', zz: 1}\n".to_owned(), &["`upstream.zz` is not a key"]),
        ("form: agora\nname: hub\nupstreams: [{name: a, url: 'http://x:1'}]\npolicy: {blocked_tools: [send]}\n".to_owned(),
         &["`policy` belongs to a GatewayConfig, which has one `upstream`"]),
    ] {
        let said = file(&text).map_or_else(|problems| problems.to_string(), |_| String::new());
        for sentence in sentences {
            assert!(said.contains(sentence), "no {sentence}\nin {said}\nof {text}");
        }
    }
    let empty = said(file(&with("policy: {allowed_tools: []}\n")));
    assert!(
        empty.contains("warning") && empty.contains("is empty, which allows every tool"),
        "{empty}"
    );
}

/// A gateway of the environment.
fn described(more: &[(&'static str, &'static str)]) -> Result<Settings, crate::config::Problems> {
    let own = [("CONNECTOR_MODE", " Gateway "), ("UPSTREAM_CHEM_URL", "http://chem:8000")];
    environment(&[&own, more].concat())
}

#[test]
fn the_environment_describes_a_gateway() {
    let settings = described(&[("GATEWAY_BLOCKED_TOOLS", " , ")]).unwrap();
    assert_eq!(upstreams(&settings), [("chem".to_owned(), "http://chem:8000/".to_owned(), true)]);
    assert_eq!(settings.connectors[0].upstreams[0].naming.prefix, crate::config::Prefix::Never);
    assert!(policies(&settings).is_empty() && settings.warnings.list.is_empty());
    let settings = described(&[
        ("GATEWAY_BLOCKED_TOOLS", "send, ,parallel_execute"),
        ("GATEWAY_ALLOWED_TOOLS", "parse"),
        ("GATEWAY_MAX_CALLS_PER_MINUTE", " 60 "),
    ])
    .unwrap();
    let wanted = json!({
        "blocked_tools": ["send", "parallel_execute"], "allowed_tools": ["parse"], "max_calls_per_minute": 60,
    });
    assert_eq!(policies(&settings), gateway(wanted));
}

#[test]
fn what_is_wrong_with_the_environment_is_said_in_the_words_of_the_reference() {
    for (more, sentences) in [
        (
            &[("UPSTREAM_GIS_URL", "http://gis")][..],
            &[
                "Gateway mode requires exactly one upstream, but found 2: ['chem', 'gis']",
                "use CONNECTOR_MODE=router",
            ][..],
        ),
        (
            &[("GATEWAY_MAX_CALLS_PER_MINUTE", "x")],
            &["`GATEWAY_MAX_CALLS_PER_MINUTE` is `x`. Must be an integer"],
        ),
        (
            &[("GATEWAY_MAX_CALLS_PER_MINUTE", "0")],
            &["is 0, with which nobody could call anything"],
        ),
        (
            &[("CONNECTOR_MODE", "router"), ("GATEWAY_ALLOWED_TOOLS", "a")],
            &[
                "`GATEWAY_ALLOWED_TOOLS` does nothing in the mode `router`",
                "set CONNECTOR_MODE=gateway",
            ],
        ),
        (&[("GATEWAY_BLOCKED_TOOL", "a")], &["did you mean GATEWAY_BLOCKED_TOOLS?"]),
    ] {
        let said = said(described(more));
        for sentence in sentences {
            assert!(said.contains(sentence), "no {sentence}\nin {said}");
        }
    }
    let none = said(environment(&[("CONNECTOR_MODE", "gateway")]));
    assert_eq!(none.matches("error: ").count(), 1, "{none}");
    assert!(none.contains("no variable UPSTREAM_<NAME>_URL is set"), "{none}");
}
