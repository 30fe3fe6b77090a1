//! What is refused, and in which words.
#![expect(clippy::too_many_lines, reason = "tables, a row for each refusal")]

use super::support::{PATH, refused, said, upstream};

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
            &(upstream("url: http://x") + "tls: {}\n"),
            ":4:1: `tls` does nothing yet: plugway listens without TLS",
            "take the key out",
        ),
        (
            &(upstream("url: http://x") + "confirm_timeout: 11m\n"),
            ":4:1: `confirm_timeout` must be from 1s to 10m",
            "leave the key out for the default",
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
            ":3:31: `upstreams[0].env.A` must be text",
            "put the value in quotes",
        ),
        (
            &upstream("command: x, env: {'A=B': c}"),
            ":3:31: `upstreams[0].env.A=B` cannot be a variable of an environment",
            "write",
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
            &plugin("file: x, grants: {announce: true}"),
            ":4:36: `plugins.team.grants.announce` does nothing yet: plugins cannot announce changes",
            "take",
        ),
        (
            &(upstream("url: http://x") + "policies: [transfer]\n"),
            ":4:12: `policies[0]` uses `transfer`, which is not part of plugway yet",
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
