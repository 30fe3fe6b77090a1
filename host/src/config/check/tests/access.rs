//! Who callers are, where plugway is administered, and what is said about it.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::support::{refused, said, upstream, with_secrets};
use crate::config::{AdminListen, Auth, Exposure};

/// A configuration whose tokens are in the variable `TOKENS`.
fn static_auth() -> String {
    upstream("url: http://x") + "auth: {mode: static, tokens: 'env://TOKENS'}\n"
}

#[test]
fn nobody_is_identified_unless_the_file_says_so() {
    for line in ["", "auth: none\n", "auth: {mode: none}\n"] {
        let settings = with_secrets(&(upstream("url: http://x") + line), &[]).unwrap();
        assert_eq!((settings.auth, settings.admin), (Auth::None, None));
        assert!(settings.warnings.list.is_empty());
    }
}

#[test]
fn tokens_are_read_from_where_the_reference_says_in_json_or_yaml() {
    let json = r#"{"0123456789abcdef": {"client_id": "ci", "scopes": ["a", "plugway:admin"],
        "tenant_id": "t", "expires_at": 4102444800}, "fedcba9876543210": {"client_id": "ci"}}"#;
    let yaml = "0123456789abcdef:\n  client_id: ci\n  scopes: a plugway:admin\n  tenant_id: t\n  \
                expires_at: 2100-01-01T00:00:00Z\nfedcba9876543210: {client_id: ci, scopes: ~}\n";
    for text in [json, yaml] {
        let settings = with_secrets(&static_auth(), &[("TOKENS", text)]).unwrap();
        assert!(settings.warnings.list.is_empty(), "{}", settings.warnings.as_warnings());
        let Auth::Static(tokens) = &settings.auth else { panic!("static") };
        let [first, second] = tokens.as_slice() else { panic!("two tokens") };
        assert_eq!(first.token.reveal(), "0123456789abcdef");
        assert_eq!((&*first.client_id, first.tenant_id.as_deref()), ("ci", Some("t")));
        assert_eq!(first.scopes, ["a".into(), "plugway:admin".into()]);
        let end = SystemTime::UNIX_EPOCH + Duration::from_hours(1_139_568);
        assert_eq!(first.expires_at, Some(end));
        assert!(second.scopes.is_empty() && second.tenant_id.is_none());
        assert_eq!(second.expires_at, None);
    }
}

#[test]
fn tokens_in_the_file_itself_are_taken_with_a_warning() {
    let text = upstream("url: http://x")
        + "auth: {mode: static, tokens: {0123456789abcdef: {client_id: ci}}}\n";
    let settings = with_secrets(&text, &[]).unwrap();
    let warnings = settings.warnings.as_warnings().to_string();
    assert!(warnings.contains(":4:22: `auth.tokens` holds the tokens themselves"), "{warnings}");
    assert!(matches!(settings.auth, Auth::Static(tokens) if tokens.len() == 1));
}

#[test]
fn a_map_of_ten_thousand_tokens_is_read() {
    let entry = |n: usize| format!("\"{n:032}\": {{\"client_id\": \"client-{n}\"}}");
    let map = format!("{{{}}}", (0..10_000).map(entry).collect::<Vec<_>>().join(",\n"));
    let settings = with_secrets(&static_auth(), &[("TOKENS", &map)]).unwrap();
    assert!(matches!(settings.auth, Auth::Static(tokens) if tokens.len() == 10_000));
}

#[test]
fn no_sentence_shows_a_token() {
    let token = "s3cret-s3cret-s3cret";
    for (map, sentence) in [
        ("{s3cret-s3cret-s3cret: {}}", "has an entry, number 1, that has no `client_id`"),
        ("{s3cret-s3cret-s3cret: ci}", "number 1, that has no set of keys after its token"),
        ("{ci: s3cret-s3cret-s3cret}", "number 1, that has a token of fewer than 16"),
        ("{' s3cret-s3cret-s3cret': {client_id: a}}", "that has a token with spaces or"),
        ("{s3cret-s3cret-s3cret: {s3cret-s3cret-s3cret: a}}", "has a key that plugway does not"),
        ("{s3cret-s3cret-s3cret: {client_id: ''}}", "has a `client_id` that is no text"),
        ("{s3cret-s3cret-s3cret: {client_id: a, scopes: 5}}", "has `scopes` that are no list"),
        ("{s3cret-s3cret-s3cret: {client_id: a, expires_at: soon}}", "has an `expires_at` that"),
        ("{}", "holds 0 tokens"),
        ("[s3cret-s3cret-s3cret]", "is no map of tokens"),
        ("s3cret-s3cret-s3cret", "is no map of tokens"),
        ("{s3cret-s3cret-s3cret: {}, s3cret-s3cret-s3cret: {}}", "has a token twice (line 1)"),
        ("{s3cret-s3cret-s3cret: [", "is neither JSON nor YAML"),
    ] {
        let found = with_secrets(&static_auth(), &[("TOKENS", map)]).unwrap_err().to_string();
        assert!(found.contains(sentence), "{map}: {found}");
        assert!(found.contains(":4:22: `auth.tokens` "), "{map}: {found}");
        assert!(!found.contains(token), "{map}: {found}");
        // The same map in the file itself.
        let inline =
            upstream("url: http://x") + &format!("auth: {{mode: static, tokens: {map}}}\n");
        assert!(!said(&inline).contains(token), "{map}: {}", said(&inline));
    }
}

