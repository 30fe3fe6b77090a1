//! Every refusal as a line of a table: what was written, and what plugway says.

use std::path::Path;

use crate::config::settings::{Exposure, Hosts, ListenSource, PluginSource, Prefix, Target};
use crate::config::{Environment, Flags, Problems, Settings, parse};

const PATH: &str = "/etc/plugway/plugway.yaml";

fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::of(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

fn settings(text: &str) -> Result<Settings, Problems> {
    parse(text, Path::new(PATH), &Flags::default(), &environment(&[("PATH", "/bin")]))
}

/// A whole connector around the upstream keys under test.
fn upstream(keys: &str) -> String {
    format!("name: hub\nupstreams:\n- {{name: a, {keys}}}\n")
}

fn said(text: &str) -> String {
    settings(text).map_or_else(|problems| problems.to_string(), |_| "nothing".to_owned())
}

/// Checks that each text gives exactly one problem, which begins and ends like this.
fn refused(table: &[(&str, &str, &str)]) {
    let mut wrong = String::new();
    for (text, sentence, hint) in table {
        let said = said(text);
        let first = said.strip_prefix(&format!("error: {PATH}")).unwrap_or(&said);
        let (first, last) = first.split_once("\nhint: ").unwrap_or((first, ""));
        if first != *sentence || !last.starts_with(hint) || last.contains("\nerror: ") {
            wrong += &format!("\n{text}wanted {sentence}\ngot    {first}\nhint   {last}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_name_and_an_upstream_are_a_whole_configuration() {
    let settings =
        settings("name: hub\nupstreams:\n- {name: clock, url: http://127.0.0.1:3001/mcp}\n")
            .unwrap();
    assert_eq!(settings.listen.address.to_string(), "127.0.0.1:9000");
    assert_eq!(settings.listen.source, ListenSource::Default);
    assert_eq!(settings.listen.hosts, Hosts::Listed(Vec::new()));
    assert!(settings.warnings.list.is_empty());
    let [connector] = settings.connectors.as_slice() else { panic!("one connector") };
    assert_eq!((&*connector.name, connector.shown_path()), ("hub", "/"));
    assert_eq!(&*connector.router.plugin, "router");
    assert_eq!(settings.plugin("router").unwrap().source, PluginSource::Bundled);
    let [upstream] = connector.upstreams.as_slice() else { panic!("one upstream") };
    assert_eq!(upstream.naming.prefix, Prefix::Always);
    assert_eq!(upstream.naming.to_json(), r#"{"prefix":"always","aliases":{},"expose":[]}"#);
    assert!(matches!(&upstream.target, Target::Http(uri) if uri.path() == "/mcp"));
}

#[test]
fn json_is_read_too_and_several_connectors_get_their_paths() {
    let settings = settings(
        r#"{"connectors": [
            {"name": "one", "upstreams": [{"name": "a", "url": "http://127.0.0.1:1"}]},
            {"name": "two", "path": "/x/y", "upstreams": [{"name": "a", "command": "cat"}]}]}"#,
    )
    .unwrap();
    let paths: Vec<_> = settings.paths().map(|(name, path)| format!("{name} {path}")).collect();
    assert_eq!(paths, ["one /one", "two /x/y"]);
    let Target::Stdio(child) = &settings.connectors[1].upstreams[0].target else { panic!("stdio") };
    assert_eq!(child.cwd, Path::new("/etc/plugway"));
    assert_eq!(child.env.len(), 1, "{:?}", child.env);
    assert_eq!(child.max_children, 16);
}

#[test]
fn keys_and_forms() {
    assert_eq!(
        said(""),
        format!(
            "error: {PATH}: has no `name` for the connector\nhint: write `name: hub`\n\
             error: {PATH}: has no `upstreams`, so there is nothing to serve\n\
             hint: write `upstreams: [{{name: NAME, url: http://127.0.0.1:3000/mcp}}]`, or \
             `command` in place of `url`"
        )
    );
    refused(&[
        (
            "name: hub\nupstream:\n- {name: a, url: http://x}\n",
            ":2:1: `upstream` is not a key that plugway knows",
            "did you mean `upstreams`?",
        ),
        ("name: hub\nupstreams: 5\n", ":2:1: `upstreams` must be a list, not the number 5", ""),
        (
            "name: [a]\nupstreams:\n- {name: a, url: http://x}\n",
            ":1:1: `name` must be text, not a list",
            "",
        ),
        (
            "name: true\nupstreams:\n- {name: a, url: http://x}\n",
            ":1:1: `name` must be text, not `true`",
            "put the value in quotes",
        ),
        (
            &upstream("ulr: http://x"),
            ":3:13: `upstreams[0].ulr` is not a key that plugway knows",
            "did you mean `url`?",
        ),
        (
            &upstream("url: http://x, workers: []"),
            ":3:28: `upstreams[0].workers` does nothing yet: an upstream has one worker, written \
             as `url` or `command`",
            "take the key out",
        ),
        (
            &(upstream("url: http://x") + "auth: {mode: none}\n"),
            ":4:1: `auth` does nothing yet: callers are not identified, every client is anonymous",
            "take the key out",
        ),
        (
            &(upstream("url: http://x") + "limits: {max_body: 4}\n"),
            ":4:10: `limits.max_body` must be a size such as `4MiB`, not the number 4",
            "",
        ),
        (
            &(upstream("url: http://x") + "limits: {max_body: 4MB}\n"),
            ":4:10: `limits.max_body` is `4MB`, which is no size",
            "write a whole number and its unit",
        ),
        (
            &(upstream("url: http://x") + "limits: {session_idle: 1y}\n"),
            ":4:10: `limits.session_idle` is `1y`, which is no duration",
            "write a whole number and its unit",
        ),
        (
            &(upstream("url: http://x") + "limits: {max_sessions: 0}\n"),
            ":4:10: `limits.max_sessions` must be from 1 to 1000000",
            "leave the key out",
        ),
        (
            &(upstream("url: http://x") + "limits: {max_sessions: -1}\n"),
            ":4:10: `limits.max_sessions` must be a whole number that is not negative, not the \
             number -1",
            "",
        ),
    ]);
}

#[test]
fn names_and_paths() {
    let many = |rest: &str| {
        format!("connectors:\n- {{name: a, upstreams: [{{name: u, url: http://x}}]}}\n- {rest}\n")
    };
    refused(&[
        (
            "name: two words\nupstreams:\n- {name: a, url: http://x}\n",
            ":1:1: `name` is `two words`, which cannot be the name of a connector",
            "use 1 to 32",
        ),
        (
            "name: hub\nupstreams:\n- {name: a, url: http://x}\n- {name: a, url: http://y}\n",
            ":4:4: `upstreams[1].name` is `a`, like that of another upstream",
            "give each",
        ),
        (
            &many("{name: a, path: /b, upstreams: [{name: u, url: http://x}]}"),
            ":3:4: `connectors[1].name` is `a`, like that of another connector",
            "give each",
        ),
        (
            &many("{name: b, path: /a, upstreams: [{name: u, url: http://x}]}"),
            ":3:13: `connectors[1].path` is `/a`, like that of the connector `a`",
            "give each",
        ),
        (
            &many("{name: b, path: /metrics, upstreams: [{name: u, url: http://x}]}"),
            ":3:13: `connectors[1].path` is `/metrics`, which plugway keeps for itself",
            "write a base path",
        ),
        (
            &many("{name: b, path: /a/mcp, upstreams: [{name: u, url: http://x}]}"),
            ":3:13: `connectors[1].path` is `/a/mcp`, which would stand inside an endpoint",
            "write a base path",
        ),
        (
            &many("{name: b, path: b/, upstreams: [{name: u, url: http://x}]}"),
            ":3:13: `connectors[1].path` is `b/`, which is no base path",
            "write a base path",
        ),
        (
            &(many("{name: b, upstreams: [{name: u, url: http://x}]}") + "name: hub\n"),
            ":4:1: `name` stands at the top beside `connectors`",
            "move it",
        ),
        ("connectors: []\n", ":1:1: `connectors` is empty", "write at least one connector"),
    ]);
}

#[test]
fn upstreams() {
    refused(&[
        (
            &upstream("prefix: never"),
            ":3:3: `upstreams[0]` has neither `url` nor `command`",
            "say how",
        ),
        (
            &upstream("url: http://x, command: y"),
            ":3:3: `upstreams[0]` has both `url` and `command`",
            "keep one",
        ),
        (
            &upstream("url: ftp://x"),
            ":3:13: `upstreams[0].url` has the scheme `ftp`, but can only be http or https",
            "write",
        ),
        (&upstream("url: localhost"), ":3:13: `upstreams[0].url` has no scheme", "write"),
        (&upstream("url: /mcp"), ":3:13: `upstreams[0].url` has no scheme", "write"),
        (&upstream("url: 'http://a b'"), ":3:13: `upstreams[0].url` is no URL", "write"),
        (
            &upstream("url: 'http://x:99999'"),
            ":3:13: `upstreams[0].url` has a port that is no number from 0 to 65535",
            "write",
        ),
        (&upstream("url: 'http://u:p@x'"), ":3:13: `upstreams[0].url` holds a credential", "take"),
        (&upstream("url: 'http://x/#f'"), ":3:13: `upstreams[0].url` has a fragment", "write"),
        (
            &upstream("url: http://x, sharing: session"),
            ":3:28: `upstreams[0].sharing` belongs to `command`, but this upstream has a `url`",
            "take it out",
        ),
        (
            &upstream("command: x, sharing: sesion"),
            ":3:25: `upstreams[0].sharing` is `sesion`, but can only be session or connector",
            "did you mean `session`?",
        ),
        (&upstream("command: ''"), ":3:13: `upstreams[0].command` is empty", "name"),
        (
            &upstream("command: x, max_children: 0"),
            ":3:25: `upstreams[0].max_children` must be from 1 to 1024",
            "leave",
        ),
        (
            &upstream("command: x, env: {A: true}"),
            ":3:31: `upstreams[0].env.A` must be text, not `true`",
            "put the value in quotes",
        ),
        (
            &upstream("command: x, env: {'A=B': c}"),
            ":3:31: `upstreams[0].env.A=B` cannot be a variable of an environment",
            "write",
        ),
        (
            &upstream("command: x, env: {A: 'env://B'}"),
            ":3:31: `upstreams[0].env.A` refers to a secret, which does nothing yet",
            "name the variable",
        ),
        (
            &upstream("url: http://x, aliases: {t: 'a b'}"),
            ":3:38: `upstreams[0].aliases.t` is `a b`, which clients do not take as a name",
            "use 1 to 64",
        ),
        (
            &upstream("url: http://x, expose: []"),
            ":3:28: `upstreams[0].expose` is empty, so nothing would be offered",
            "name",
        ),
        (
            &upstream("url: http://x, timeouts: {connect: 0s}"),
            ":3:39: `upstreams[0].timeouts.connect` must be from 10ms to 24h",
            "leave",
        ),
    ]);
    assert_eq!(
        said(
            "name: hub\nupstreams:\n- {name: a, url: http://x, aliases: {t: same}}\n- {name: b, url: http://y, aliases: {s: same}}\n"
        ),
        format!(
            "error: {PATH}:4:38: `upstreams[1].aliases.s` is `same`, like that of `t` of the upstream `a`\nhint: show each thing under a name of its own"
        ),
    );
}

#[test]
fn plugins() {
    let plugin =
        |keys: &str| upstream("url: http://x") + &format!("plugins: {{team: {{{keys}}}}}\n");
    let digest = "0".repeat(63);
    refused(&[
        (
            &plugin("config: {}"),
            ":4:11: `plugins.team` has no `file`, and is not part of plugway",
            "name the component",
        ),
        (&plugin("file: ''"), ":4:18: `plugins.team.file` is empty", "name"),
        (
            &plugin(&format!("file: x, digest: 'sha256:{digest}'")),
            ":4:27: `plugins.team.digest` is no SHA-256 digest",
            "write",
        ),
        (
            &plugin("file: x, config: 5"),
            ":4:27: `plugins.team.config` must be a set of keys",
            "write",
        ),
        (
            &plugin("file: x, limits: {time_ms: 0}"),
            ":4:36: `plugins.team.limits.time_ms` must be from 1 to 60000",
            "leave",
        ),
        (
            &plugin("file: x, on_error: allow"),
            ":4:27: `plugins.team.on_error` is `allow`, but can only be deny or pass",
            "",
        ),
        (
            &plugin("file: x, grants: {headers: [Cookie]}"),
            ":4:46: `plugins.team.grants.headers[0]` is `cookie`, which no plugin gets",
            "plugins see",
        ),
        (
            &plugin("file: x, grants: {headers: ['a b']}"),
            ":4:46: `plugins.team.grants.headers[0]` is `a b`, which is no header name",
            "write",
        ),
        (
            &plugin("file: x, grants: {set_headers: [Host]}"),
            ":4:50: `plugins.team.grants.set_headers[0]` is `host`, which belongs to plugway",
            "the protocol",
        ),
        (
            &plugin("file: x, grants: {fetch: [a]}"),
            ":4:36: `plugins.team.grants.fetch` does nothing yet: plugins cannot fetch",
            "take",
        ),
        (
            &(upstream("url: http://x") + "policies: [gateway]\n"),
            ":4:12: `policies[0]` uses `gateway`, which is not part of plugway yet",
            "take it out",
        ),
        (
            &(upstream("url: http://x") + "router: rooter\n"),
            ":4:1: `router` uses `rooter`, which is no known plugin",
            "did you mean `router`?",
        ),
        (
            &(upstream("url: http://x") + "policies: [{config: {}}]\n"),
            ":4:12: `policies[0]` names no plugin",
            "write",
        ),
        (
            &(upstream("url: http://x") + "policies: [{use: router, confg: {}}]\n"),
            ":4:26: `policies[0].confg` is not a key that plugway knows",
            "did you mean `config`?",
        ),
    ]);
}

#[test]
fn a_file_replaces_a_default_only_where_the_entry_says_so() {
    let source = |rest: &str| {
        let settings = settings(&(upstream("url: http://x") + rest)).unwrap();
        settings.plugin("router").unwrap().source.clone()
    };
    assert_eq!(source("plugin_dir: plugins\n"), PluginSource::Bundled);
    assert_eq!(source("plugins: {router: {config: {a: 1}}}\n"), PluginSource::Bundled);
    let file = PluginSource::File("/etc/plugway/mine.wasm".into());
    assert_eq!(source("plugins: {router: {file: mine.wasm}}\n"), file);
}

#[test]
fn plugins_come_from_their_directory_and_places_have_their_own_configuration() {
    let text = upstream("url: http://x")
        + "plugin_dir: /plugins\npolicies: [team, {use: team, config: {b: 2}}]\n\
           plugins: {team: {config: {a: 1}}}\n";
    let settings = settings(&text).unwrap();
    let team = settings.plugin("team").unwrap();
    assert_eq!(team.source, PluginSource::File("/plugins/team.wasm".into()));
    let configs: Vec<_> =
        settings.connectors[0].policies.iter().map(|place| &*place.config).collect();
    assert_eq!(configs, [r#"{"a":1}"#, r#"{"b":2}"#]);
}

#[test]
fn every_problem_is_said_at_once_in_the_order_of_the_file() {
    let problems = settings(
        "name: hub\nlisten: nowhere\nupstrems: []\nlimits: {max_body: 1, max_sesions: 2}\n\
         upstreams:\n- {name: a, url: ftp://x}\n- {name: b, urll: x}\n- 5\n",
    )
    .unwrap_err();
    let keys: Vec<_> = problems.list.iter().map(|problem| problem.key.to_string()).collect();
    assert_eq!(
        keys,
        [
            "listen",
            "upstrems",
            "limits.max_body",
            "limits.max_sesions",
            "upstreams[0].url",
            "upstreams[1].urll",
            "upstreams[2]"
        ],
        "{problems}"
    );
}

#[test]
fn clashes_that_may_happen_are_warnings() {
    let settings = settings(
        "name: hub\nupstreams:\n- {name: a, url: http://x}\n- {name: a_b, url: http://y}\n",
    )
    .unwrap();
    assert_eq!(
        settings.warnings.as_warnings().to_string(),
        format!(
            "warning: {PATH}:4:4: `upstreams[1].name` is `a_b`: its tool `x` and the tool `b_x` of \
             the upstream `a` would have the same name\nhint: rename one of them; where it \
             happens, the first in the file keeps the name"
        )
    );
}

#[test]
fn where_to_listen() {
    let flag = Some("127.0.0.1:1");
    for (flag, variables, file, address, source) in [
        (flag, &[("PORT", "2")][..], "listen: 127.0.0.1:3", "127.0.0.1:1", "--listen"),
        (None, &[("PORT", "2")], "listen: 127.0.0.2:3", "127.0.0.2:2", "environment PORT"),
        (
            None,
            &[("PORT", "2"), ("CONNECTOR_PORT", "4"), ("MCP_SERVER_HOST", "::1")],
            "",
            "[::1]:4",
            "environment MCP_SERVER_HOST, CONNECTOR_PORT",
        ),
        (None, &[("PORT", "")], "listen: localhost:0", "127.0.0.1:0", "configuration file"),
        (None, &[("HOST", "[::1]")], "", "[::1]:9000", "environment HOST"),
        (None, &[], "", "127.0.0.1:9000", "default"),
    ] {
        let flags = Flags { listen: flag.map(str::to_owned), accept_exposure: None };
        let text = upstream("url: http://x") + file;
        let settings = parse(&text, Path::new(PATH), &flags, &environment(variables)).unwrap();
        let listen = settings.listen;
        assert_eq!((&*listen.address.to_string(), &*listen.source.to_string()), (address, source));
        assert_eq!(listen.exposure, Exposure::Loopback);
    }
}

#[test]
fn an_address_that_is_none() {
    let text = upstream("url: http://x");
    for (flag, variables, sentence) in [
        (Some("9000"), &[][..], "`--listen 9000` is no address"),
        (Some("example.com:80"), &[], "`--listen example.com:80` is no address"),
        (
            None,
            &[("PORT", "99999")],
            "the environment variable PORT is `99999`, but must be a port from 0 to 65535",
        ),
        (
            None,
            &[("HOST", "x86_64-linux")],
            "the environment variable HOST is `x86_64-linux`, but must be an IP address or localhost",
        ),
    ] {
        let flags = Flags { listen: flag.map(str::to_owned), accept_exposure: None };
        let problems = parse(&text, Path::new(PATH), &flags, &environment(variables)).unwrap_err();
        assert_eq!(problems.list[0].sentence, sentence);
    }
}

#[test]
fn exposure_is_refused_until_every_missing_part_is_accepted() {
    let refusal = said(&(upstream("url: http://x") + "listen: 0.0.0.0:9000\n"));
    assert_eq!(
        refusal,
        format!(
            "error: {PATH}: `exposure` does not allow listening on 0.0.0.0:9000, which other \
             machines can reach: callers are not authenticated, nothing encrypts the connection, \
             any Host header is accepted (`allowed_hosts` would name them)\n\
             hint: listen on 127.0.0.1, or start with `--accept-exposure \"REASON\"`, or write\n\n\
             exposure:\n  accept: [no-auth, no-tls, any-host]\n  \
             reason: \"why that is all right here\"\n"
        )
    );
    let lines = "exposure:\n  accept: [no-auth, no-tls, any-host]\n  reason: \"a test\"\n";
    let text = upstream("url: http://x") + "listen: 0.0.0.0:9000\n" + lines;
    let listen = settings(&text).unwrap().listen;
    let Exposure::Accepted(accepted) = &listen.exposure else { panic!("accepted") };
    assert_eq!((&*accepted.reason, accepted.by_flag), ("a test", false));
    assert_eq!(listen.hosts, Hosts::Any);

    let hosts = text.replace(", any-host", "") + "allowed_hosts: [MCP.example.com]\n";
    let listen = settings(&hosts).unwrap().listen;
    assert_eq!(listen.hosts, Hosts::Listed(vec!["mcp.example.com".into()]));

    let part = said(&text.replace("no-auth, ", ""));
    assert!(part.contains("can reach: callers are not authenticated\n"), "{part}");
    let reasonless = said(&text.replace("a test", " "));
    assert!(reasonless.contains("`exposure.reason` says nothing"), "{reasonless}");
    let word = said(&text.replace("no-auth", "no-authentication"));
    assert!(word.contains("can only be no-auth or no-tls or any-host"), "{word}");
}

#[test]
fn exposure_is_accepted_by_the_flag_too() {
    let accept = |reason: &str| {
        let flags = Flags {
            listen: Some("0.0.0.0:1".to_owned()),
            accept_exposure: Some(reason.to_owned()),
        };
        parse(&upstream("url: http://x"), Path::new(PATH), &flags, &environment(&[]))
    };
    assert!(accept(" ").is_err());
    let settings = accept("behind a proxy").unwrap();
    let Exposure::Accepted(accepted) = settings.listen.exposure else { panic!("accepted") };
    assert_eq!(accepted.parts, ["no-auth", "no-tls", "any-host"]);
    assert!(accepted.by_flag);
}

#[test]
fn hosts_are_exact() {
    for host in ["*.example.com", "http://x", "a/b", "u@x", ""] {
        let text = upstream("url: http://x") + &format!("allowed_hosts: ['{host}']\n");
        assert!(said(&text).contains("no value of a Host header"), "{host}");
    }
}
