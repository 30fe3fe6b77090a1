//! Servers that register themselves, and connectors that register themselves elsewhere.

use std::time::Duration;

use super::support::{refused, settings, with_secrets};
use crate::config::{HttpTransport, Target};

/// A connector with callers who may register: `ann`, and `bob` of the tenant `north`.
fn hub(rest: &str) -> String {
    let scope = "scopes: ['plugway:registry']";
    format!(
        "name: hub\nauth: {{mode: static, tokens: {{0123456789abcdef: {{client_id: ann, {scope}}}, \
         fedcba9876543210: {{client_id: bob, tenant_id: north, {scope}}}, aaaaaaaaaaaaaaaa: {{client_id: eve}}}}}}\n{rest}"
    )
}

/// [`refused`] for texts that were put together.
fn refuse(table: &[(String, &str, &str)]) {
    let table: Vec<(&str, &str, &str)> =
        table.iter().map(|(text, sentence, hint)| (text.as_str(), *sentence, *hint)).collect();
    refused(&table);
}

const REGISTRY: &str = "registry: {names: [w-*], hosts: [h]}\n";

#[test]
fn without_the_key_nobody_registers() {
    let settings = settings("name: hub\nupstreams: [{name: a, url: http://x}]\n").unwrap();
    let hub = &settings.connectors[0];
    assert!(hub.registry.is_none() && hub.register.is_none());
}

#[test]
fn a_registry_has_its_defaults_and_needs_no_upstream() {
    let text = hub(
        "registry: {names: ['w-?'], hosts: [H.example, '*.Example.com:8000', '[::1]:9', '::1', '127.0.0.1:80']}\n",
    );
    let settings = settings(&text).unwrap();
    let registry = settings.connectors[0].registry.clone().unwrap();
    assert_eq!((registry.max, registry.max_of_identity), (64, 16));
    let hosts: Vec<String> = registry.hosts.iter().map(ToString::to_string).collect();
    assert_eq!(hosts, ["h.example", "*.example.com:8000", "[::1]:9", "::1", "127.0.0.1:80"]);
}

#[test]
fn an_entry_takes_its_address_from_leases() {
    let text = hub(&format!(
        "{REGISTRY}upstreams: [{{name: a, accept_leases: [ann, bob of north], transport: sse}}]\n"
    ));
    let settings = settings(&text).unwrap();
    let entry = &settings.connectors[0].upstreams[0];
    assert_eq!(entry.target, Target::Leased(HttpTransport::Sse));
    assert_eq!(entry.accept_leases, ["ann".into(), "bob of north".into()]);
}

#[test]
fn a_registry_that_cannot_work_is_said() {
    let registry = |keys: &str| hub(&format!("registry: {{{keys}}}\n"));
    let table = [
        (
            format!("name: hub\n{REGISTRY}upstreams: [{{name: a, url: http://x}}]\n"),
            ":2:1: `registry` lets nobody in: no token of `auth` has the scope `plugway:registry`",
            "write `auth: {mode: static",
        ),
        (
            registry("hosts: [h]"),
            ":3:1: `registry.names` is missing: no server could register",
            "write `names",
        ),
        (
            registry("names: [a]"),
            ":3:1: `registry.hosts` is missing: no server could register",
            "write `hosts",
        ),
        (
            registry("names: [a.b], hosts: [h]"),
            ":3:20: `registry.names[0]` is `a.b`, which no name can match",
            "write a glob",
        ),
        (
            registry("names: [a], hosts: ['10.*']"),
            ":3:32: `registry.hosts[0]` is `10.*`, which is no host",
            "write `HOST`",
        ),
        (
            registry("names: [a], hosts: ['*']"),
            ":3:32: `registry.hosts[0]` is `*`, which is no host",
            "write `HOST`",
        ),
        (
            registry("names: [a], hosts: ['h:0']"),
            ":3:32: `registry.hosts[0]` is `h:0`, which is no host",
            "write `HOST`",
        ),
        (
            registry("names: [a], hosts: ['http://h']"),
            ":3:32: `registry.hosts[0]` is `http://h`, which is no host",
            "write `HOST`",
        ),
        (
            registry("names: [a], hosts: [h], max: 0"),
            ":3:36: `registry.max` must be from 1 to 1000",
            "leave the key",
        ),
    ];
    refuse(&table);
}