#[test]
fn ways_to_identify_callers() {
    let auth = |text: &str| upstream("url: http://x") + &format!("auth: {text}\n");
    refused(&[
        (
            &auth("{mode: jwt}"),
            ":4:8: `auth.mode` is `jwt`, which does nothing yet",
            "write `static` or `none`",
        ),
        (&auth("entra"), ":4:1: `auth.mode` is `entra`, which does nothing yet", "write"),
        (
            &auth("remote-oauth"),
            ":4:1: `auth.mode` is `remote-oauth`, which does nothing yet",
            "write",
        ),
        (
            &auth("statik"),
            ":4:1: `auth` is `statik`, but can only be none or static or jwt or entra or \
             remote-oauth",
            "did you mean `static`?",
        ),
        (&auth("{}"), ":4:1: `auth` has no `mode`", "write `auth: none`"),
        (&auth("static"), ":4:1: `auth.tokens` is missing: nobody could come", "write"),
        (
            &auth("{mode: none, tokens: 'env://T'}"),
            ":4:20: `auth.tokens` belongs to the mode `static`, but the mode is `none`",
            "take it out",
        ),
        (
            &auth("{mode: static, tokens: 'env://T'}"),
            ":4:22: `auth.tokens` refers to the variable `T`, which is not set",
            "set it where plugway is started",
        ),
        (
            &auth("{mode: none, token: a}"),
            ":4:20: `auth.token` is not a key that plugway knows",
            "did you mean `tokens`?",
        ),
    ]);
}

#[test]
fn a_listener_for_others_lacks_authentication_only_where_strangers_may_come() {
    let tokens = [("TOKENS", "{0123456789abcdef: {client_id: ci}}")];
    let exposed = static_auth()
        + "listen: 0.0.0.0:9000\nexposure: {accept: [no-tls], reason: lab}\nallowed_hosts: [a]\n";
    let settings = with_secrets(&exposed, &tokens).unwrap();
    let Exposure::Accepted(accepted) = settings.listen.exposure else { panic!("accepted") };
    assert_eq!(accepted.parts, ["no-tls"]);
    let found = with_secrets(&(exposed + "anonymous: true\n"), &tokens).unwrap_err().to_string();
    assert!(found.contains("callers are not authenticated"), "{found}");
}

#[test]
fn what_callers_being_known_changes() {
    let useless = upstream("url: http://x") + "anonymous: true\n";
    let warnings = with_secrets(&useless, &[]).unwrap().warnings.as_warnings().to_string();
    assert!(warnings.contains("`anonymous` means nothing without `auth`"), "{warnings}");

    let forward = upstream("url: http://x, auth: forward")
        + "auth: {mode: static, tokens: 'env://TOKENS'}\nanonymous: true\nstatus: false\n";
    let tokens = [("TOKENS", "{0123456789abcdef: {client_id: ci, expires_at: 1}}")];
    let settings = with_secrets(&forward, &tokens).unwrap();
    let warnings = settings.warnings.as_warnings().to_string();
    assert!(warnings.contains("`upstreams[0].auth` passes on the tokens of `auth`"), "{warnings}");
    assert!(warnings.contains("has an entry, number 1, of `ci`, that ended"), "{warnings}");
    assert!(settings.connectors[0].anonymous && !settings.connectors[0].status);
}

#[test]
fn administration() {
    let admin = |text: &str| upstream("url: http://x") + &format!("admin: {text}\n");
    let settings =
        with_secrets(&admin("{listen: '127.0.0.1:9901', token_file: t}"), &[]).unwrap().admin;
    let settings = settings.unwrap();
    assert_eq!(settings.listen, AdminListen::Address("127.0.0.1:9901".parse().unwrap()));
    assert_eq!(settings.token_file, Some(PathBuf::from("/etc/plugway/t")));
    let by_scope = static_auth() + "admin: {socket: s}\n";
    let tokens = [("TOKENS", "{0123456789abcdef: {client_id: a, scopes: ['plugway:admin']}}")];
    let settings = with_secrets(&by_scope, &tokens).unwrap().admin.unwrap();
    assert_eq!(settings.listen, AdminListen::Socket("/etc/plugway/s".into()));

    let long = "x".repeat(100);
    refused(&[
        (
            &admin("{token_file: t}"),
            ":4:1: `admin` has neither `listen` nor `socket`",
            "write `listen",
        ),
        (
            &admin("{listen: '127.0.0.1:1', socket: s, token_file: t}"),
            ":4:1: `admin` has both `listen` and `socket`",
            "keep one",
        ),
        (
            &admin("{listen: '10.0.0.1:9901', token_file: t}"),
            ":4:9: `admin.listen` is `10.0.0.1:9901`, which other machines can reach",
            "write a loopback address",
        ),
        (
            &admin("{listen: '127.0.0.1:9000', token_file: t}"),
            ":4:9: `admin.listen` is `127.0.0.1:9000`, where clients are served",
            "write a loopback address with a port of its own",
        ),
        (
            &admin(&format!("{{socket: {long}, token_file: t}}")),
            ":4:9: `admin.socket` must be a path of 1 to 100 bytes",
            "name",
        ),
        (
            &admin("{socket: s}"),
            ":4:1: `admin` lets nobody in: there is neither a `token_file` nor a token of `auth` \
             with the scope `plugway:admin`",
            "write `token_file",
        ),
    ]);
}
