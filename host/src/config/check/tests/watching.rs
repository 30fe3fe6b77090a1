//! How upstreams are watched, upstreams that are not started, and what plugins may fetch.

use std::time::Duration;

use super::support::{refused, settings, upstream};
use crate::config::{Absence, Watch};

#[test]
fn every_key_has_its_place() {
    let text = upstream(
        "url: http://x, health_check_interval: 1s, health_check_timeout: 2s, unhealthy_after: 3, \
         healthy_after: 4, reconnect: {initial: 5s, max: 6s, attempts: 7}, refresh: 8s, \
         stale_for: 0s, unavailable: keep",
    );
    let upstream = &settings(&text).unwrap().connectors[0].upstreams[0];
    let wanted = Watch {
        interval: Duration::from_secs(1),
        timeout: Duration::from_secs(2),
        down_after: 3,
        up_after: 4,
        retry_initial: Duration::from_secs(5),
        retry_max: Duration::from_secs(6),
        attempts: Some(7),
        refresh: Duration::from_secs(8),
    };
    assert_eq!(upstream.watch, wanted);
    assert_eq!(upstream.absence, Absence { stale_for: Duration::ZERO, keep: true });
}

#[test]
fn the_defaults_hold_and_equal_texts_give_equal_settings() {
    let text = upstream("url: http://x, reconnect: {attempts: unlimited}, unavailable: remove");
    let first = settings(&text).unwrap();
    let upstream = &first.connectors[0].upstreams[0];
    assert_eq!((upstream.watch, upstream.absence), (Watch::default(), Absence::default()));
    assert_eq!(first, settings(&text).unwrap());
    let long = text.replace("attempts: unlimited", "initial: 1m");
    let watch = settings(&long).unwrap().connectors[0].upstreams[0].watch;
    assert_eq!(watch.retry_max, Duration::from_mins(1));
}

#[test]
fn what_cannot_work_is_refused() {
    let key = |text: &str| upstream(&format!("url: http://x, {text}"));
    refused(&[
        (
            &key("reconnect: {attempts: never}"),
            ":3:40: `upstreams[0].reconnect.attempts` must be `unlimited` or a whole number from \
             1, not the text `never`",
            "",
        ),
        (
            &key("reconnect: {attempts: 0}"),
            ":3:40: `upstreams[0].reconnect.attempts` must be `unlimited` or a whole number from \
             1, not the number 0",
            "",
        ),
        (
            &key("reconnect: {initial: 5s, max: 1s}"),
            ":3:53: `upstreams[0].reconnect.max` is shorter than `initial`",
            "make it longer",
        ),
        (
            &key("reconnect: {intial: 5s}"),
            ":3:40: `upstreams[0].reconnect.intial` is not a key that plugway knows",
            "did you mean `initial`?",
        ),
        (
            &key("unhealthy_after: 0"),
            ":3:28: `upstreams[0].unhealthy_after` must be from 1 to 1000",
            "leave",
        ),
        (&key("stale_for: 25h"), ":3:28: `upstreams[0].stale_for` must be at most 24h", "leave"),
        (
            &key("unavailable: hide"),
            ":3:28: `upstreams[0].unavailable` is `hide`, but can only be remove or keep",
            "",
        ),
    ]);
}

#[test]
fn a_disabled_upstream_stays_in_the_file_and_needs_nothing() {
    let text = "name: hub\nupstreams:\n- {name: off, command: x, env: {A: 'env://ABSENT'}, \
                disabled: true}\n- {name: on, url: http://x}\n";
    let settings = settings(text).unwrap();
    assert!(settings.warnings.list.is_empty());
    let connector = &settings.connectors[0];
    assert_eq!((connector.upstreams.len(), &connector.disabled[..]), (1, &["off".into()][..]));
    refused(&[
        (
            &upstream("url: http://x, disabled: true"),
            ":2:1: `upstreams` are all disabled, so there is nothing to serve",
            "enable one",
        ),
        (
            "name: hub\nupstreams:\n- {name: a, disabled: true}\n- {name: a, url: http://x}\n",
            ":4:4: `upstreams[1].name` is `a`, like that of another upstream",
            "give",
        ),
    ]);
}

#[test]
fn plugins_fetch_from_origins() {
    let fetch = |origin: &str| {
        upstream("url: http://x")
            + &format!("plugins: {{p: {{file: p.wasm, grants: {{fetch: ['{origin}']}}}}}}\n")
    };
    for origin in ["https://api.example.com", "http://127.0.0.1:8080/", "http://[::1]:80"] {
        let settings = settings(&fetch(origin)).unwrap();
        assert_eq!(settings.plugin("p").unwrap().grants.fetch.len(), 1, "{origin}");
    }
    let at = ":4:46: `plugins.p.grants.fetch[0]` ";
    let rows = [
        ("api.example.com", "is no origin of http or https"),
        ("ftp://a", "is no origin of http or https"),
        ("http://a b", "is no origin"),
        ("https://a/b", "has more than an origin: a path, a query or a fragment"),
        ("https://a/?b", "has more than an origin: a path, a query or a fragment"),
        ("https://a#b", "has more than an origin: a path, a query or a fragment"),
        ("https://u:p@a", "holds a credential"),
        ("https://*.a.com", "is `https://*.a.com`: wildcards are not taken"),
        ("https://a:99999", "has no host, or a port that is none"),
    ];
    for (origin, sentence) in rows {
        refused(&[(&fetch(origin), &format!("{at}{sentence}"), "write scheme, host and port")]);
    }
    let text =
        upstream("url: http://x") + "plugins: {p: {file: p.wasm, grants: {fetch_private: true}}}\n";
    let warnings = settings(&text).unwrap().warnings.as_warnings().to_string();
    assert!(warnings.contains("`plugins.p.grants.fetch_private` means nothing"), "{warnings}");
}