#[test]
fn an_entry_that_cannot_work_is_said() {
    let entry = |keys: &str| hub(&format!("{REGISTRY}upstreams: [{{name: a, {keys}}}]\n"));
    let table = [
        (
            entry("url: http://x, accept_leases: [ann]"),
            ":4:38: `upstreams[0].accept_leases` belongs to an entry without `url` and `command`: an upstream has one worker",
            "keep one",
        ),
        (
            entry("accept_leases: []"),
            ":4:23: `upstreams[0].accept_leases` is empty",
            "name the clients",
        ),
        (
            entry("accept_leases: [eve]"),
            ":4:39: `upstreams[0].accept_leases[0]` is `eve`, who has no token with the scope `plugway:registry`",
            "write `CLIENT_ID`",
        ),
        (
            entry("accept_leases: [bob]"),
            ":4:39: `upstreams[0].accept_leases[0]` is `bob`, who has no token with the scope `plugway:registry`",
            "write `CLIENT_ID`",
        ),
        (
            hub("upstreams: [{name: a, accept_leases: [ann]}]\n"),
            ":3:23: `upstreams[0].accept_leases` means nothing without `registry`",
            "write `registry",
        ),
        (
            entry("accept_leases: [ann], args: [x]"),
            ":4:45: `upstreams[0].args` belongs to `command`, but this upstream has a `url`",
            "take it out",
        ),
    ];
    refuse(&table);
}

#[test]
fn two_clients_of_one_name_are_not_told_apart() {
    let scope = "scopes: ['plugway:registry']";
    let text = format!(
        "name: hub\nauth: {{mode: static, tokens: {{0123456789abcdef: {{client_id: a of b, {scope}}}, \
         fedcba9876543210: {{client_id: a, tenant_id: b, {scope}}}}}}}\n{REGISTRY}\
         upstreams: [{{name: x, accept_leases: [a of b]}}]\n"
    );
    let said = settings(&text).unwrap_err().to_string();
    assert!(said.contains("is `a of b`, which several clients are called"), "{said}");
}

#[test]
fn a_connector_registers_itself_under_its_own_name() {
    let keys = "url: https://parent.example/hub/registry/, public_url: 'http://127.0.0.1:9/mcp', token: 'env://TOKEN'";
    let text = |more: &str| {
        format!("name: hub\nupstreams: [{{name: a, url: http://x}}]\nregister: {{{keys}{more}}}\n")
    };
    let variables = [("TOKEN", "0123456789abcdef")];
    let settings = with_secrets(&text(""), &variables).unwrap();
    let register = settings.connectors[0].register.clone().unwrap();
    assert_eq!(register.servers, "https://parent.example/hub/registry/v1/servers");
    assert_eq!((&*register.name, register.ttl), ("hub", Duration::from_mins(5)));
    assert_eq!(
        (register.token.reveal(), &*register.public_url),
        ("0123456789abcdef", "http://127.0.0.1:9/mcp")
    );
    let settings =
        with_secrets(&text(", name: lab, ttl: 60s, labels: {zone: x}"), &variables).unwrap();
    let register = settings.connectors[0].register.clone().unwrap();
    assert_eq!((&*register.name, register.ttl), ("lab", Duration::from_mins(1)));
    assert_eq!(register.labels["zone"], "x");
}

#[test]
fn a_registration_that_cannot_work_is_said_and_no_token_is_shown() {
    for (keys, sentence) in [
        ("", "`register.url` is missing"),
        ("url: https://p/registry", "`register.public_url` is missing"),
        ("url: https://p/registry, public_url: http://x", "`register.token` is missing"),
        ("url: http://p/registry", "`register.url` is not https"),
        ("url: http://127.0.0.1.evil/registry", "`register.url` is not https"),
        ("url: https://p/mcp", "`register.url` does not end in `/registry`"),
        ("url: https://p/registry?x=1", "`register.url` has a query"),
        ("url: ftp://p/registry", "`register.url` has the scheme `ftp`"),
        ("public_url: x", "`register.public_url` has no scheme"),
        ("token: 'env://NOT_SET'", "`register.token`"),
        ("token: 'env://SPACED'", "`register.token` is no token"),
        ("ttl: 59s", "`register.ttl` must be whole seconds from 60s to 1h"),
        ("ttl: 61m", "`register.ttl` must be whole seconds from 60s to 1h"),
        ("ttl: 60500ms", "`register.ttl` must be whole seconds from 60s to 1h"),
        ("name: a.b", "`register.name` is `a.b`, which cannot be the name"),
        ("labels: {'a b': x}", "`register.labels` are not what a registry takes"),
    ] {
        let text =
            format!("name: hub\nupstreams: [{{name: a, url: http://x}}]\nregister: {{{keys}}}\n");
        let found = with_secrets(&text, &[("SPACED", "s3cret s3cret")]).unwrap_err().to_string();
        assert!(found.contains(sentence) && !found.contains("s3cret"), "{keys}: {found}");
    }
}
