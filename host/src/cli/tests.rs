//! What may be written, and what is said about settings.

use std::path::Path;

use clap::{CommandFactory, Parser};

use super::arguments::{Arguments, Command};
use super::exit::{Exit, HELP};
use super::{explain, try_out};
use crate::config::{Environment, Flags, assemble, parse};

#[test]
fn the_command_line_is_consistent_and_its_exit_codes_are_in_the_help() {
    Arguments::command().debug_assert();
    let all = [Exit::Ok, Exit::Refused, Exit::Usage, Exit::Listen, Exit::Plugin];
    for exit in all.into_iter().chain([Exit::Denied, Exit::Internal]) {
        assert!(HELP.contains(&format!("\n  {:<4}", exit as u8)), "{exit:?}");
    }
}

#[test]
fn flags_and_files_are_read() {
    let words = ["plugway", "serve", "--listen", "127.0.0.1:0", "--log-format", "json"];
    let arguments = Arguments::try_parse_from(words).unwrap();
    let Command::Serve(serve) = arguments.command else { panic!("serve") };
    assert_eq!(serve.file, None);
    assert_eq!(serve.listen.listen.as_deref(), Some("127.0.0.1:0"));
    for wrong in [
        &["plugway"][..],
        &["plugway", "try"],
        &["plugway", "try", "--url", "http://x", "--", "cat"],
        &["plugway", "serve", "--log-format", "xml"],
        &["plugway", "serve", "a", "b"],
    ] {
        assert!(Arguments::try_parse_from(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_try_is_a_whole_configuration() {
    let words = ["plugway", "try", "--name", "x", "--", "npx", "-y", "server"];
    let arguments = Arguments::try_parse_from(words).unwrap();
    let Command::Try(command) = arguments.command else { panic!("try") };
    let file = try_out::written(&command);
    let settings = assemble(&file, &Flags::default(), &Environment::default()).unwrap();
    let said = explain::explain(&settings);
    assert!(said.contains("  upstream x: npx with 2 arguments, environment []"), "{said}");
}

#[test]
fn settings_are_explained() {
    let text = "name: hub\ndescription: \"Both\\nlines\"\nlisten: 0.0.0.0:9000\n\
        exposure: {accept: [no-auth, no-tls, any-host], reason: lab}\n\
        plugins: {team: {file: team.wasm, grants: {headers: [X-Team]}, limits: {time_ms: 5}}}\n\
        policies: [{use: team, config: {a: 1}}]\n\
        upstreams:\n- {name: a, url: http://127.0.0.1:1/mcp, aliases: {t: u}, expose: ['r_*']}\n\
        - {name: b, command: cat, args: [x], env: {K: v}, sharing: connector, prefix: never}\n";
    let settings =
        parse(text, Path::new("/c/plugway.yaml"), &Flags::default(), &Environment::default());
    let expected = "\
listens on 0.0.0.0:9000 (said by: configuration file)
  any Host header
  other machines can reach it; accepted: no-auth, no-tls, any-host (lab)
callers are anonymous
connector hub at /mcp
  is described as \"Both\\nlines\"
  router router
  policy team (configured: a)
  upstream a: http://127.0.0.1:1/mcp; prefix always, t shown as u, offers only r_*
  upstream b: cat with 1 arguments, environment [K], one child for all; prefix never
plugin router: part of plugway, on error deny
plugin team: /c/team.wasm, reads headers x-team, 5 ms, on error deny
limits: body 4096 KiB, 4096 connections, 10000 sessions, idle sessions end after 1800 s";
    assert_eq!(explain::explain(&settings.unwrap()), expected);
}

#[test]
fn what_differs_from_the_defaults_is_explained_and_secrets_are_not() {
    let text = "name: hub\nauth: {mode: static, tokens: 'env://TOKENS'}\n\
        admin: {socket: s, token_file: t}\nanonymous: true\nstatus: false\nconfirm_timeout: 30s\n\
        plugins: {p: {file: p.wasm, grants: {fetch: ['https://x'], fetch_private: true}}}\n\
        upstreams:\n- name: a\n  url: http://127.0.0.1:1/mcp?key=s3cret\n  auth: {mode: bearer, token: 'env://T'}\n  \
        headers: {X-Team: s3cret}\n  reconnect: {initial: 1s, max: 90s, attempts: 3}\n  \
        health_check_interval: 10s\n  unhealthy_after: 5\n  refresh: 500ms\n  stale_for: 0s\n  \
        unavailable: keep\n  hide: [x, 'y_*']\n- {name: b, command: x, disabled: true}\n\
        - {name: c, url: 'http://h/sse', transport: sse, server_requests: [roots, sampling], instructions: omit}\n\
        - {name: d, command: x, server_requests: []}\nserver_info: {name: tools, version: 2}\n";
    let tokens = r#"{"s3cret-s3cret-s3cret": {"client_id": "ci"}}"#;
    let environment = Environment::of(
        [("TOKENS", tokens), ("T", "s3cret")].map(|(name, value)| (name.into(), value.into())),
    );
    let settings = parse(text, Path::new("/c/plugway.yaml"), &Flags::default(), &environment);
    let said = explain::explain(&settings.unwrap());
    for line in [
        "callers are identified by 1 tokens of 1 clients",
        "administered at the socket /c/s, with the token in /c/t",
        "  callers without a token may come too",
        "  without the tool hub_status",
        "  a person has 30s to confirm a call",
        "  upstream a: http://127.0.0.1:1/mcp?.., with a credential in `authorization`, headers x-team; \
         prefix always, does not offer x, y_*; asked every 10s with 5s to answer; away after 5 failed checks, back after \
         1; tried again after 1s, at last every 90s; left alone after 3 attempts; read again every \
         500ms; away for 0s before clients see it; stays in lists while it is away",
        "  upstream b: disabled, is not started",
        "  upstream c: http://h/sse over HTTP+SSE; prefix always; may ask clients for sampling, roots; \
         its instructions are left out",
        "  upstream d: x with 0 arguments, environment [], a child for each session, at most 16; \
         prefix always; asks nothing of clients",
        "  introduces itself as tools 2",
        "plugin p: /c/p.wasm, fetches from https://x/ (also in private networks), on error deny",
    ] {
        assert!(said.lines().any(|said| said == line), "no `{line}` in\n{said}");
    }
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn tools_are_shown() {
    let body = r#"{"result":{"tools":[{"name":"a_b","description":"Does it.\nMore."}]}}"#;
    assert_eq!(
        try_out::tools(body),
        format!("1 tools through plugway:\n  {:<32} Does it.\n", "a_b")
    );
    assert_eq!(try_out::tools("nonsense"), "The server offers no tools.");
}
