//! The checks over made inputs: texts that nearly are what they should be.

mod made;

use made::{any_bytes, definition, json, message, mutated, object, stream, template};
use plugway_fuzz_checks::{SEPARATOR, run};
use proptest::prelude::*;

fn joined(parts: &[String]) -> Vec<u8> {
    parts.join(&SEPARATOR.to_string()).into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_hold_everywhere(data in any_bytes()) {
        for (_, check) in plugway_fuzz_checks::TARGETS {
            check(&data);
        }
    }

    #[test]
    fn messages(data in mutated(message())) {
        run("message", &data);
    }

    #[test]
    fn json_texts(data in mutated(json())) {
        run("message", &data);
        run("document", &data);
    }

    #[test]
    fn documents(text in json(), pointer in "(/(~?[01a-c]|[a-z]{1,3}|[0-3]|01|-|é)?){0,4}") {
        run("document", &joined(&[text, pointer]));
    }

    #[test]
    fn merges(target in object(), patch in object()) {
        run("merge", &joined(&[target, patch]));
    }

    #[test]
    fn arguments_in_headers(
        parameters in prop::collection::vec(("[a-c]", "[A-Ca-c ]{1,2}", "string|integer|boolean|number"), 0..4),
        values in prop::collection::vec(("[a-c]", "-?(0|[1-9][0-9]{0,17})(\\.0{1,2})?|true|null|\"[ -!#-\\[\\]-~é]{0,9}\""), 0..4),
    ) {
        let properties: Vec<String> = parameters
            .iter()
            .map(|(name, header, kind)| format!(r#""{name}":{{"type":"{kind}","x-mcp-header":"{header}"}}"#))
            .collect();
        let definition = format!(
            r#"{{"name":"t","inputSchema":{{"type":"object","properties":{{{}}}}}}}"#,
            properties.join(",")
        );
        let values: Vec<String> =
            values.iter().map(|(name, value)| format!(r#""{name}":{value}"#)).collect();
        run("mirrored", &joined(&[definition, format!("{{{}}}", values.join(","))]));
    }

    #[test]
    fn streams(cut: u8, limit: u8, stream in stream()) {
        run("sse", &[&[cut, limit], &*stream].concat());
    }

    #[test]
    fn encoded_messages(data in mutated(message())) {
        run("sse", &[b"\x00\xff", &*data].concat());
    }

    #[test]
    fn bytes_of_servers(data in mutated(message()), lines in "[a{}\\r\\n]{0,90}") {
        run("server_bytes", &data);
        run("server_bytes", lines.as_bytes());
    }

    #[test]
    fn headers(text in r"(=\?base64\?)?[ -~é\t\r\n]{0,12}(\?=)?") {
        run("header", text.as_bytes());
    }

    #[test]
    fn session_ids(text in r"v1\.[0-9a-fA-F]{31,33}") {
        run("session_id", text.as_bytes());
    }

    #[test]
    fn templates(template in template(), uri in "(a|git)?:(//)?[ab/é]{0,12}") {
        run("uri_template", &joined(&[template, uri]));
    }

    #[test]
    fn definitions(entries in prop::collection::vec(definition(), 0..12)) {
        run("definitions", &joined(&entries));
    }
}

#[test]
fn nesting_is_accepted_up_to_the_limit_and_no_further() {
    for depth in 120..136 {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"[{"a":"#, "}]")] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            run("document", text.as_bytes());
            let message =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"x":{text}}}}}"#);
            run("message", message.as_bytes());
            run("merge", &joined(&[text.clone(), text]));
        }
    }
}

#[test]
fn a_hundred_thousand_keys_are_read() {
    let keys: Vec<String> = (0..100_000).map(|place| format!(r#""k{place}":{place}"#)).collect();
    let object = format!("{{{}}}", keys.join(","));
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{object}}}"#);
    assert!(plugway::protocol::Message::parse(message.into()).is_ok());
    let document = plugway::protocol::Document::parse(&object).unwrap();
    assert_eq!(document.pointer("/k99999").as_deref(), Some("99999"));
    let merged = plugway::protocol::merge::merge(&object, &object).unwrap();
    assert_eq!(merged, object);
}

#[test]
fn a_plugin_reads_every_digit() {
    let text = r#" {"n":12345678901234567890123.5000, "big":1e999,"a":[1.10]} "#;
    let document = plugway::protocol::Document::parse(text).unwrap();
    assert_eq!(document.pointer("/n").as_deref(), Some("12345678901234567890123.5000"));
    assert_eq!(document.pointer("/big").as_deref(), Some("1e999"));
    assert_eq!(document.pointer("/a/0").as_deref(), Some("1.10"));
}
