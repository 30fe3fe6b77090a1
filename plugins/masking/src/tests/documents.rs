//! What is masked in a JSON text, and what stays byte for byte.

use serde_json::{Value, json};

use super::{CARD, masked, settings, token};
use crate::document::{Masked, TooDeep, mask};
use crate::kind::{Counts, Kind};

#[test]
fn what_holds_nothing_is_kept() {
    for text in [
        "null",
        r#"{"a":1e2,"b":[ 1.50,-0 ],"c":"\u0041\/","d":{}}"#,
        r#"{"content":[{"type":"text","text":"Order 2024-00018273, 3 parcels"}]}"#,
        "not JSON at all: {",
    ] {
        assert_eq!(mask(text, &settings("{}")), Ok(Masked::default()), "{text}");
    }
}

#[test]
fn only_strings_with_something_in_them_change() {
    let text = format!(
        "{{ \"n\" : 1.50, \"s\":\"caf\\u00e9 \\/\",\"t\":\"key {}\\n\" ,\"big\":12345678901234567890}}",
        token()
    );
    let wanted = text.replace(&token(), "[masked github]");
    assert_eq!(masked("{}", &text), wanted);
}

#[test]
fn everything_that_a_server_can_say_is_looked_at() {
    let secret = token();
    for document in [
        json!({"content": [{"type": "text", "text": secret}]}),
        json!({"content": [], "structuredContent": {"deep": [{"er": [secret]}]}}),
        json!({"content": [{"type": "resource", "resource": {"uri": "a:b", "text": secret}}]}),
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": secret}}]}),
        json!({"contents": [{"uri": "a:b", "text": secret}]}),
        json!({"code": -1, "message": secret, "data": {"why": secret}}),
        json!({"level": "info", "data": secret}),
        json!({"progressToken": 1, "progress": 1, "message": secret}),
        json!({"message": secret, "requestedSchema": {"properties": {"a": {"default": secret}}}}),
        json!({"_meta": {"x/y": secret}}),
        json!(secret),
    ] {
        let text = document.to_string();
        let left = masked("{}", &text);
        assert!(!left.contains(&secret), "{left}");
        assert_eq!(left, text.replace(&secret, "[masked github]"));
    }
}

