//! Where to listen, and who may reach it.

use std::path::Path;

use super::support::{PATH, environment, said, settings, upstream};
use crate::config::{Exposure, Flags, Hosts, parse};

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
        (
            None,
            &[("CONNECTOR_PORT", " 8000\n")],
            "",
            "127.0.0.1:8000",
            "environment CONNECTOR_PORT",
        ),
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
             machines can reach: callers are not authenticated (`auth` would identify them), nothing \
             encrypts the connection, any Host header is accepted (`allowed_hosts` would name them)\n\
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
    assert!(
        part.contains("can reach: callers are not authenticated (`auth` would identify them)\n"),
        "{part}"
    );
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
