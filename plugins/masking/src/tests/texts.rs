//! Single texts: what is found in them, where it ends, and what only looks like it.

use super::{CARD, masked, settings, token};
use crate::config::Config;
use crate::find::find;
use crate::kind::Kinds;

/// A text with everything of all kinds replaced.
fn left(text: &str) -> String {
    let document = serde_json::to_string(text).unwrap();
    serde_json::from_str(&masked(r#"{"detect":["all"]}"#, &document)).unwrap()
}

#[test]
fn only_the_thing_itself_is_replaced() {
    for (text, wanted) in [
        (format!("Bearer {}.", token()), "Bearer [masked github]."),
        (format!("token%3D{}&x", token()), "token%3D[masked github]&x"),
        (format!("line\\n{}", token()), "line\\n[masked github]"),
        ("Write to <ann.lee+x@mail.example.co.uk>.".to_owned(), "Write to <[masked email]>."),
        ("mailto:ann@example.com?subject=x".to_owned(), "mailto:[masked email]?subject=x"),
        (
            "'ann@example.com', or bob@example.org...".to_owned(),
            "'[masked email]', or [masked email]...",
        ),
        ("https://ann:pass@example.com/x".to_owned(), "https://ann:[masked email]/x"),
        (format!("{CARD}, {CARD}"), "[masked card], [masked card]"),
        ("4111 1111 1111 1111 12/27".to_owned(), "[masked card] 12/27"),
        ("3782-822463-10005".to_owned(), "[masked card]"),
        ("4111\u{a0}1111\u{a0}1111\u{a0}1111".to_owned(), "[masked card]"),
        ("GB82 WEST 1234 5698 7654 32.".to_owned(), "[masked iban]."),
        ("iban=GB82WEST12345698765432&x".to_owned(), "iban=[masked iban]&x"),
        ("call +44 20 7946 0958 now".to_owned(), "call [masked phone] now"),
        ("(555) 234-5678 or 555-234-5678".to_owned(), "[masked phone] or [masked phone]"),
    ] {
        assert_eq!(left(&text), wanted, "{text}");
    }
}

#[test]
fn what_only_looks_like_it_stays() {
    for text in [
        // A wrong check digit, no issuer, the middle of something longer, a fraction.
        "4111111111111112",
        "9111111111111111",
        "14111111111111111",
        "a4111111111111111",
        "4111111111111111_1",
        "0.4111111111111111",
        "4111111111111111.5",
        "1-4111-1111-1111-1111",
        "4111-1111-1111-1111-1111",
        "4111 1111-1111 1111",
        "1200 4111 1111 1111 1111 1300",
        "GB82WEST12345698765433",
        "GB82WEST1234569876543",
        "XX82WEST12345698765432",
        "react@18.2.0 icon@2x.png @ann ann@localhost git@github.com:a/b a..b@",
        "ann@example..com",
        "2024-05-15 10:30 12.05.2024 192.168.100.200 1,250,000",
        "+12 -- +1234567 ++491234567890",
    ] {
        assert_eq!(left(text), text);
    }
}

#[test]
fn what_becomes_something_by_masking_is_masked_too() {
    let joined = format!("{}.bob@example.com", token());
    let once = left(&joined);
    assert_eq!(left(&once), once);
    assert!(find(once.as_bytes(), None, Kinds::all()).is_empty(), "{once}");
}

#[test]
fn the_configuration_is_obeyed() {
    let text =
        format!(r#""ann@corp.example bob@example.com {CARD} 4111-1111-1111-1111 {}""#, token());
    for (config, wanted) in [
        (
            r#"{"detect":["personal"],"allow":["*@corp.example","4111111111111111"]}"#.to_owned(),
            text.replace("bob@example.com", "[masked email]"),
        ),
        (r#"{"detect":["github"],"replace":"***"}"#.to_owned(), text.replace(&token(), "***")),
        (
            r#"{"detect":["secrets"],"replace":"<{kind}>"}"#.to_owned(),
            text.replace(&token(), "<github>"),
        ),
        (format!(r#"{{"detect":["github"],"allow":["{}"]}}"#, token()), text.clone()),
        (
            r#"{"detect":["email"],"allow":["*@CORP.example"]}"#.to_owned(),
            text.replace("ann@corp.example", "[masked email]")
                .replace("bob@example.com", "[masked email]"),
        ),
    ] {
        assert_eq!(masked(&config, &text), wanted, "{config}");
    }
    // Telephone numbers only where they are asked for.
    assert_eq!(masked("{}", r#""+44 20 7946 0958""#), r#""+44 20 7946 0958""#);
}

#[test]
fn what_would_not_mask_is_refused() {
    for (config, sentence) in [
        (
            r#"{"detect":["mail"]}"#,
            "detect[0]: is `mail`, but can only be all, secrets, personal, aws,",
        ),
        (r#"{"detect":[]}"#, "detect: with nothing to look for"),
        (r#"{"allow":[""]}"#, "allow[0]: an empty glob"),
        (r#"{"only":{"tools":["a",""]}}"#, "only.tools[1]: an empty glob"),
        (r#"{"replace":""}"#, "replace: has to begin and end"),
        (r#"{"replace":"XXX"}"#, "replace: has to begin and end"),
        (r#"{"replace":"[a@example.com]"}"#, "replace: is itself something that is masked"),
    ] {
        let refused = serde_json::from_str::<Config>(config).unwrap().checked().unwrap_err();
        assert!(refused.to_string().starts_with(sentence), "{refused}");
    }
    let long = format!(r#"{{"replace":"[{}]"}}"#, "x".repeat(200));
    assert!(serde_json::from_str::<Config>(&long).unwrap().checked().is_err());
    assert!(serde_json::from_str::<Config>(r#"{"detects":[]}"#).is_err());
}

#[test]
fn only_what_is_named_is_looked_at() {
    let only = settings(r#"{"only":{"tools":["mail_*","read"],"upstreams":["a*"]}}"#);
    for (tool, target, covered) in [
        (Some("mail_list"), Some(("a", "list")), true),
        (Some("files_read"), Some(("ab", "read")), true),
        (Some("files_list"), Some(("a", "list")), false),
        (Some("mail_list"), Some(("b", "list")), false),
        // A prompt is no tool; of what is not known to be another server's it is one of these.
        (None, Some(("a", "x")), true),
        (Some("mail_list"), None, true),
    ] {
        assert_eq!(only.covers(tool, target), covered, "{tool:?} {target:?}");
    }
    assert!(settings("{}").covers(Some("x"), None));
}

#[test]
fn rows_arrays_and_escapes_hide_nothing() {
    let iban = "DE89370400440532013000";
    for text in [
        format!("Ann,{CARD},123,12/26"),
        format!("17,{CARD}"),
        format!("[{CARD},{CARD}]"),
        format!("1,{iban},EUR"),
        r"ann\u0040example.com".to_owned(),
    ] {
        let json = serde_json::json!({ "text": text }).to_string();
        let masked = masked("{}", &json);
        assert!(masked.contains("[masked "), "{text}: {masked}");
        assert!(!masked.contains(CARD) && !masked.contains(iban), "{text}: {masked}");
    }
}

#[test]
fn what_is_given_back_stays_as_it_is() {
    let address = "job@example.com";
    for json in [
        serde_json::json!({ "resultType": "input_required", "requestState": address }),
        serde_json::json!({ "progressToken": address, "progress": 1 }),
        serde_json::json!({ "task": { "taskId": address } }),
        serde_json::json!({ "inputRequests": { address: { "method": "roots/list" } } }),
        serde_json::json!({ "progressToken": 4_111_111_111_111_111_u64 }),
    ] {
        let text = json.to_string();
        assert_eq!(masked("{}", &text), text);
    }
    let inside = serde_json::json!({ "structuredContent": { "requestState": address } });
    assert!(masked("{}", &inside.to_string()).contains("[masked email]"));
}

#[test]
fn a_key_that_is_cut_off_takes_the_rest_with_it() {
    let key = "Q2x1ZWxlc3MgYnl0ZXMgdGhhdCBhcmUgbm8ga2V5IGF0IGFsbA";
    for head in ["\n", "\nVersion: GnuPG v2.0.22 (GNU/Linux)\n\n", "\n> "] {
        let text = format!("a -----BEGIN PGP PRIVATE KEY BLOCK-----{head}{key}");
        let masked = masked("{}", &serde_json::json!({ "text": text }).to_string());
        assert!(!masked.contains(key), "{masked}");
    }
    let word =
        serde_json::json!({ "text": "It begins with -----BEGIN PRIVATE KEY----- (see below)." });
    assert!(masked("{}", &word.to_string()).contains("see below"));
}
