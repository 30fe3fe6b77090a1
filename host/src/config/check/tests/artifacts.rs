//! Links to files of servers.

use std::time::Duration;

use super::support::{refused, settings, upstream};
use crate::config::{Artifacts, Settings, Target};

fn of(top: &str, keys: &str) -> Settings {
    settings(&(upstream(&format!("url: http://x{keys}")) + top)).unwrap()
}

#[test]
fn links_are_for_the_caller_for_an_hour_unless_somebody_says_otherwise() {
    let links = |top: &str| of(top, "").connectors[0].artifacts.clone();
    let default = Artifacts { open: false, lifetime: Duration::from_hours(1), public: None };
    assert_eq!(links(""), Some(default.clone()));
    assert_eq!(links("artifacts: {links: caller}\n"), Some(default.clone()));
    assert_eq!(links("artifacts: {links: untouched}\n"), None);
    let own = Artifacts { open: true, lifetime: Duration::from_mins(5), ..default };
    assert_eq!(links("artifacts: {links: holder, lifetime: 5m}\n"), Some(own));
    for (written, meant) in [
        ("https://h", "https://h"),
        ("https://h/", "https://h"),
        ("http://h:81/a/b/", "http://h:81/a/b"),
    ] {
        let public = links(&format!("public_url: {written}\n")).unwrap().public;
        assert_eq!(public.as_deref(), Some(meant));
    }
}

#[test]
fn origins_are_scheme_host_and_port() {
    let origins = |keys: &str| match &of("", keys).connectors[0].upstreams[0].target {
        Target::Http(address) => address.artifact_origins.clone(),
        Target::Stdio(_) | Target::Leased(_) => panic!("an address"),
    };
    assert_eq!(origins(""), None);
    assert_eq!(origins(", artifact_origins: []"), Some(Vec::new()), "it gives links all the same");
    let written = ", artifact_origins: ['https://h', 'http://g:81/']";
    assert_eq!(origins(written), Some(vec!["https://h".into(), "http://g:81".into()]));
    let sse = of("", ", transport: sse, artifact_origins: ['https://h']");
    let said = sse.warnings.as_warnings().to_string();
    assert!(said.contains("means nothing with `transport: sse`"), "{said}");
}

#[test]
fn what_cannot_stand_in_a_link_is_refused() {
    let top = |line: &str| upstream("url: http://x") + line;
    let origins = |list: &str| upstream(&format!("url: http://x, artifact_origins: {list}"));
    let many = format!("[{}]", ["'http://h'"; 9].join(", "));
    refused(&[
        (
            &top("public_url: mcp.example.com\n"),
            ":4:1: `public_url` has no scheme",
            "write the whole address",
        ),
        (
            &top("public_url: https://h/?a\n"),
            ":4:1: `public_url` has a query",
            "write what stands before the paths of connectors",
        ),
        (
            &top("public_url: https://h/(a)\n"),
            ":4:1: `public_url` has a path with other characters than a path needs",
            "use letters",
        ),
        (
            &top("artifacts: {lifetime: 1ms}\n"),
            ":4:13: `artifacts.lifetime` must be from 10ms to 24h",
            "",
        ),
        (
            &origins("['https://h/artifacts']"),
            ":3:47: `upstreams[0].artifact_origins[0]` is more than an origin",
            "write scheme, host and port alone",
        ),
        (
            &origins("['https://u:p@h']"),
            ":3:47: `upstreams[0].artifact_origins[0]` holds a credential",
            "take the user name and password out",
        ),
        (
            &origins(&many),
            ":3:28: `upstreams[0].artifact_origins` has more than 8 origins",
            "name those",
        ),
        (
            &upstream("command: cat, artifact_origins: ['https://h']"),
            ":3:27: `upstreams[0].artifact_origins` belongs to `url`, but this upstream has a \
             `command`",
            "take it out",
        ),
    ]);
}