#[test]
fn escapes_hide_nothing() {
    let secret = token();
    let each: Vec<String> =
        secret.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect();
    let each = each.concat();
    let aws = ["\\u0041K", "\\u0049A", "IOSFODNN7EXAMPLE"].concat();
    let slash = format!(r#"{{"aws_secret_access_key":"{}\/{}"}}"#, "a".repeat(20), "B".repeat(19));
    for (text, kind) in [
        (format!(r#""{each}""#), "github"),
        (format!(r#"{{"a":"x {aws}"}}"#), "aws"),
        (slash, "aws"),
        (r#""ann\u0040example.com""#.to_owned(), "email"),
    ] {
        assert!(masked("{}", &text).contains(&format!("[masked {kind}]")), "{text}");
    }
    // Half a pair is no text, and comes out as it went in.
    let text = format!(r#""\ud83d {secret} \uD83D\uDE00 \udc00""#);
    assert_eq!(masked("{}", &text), "\"\\ud83d [masked github] \u{1f600} \\udc00\"");
}

#[test]
fn private_keys_go_whole_however_their_lines_end() {
    let rule = "-".repeat(5);
    for (end, label) in [("\n", "RSA "), ("\\n", ""), ("\r\n", "OPENSSH "), (" ", "EC ")] {
        let lines = [
            format!("{rule}BEGIN {label}PRIVATE KEY{rule}"),
            "MIIEowIBAAKCAQEA".repeat(4),
            "abc+/=".to_owned(),
            format!("{rule}END {label}PRIVATE KEY{rule}"),
        ];
        let text = json!(format!("before {} after", lines.join(end))).to_string();
        assert_eq!(masked("{}", &text), r#""before [masked private_key] after""#);
        let cut = json!(format!("before {}", lines[..2].join(end))).to_string();
        assert_eq!(masked("{}", &cut), r#""before [masked private_key]""#);
    }
    let public = json!(format!("{rule}BEGIN PUBLIC KEY{rule}\nMIIB\n{rule}END PUBLIC KEY{rule}"));
    assert_eq!(masked("{}", &public.to_string()), public.to_string());
}

#[test]
fn a_card_may_be_a_number() {
    let text = format!(r#"{{"card":{CARD},"f":{CARD}.00,"g":{CARD}.5,"e":{CARD}e1,"n":-{CARD}}}"#);
    let wanted = format!(
        r#"{{"card":"[masked card]","f":"[masked card]","g":{CARD}.5,"e":{CARD}e1,"n":-{CARD}}}"#
    );
    assert_eq!(masked("{}", &text), wanted);
    assert_eq!(masked(r#"{"detect":["email"]}"#, &text), text);
}

#[test]
fn names_are_masked_where_something_stands_in_them_and_stay_apart() {
    let text = r#"{"ann@example.com":1,"bob@example.com":{"x":2},"plain":3}"#;
    let left = masked("{}", text);
    assert_eq!(left, r#"{"[masked email]":1,"[masked email] 2":{"x":2},"plain":3}"#);
}

#[test]
fn a_name_says_what_its_value_is() {
    let (aws, azure) = ("x".repeat(40), format!("{}==", "y".repeat(86)));
    for (name, value, kind) in [
        ("SecretAccessKey", &aws, "aws"),
        ("aws-secret-access-key", &aws, "aws"),
        ("AZURE_STORAGE_ACCOUNT_KEY", &azure, "azure"),
    ] {
        let text = json!({ name: value, "other": value }).to_string();
        let left: Value = serde_json::from_str(&masked("{}", &text)).unwrap();
        assert_eq!(left, json!({ name: format!("[masked {kind}]"), "other": value }));
    }
}

#[test]
fn base64_is_left_unless_it_says_that_it_is_text() {
    let blob = crate::blob::encode(format!("key {}", token()).as_bytes());
    let clean = crate::blob::encode(b"key [masked github]");
    for media in ["text/plain; charset=utf-8", "application/json", "image/svg+xml"] {
        for text in [
            format!(r#"{{"uri":"a:b","blob":"{blob}","mimeType":"{media}"}}"#),
            format!(r#"{{"mimeType":"{media}","blob":"{blob}","x":{{"mimeType":"image/png"}}}}"#),
        ] {
            assert_eq!(masked("{}", &text), text.replace(&blob, &clean));
        }
    }
    for text in [
        format!(r#"{{"uri":"a:b","blob":"{blob}","mimeType":"image/png"}}"#),
        format!(r#"{{"uri":"a:b","blob":"{blob}"}}"#),
        format!(r#"{{"type":"image","data":"{blob}","mimeType":"text/plain"}}"#),
    ] {
        assert_eq!(masked("{}", &text), text);
    }
    // What is called so and is none is a text like any other; of two, both are looked at.
    let text = format!(r#"{{"blob":"{}","blob":"{blob}","mimeType":"text/plain"}}"#, token());
    let left = masked("{}", &text);
    assert_eq!(
        left,
        format!(r#"{{"blob":"[masked github]","blob":"{clean}","mimeType":"text/plain"}}"#)
    );
}

#[test]
fn what_was_found_is_counted() {
    let text = format!(r#"["{}","ann@example.com and bob@example.org",{CARD}]"#, token());
    let counts = mask(&text, &settings("{}")).unwrap().counts;
    let found: Vec<_> = counts.found().collect();
    assert_eq!(found, [(Kind::Github, 1), (Kind::Card, 1), (Kind::Email, 2)]);
    assert_eq!(Counts::default().found().count(), 0);
}

#[test]
fn depth_is_bounded() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(mask(&nested(256), &settings("{}")), Ok(Masked::default()));
    assert_eq!(mask(&nested(257), &settings("{}")), Err(TooDeep));
}

#[test]
fn an_answer_takes_time_in_proportion_to_its_length() {
    // Each begins something everywhere, and nothing anywhere.
    let rule = "-".repeat(5);
    for part in [
        "sk-proj-",
        "-sk-ant-",
        "eyJ.",
        "_eyJ",
        "a@",
        "@",
        "-AIza",
        "AKIA",
        "sig=",
        "ey:",
        "+",
        "(",
        "1 ",
        "1234 ",
        "DE12",
        "-----BEGIN ",
        "y:",
        "_y:",
        "glpat-",
        "xoxb-",
        "secretaccesskey:",
        "00 11 ",
        "%3D",
        &format!("{rule}BEGIN PRIVATE KEY{rule}{rule}END X{rule}"),
    ] {
        // 256 KiB each: quadratic work would take longer than any test may.
        let text = part.repeat((256 << 10) / part.len());
        crate::find::find(text.as_bytes(), None, crate::kind::Kinds::all());
    }
}
