//! Links in texts: escaped at any depth, cut at any place, and what is none.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;

use super::Scanner;
use super::link::is_sound;

fn origins() -> Arc<[Arc<str>]> {
    ["http://127.0.0.1:8000", "https://pub.example", "http://[::1]:8000"].map(Arc::from).into()
}

/// The text in pieces of these lengths, with each link as `<path|name>`.
fn shown(text: &str, cuts: &[usize]) -> String {
    let mut replace = |_: &Arc<str>, path: &str, name: &str| Some(format!("<{path}|{name}>"));
    let mut scanner = Scanner::new(origins());
    let (mut out, mut rest) = (Vec::new(), Bytes::copy_from_slice(text.as_bytes()));
    for cut in cuts {
        let piece = rest.split_to((*cut).min(rest.len()));
        out.extend_from_slice(&scanner.piece(piece, &mut replace));
    }
    out.extend_from_slice(&scanner.piece(rest, &mut replace));
    out.extend_from_slice(&scanner.rest(&mut replace));
    String::from_utf8(out).unwrap()
}

/// The text as it stands in a JSON string, without its quotation marks.
fn nested(text: &str, slashes: bool) -> String {
    let text = serde_json::to_string(text).unwrap();
    let text = text.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
    if slashes { text.replace('/', "\\/") } else { text.to_owned() }
}

#[test]
fn a_link_ends_where_the_text_around_it_begins() {
    let shown_link = "</artifacts/s/t/a.csv|a.csv>";
    let link = "http://127.0.0.1:8000/artifacts/s/t/a.csv";
    for (text, wanted) in [
        ("LINK", "A"),
        ("see LINK.", "see A."),
        ("LINK, LINK; LINK! LINK?", "A, A; A! A?"),
        ("[a](LINK) <LINK> (LINK) `LINK` 'LINK'", "[a](A) <A> (A) `A` 'A'"),
        (r#"{"u":"LINK","v":"LINK"}"#, r#"{"u":"A","v":"A"}"#),
        (r#"{"u":"LINK is there"}"#, r#"{"u":"A is there"}"#),
        (r#"{"u":"LINK\nLINK\tx"}"#, r#"{"u":"A\nA\tx"}"#),
        (r#"{\"u\": \"LINK\"}"#, r#"{\"u\": \"A\"}"#),
        ("LINK#here", "LINK#here"),
        ("LINK?download=1", "LINK?download=1"),
        ("LINK? Or LINK# x", "A? Or A# x"),
        ("xLINK", "xA"),
        ("LINK/", "LINK/"),
    ] {
        let (text, wanted) = (text.replace("LINK", link), wanted.replace("LINK", link));
        assert_eq!(shown(&text, &[]), wanted.replace('A', shown_link), "{text}");
    }
}

#[test]
fn what_is_no_link_to_a_file_of_the_server_stays() {
    for text in [
        "http://127.0.0.1:8001/artifacts/s/t/a.csv",
        "http://127.0.0.1:80000/artifacts/s/t/a.csv",
        "https://127.0.0.1:8000/artifacts/s/t/a.csv",
        "http://127.0.0.1:8000.evil/artifacts/s/t/a.csv",
        "http://u@127.0.0.1:8000/artifacts/s/t/a.csv",
        "http://127.0.0.1:8000@evil/artifacts/s/t/a.csv",
        "http://other/artifacts/s/t/a.csv",
        "http://127.0.0.1:8000/Artifacts/s/t/a.csv",
        "http://127.0.0.1:8000/artifacts",
        "http://127.0.0.1:8000/artifacts/",
        "http://127.0.0.1:8000//artifacts/a",
        "http://127.0.0.1:8000/x/artifacts/a",
        "http://127.0.0.1:8000/artifacts/../mcp",
        "http://127.0.0.1:8000/artifacts/s/%2e%2E/a",
        "http://127.0.0.1:8000/artifacts/s/./a",
        "http://127.0.0.1:8000/artifacts/s//a",
        "http://127.0.0.1:8000/artifacts/s%2fa",
        "http://127.0.0.1:8000/artifacts/s%5Ca",
        "http://127.0.0.1:8000/artifacts/a%00",
        "http://127.0.0.1:8000/artifacts/a%0d%0aX:",
        "http://127.0.0.1:8000/artifacts/a%2",
        "\"http://127.0.0.1:8000/artifacts/s/..\"",
        "http",
        "",
    ] {
        assert_eq!(shown(text, &[]), text);
    }
    let long = format!("http://127.0.0.1:8000/artifacts/{}", "a".repeat(3_000));
    assert_eq!(shown(&long, &[]), long);
    let deep = format!("http:{0}/{0}/127.0.0.1:8000/artifacts/a", "\\".repeat(40));
    assert_eq!(shown(&deep, &[]), deep);
}

#[test]
fn schemes_and_hosts_are_the_same_in_upper_case_and_every_origin_counts() {
    for origin in ["http://127.0.0.1:8000", "https://PUB.Example", "http://[::1]:8000"] {
        assert_eq!(shown(&format!("{origin}/artifacts/a"), &[]), "</artifacts/a|a>");
    }
}

#[test]
fn names_that_are_not_encoded_are_when_they_are_a_whole_string() {
    for (name, encoded) in [
        ("my file.csv", "my%20file.csv"),
        ("fig (1)'s.png", "fig%20%281%29%27s.png"),
        ("caf\u{e9}.csv", "caf%C3%A9.csv"),
        ("\u{1f4c8} <b>.svg", "%F0%9F%93%88%20%3Cb%3E.svg"),
        ("a b", "a%20b"),
    ] {
        let value =
            serde_json::json!({"url": format!("http://127.0.0.1:8000/artifacts/s/t/{name}")});
        let text = value.to_string();
        let ascii: String = text
            .encode_utf16()
            .map(|unit| match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
                _ => format!("\\u{unit:04x}"),
            })
            .collect();
        let link = format!("</artifacts/s/t/{encoded}|{encoded}>");
        for text in [text, ascii] {
            assert_eq!(shown(&text, &[]), format!(r#"{{"url":"{link}"}}"#), "{text}");
            let inner = nested(&text, true);
            assert_eq!(shown(&inner, &[]), format!(r#"{{\"url\":\"{link}\"}}"#), "{inner}");
        }
    }
    let sentence = r#"{"text":"http://127.0.0.1:8000/artifacts/s/t/a.csv and b.csv"}"#;
    assert_eq!(
        shown(sentence, &[]),
        r#"{"text":"</artifacts/s/t/a.csv|a.csv> and b.csv"}"#,
        "a sentence is no name"
    );
}

#[test]
fn a_text_that_begins_with_a_link_is_no_name() {
    for (text, wanted) in [
        ("L/plot.png: the plot", "<plot.png>: the plot"),
        ("L/plot.png, and L/b.csv.", "<plot.png>, and <b.csv>."),
        ("L/plot.png. Open it.", "<plot.png>. Open it."),
        ("L/plot.png) is it", "<plot.png>) is it"),
        ("L/plot.png** x", "<plot.png>** x"),
        ("L/plot.png` x", "<plot.png>` x"),
        ("L/plot.png<br>next", "<plot.png><br>next"),
        ("L/plot.png\u{3002}\u{597d}", "<plot.png>\u{3002}\u{597d}"),
        ("L/plot.png!", "<plot.png>!"),
        ("L/archive.tar.gz... done", "<archive.tar.gz>... done"),
        ("L/README is ready", "<README> is ready"),
        ("L/README is ready.", "<README> is ready."),
        ("L/README: see plot.png", "<README>: see plot.png"),
        ("L/README.", "<README>."),
        ("L/my file (1).csv", "<my%20file%20%281%29.csv>"),
        ("L/my file.csv.", "<my%20file.csv>."),
        ("L/results (1)", "<results> (1)"),
        ("L/caf\u{e9}.csv: the file", "<caf%C3%A9.csv>: the file"),
    ] {
        let text = text.replace('L', "http://127.0.0.1:8000/artifacts/s/t");
        let wanted = wanted.split('<').map(|part| match part.split_once('>') {
            Some((name, rest))
                if name.contains(|letter: char| letter.is_ascii_alphabetic()) && name != "br" =>
            {
                format!("</artifacts/s/t/{name}|{name}>{rest}")
            }
            Some((name, rest)) => format!("<{name}>{rest}"),
            None => part.to_owned(),
        });
        let wanted: String = wanted.collect();
        for key in ["text", "remote_url_of"] {
            let text = serde_json::json!({key: text}).to_string();
            let wanted = serde_json::json!({key: wanted}).to_string();
            assert_eq!(shown(&text, &[]), wanted);
            for slashes in [false, true] {
                let inner = nested(&wanted, slashes);
                // What stands in the place of a link has no slashes to escape.
                let inner = inner.replace(r"<\/artifacts\/s\/t\/", "</artifacts/s/t/");
                assert_eq!(shown(&nested(&text, slashes), &[]), inner);
            }
        }
    }
}

#[test]
fn an_address_is_one_to_its_end_unless_a_word_of_it_ends_like_a_file() {
    let origin = "http://127.0.0.1:8000/artifacts/s/t";
    for (name, encoded) in
        [("the results (1)", "the%20results%20%281%29"), ("Smith, J", "Smith,%20J")]
    {
        let whole = serde_json::json!({"remote_uri": format!("{origin}/{name}")}).to_string();
        let link = format!("</artifacts/s/t/{encoded}|{encoded}>");
        assert_eq!(shown(&whole, &[]), format!(r#"{{"remote_uri":"{link}"}}"#));
        let inner = nested(&whole, false);
        assert_eq!(shown(&inner, &[]), format!(r#"{{\"remote_uri\":\"{link}\"}}"#));
    }
    let said = format!(r#"{{"url": "{origin}/a.csv (good for 1 h)"}}"#);
    let wanted = r#"{"url": "</artifacts/s/t/a.csv|a.csv> (good for 1 h)"}"#;
    assert_eq!(shown(&said, &[]), wanted);
}

#[test]
fn the_uri_of_a_resource_stays() {
    let link = "http://127.0.0.1:8000/artifacts/s/t/a.csv";
    for (text, wanted) in [
        (r#"{"uri":"LINK","text":"LINK"}"#, r#"{"uri":"LINK","text":"A"}"#),
        ("{\"uri\" :\n  \"LINK\",\"a\":1}", "{\"uri\" :\n  \"LINK\",\"a\":1}"),
        (r#"{"uri":["LINK"]}"#, r#"{"uri":["A"]}"#),
        (r#"{"text":"{\"uri\":\"LINK\"}"}"#, r#"{"text":"{\"uri\":\"A\"}"}"#),
        (r#"{"remote_uri":"LINK"}"#, r#"{"remote_uri":"A"}"#),
    ] {
        let (text, wanted) = (text.replace("LINK", link), wanted.replace("LINK", link));
        let wanted = wanted.replace('A', "</artifacts/s/t/a.csv|a.csv>");
        for piece in [1, 7, text.len()] {
            assert_eq!(shown(&text, &vec![piece; text.len()]), wanted, "{text}");
        }
    }
}

#[test]
fn slashes_of_an_unusual_encoder_are_slashes() {
    let text = r"http:\u002f\u002F127.0.0.1:8000\u002fartifacts\\u002fa\u002eb\u0022";
    assert_eq!(shown(text, &[]), r"</artifacts/a.b|a.b>\u0022");
}

/// Texts that have a lot to do with links.
fn parts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "http://127.0.0.1:8000/artifacts/s/t/a.csv",
            "http://127.0.0.1:8000/artifacts/s/my file",
            "https://pub.example/artifacts/x",
            "http://127.0.0.1:8000/artifacts/../x",
            "http://127.0.0.1:8000/art",
            "http://other/artifacts/s/t/a",
            "h",
            "ht",
            "htt",
            "http",
            "\"",
            "\"uri\":\"",
            "\"a_url\" : \"",
            "\\",
            " ",
            ".",
            "?",
            "#x",
            "\u{e9}",
            "\\u00e9",
            "\n",
            ")",
        ])
        .prop_map(str::to_owned),
        "[a-z /:.]{0,6}",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn however_a_body_is_cut_the_same_comes_out(
        text in parts(),
        depth in 0..3_usize,
        slashes: bool,
        cuts in prop::collection::vec(0..20_usize, 0..40),
    ) {
        let text = (0..depth).fold(text, |text, _| nested(&text, slashes));
        let bytes: Vec<usize> = vec![1; text.len()];
        let whole = shown(&text, &[]);
        prop_assert_eq!(&shown(&text, &cuts), &whole);
        prop_assert_eq!(&shown(&text, &bytes), &whole);
    }

    #[test]
    fn a_link_is_found_at_every_depth(depth in 0..4_usize, slashes: bool, around in "[a-z ]{0,5}") {
        let text = format!("{around} http://127.0.0.1:8000/artifacts/s/t/a-b_c.csv {around}");
        let text = (0..depth).fold(text, |text, _| nested(&text, slashes));
        prop_assert_eq!(shown(&text, &[]), format!("{around} </artifacts/s/t/a-b_c.csv|a-b_c.csv> {around}"));
    }

    #[test]
    fn what_follows_a_link_is_left_as_it_is(
        name in "[A-Za-z_]{1,8}(\\.[a-z0-9]{1,6}){0,2}",
        mark in prop::sample::select(vec![".", ",", ":", ";", "!", ")", "...", "**", "?"]),
        words in "[a-z]{1,5}( [a-z]{1,5}(\\.csv)?){0,3}",
        key in prop::sample::select(vec!["text", "message"]),
        slashes: bool,
        depth in 1..3_usize,
    ) {
        let text = |link: &str| format!("{link}{mark} {words}");
        let around = |text: String| {
            let text = serde_json::json!({key: text}).to_string();
            (1..depth).fold(text, |text, _| nested(&text, false))
        };
        let before = around(text(&format!("http://127.0.0.1:8000/artifacts/s/t/{name}")));
        let before = if slashes { before.replace('/', "\\/") } else { before };
        let after = around(text(&format!("</artifacts/s/t/{name}|{name}>")));
        prop_assert_eq!(shown(&before, &[]), after);
    }

    #[test]
    fn what_comes_out_as_a_path_is_sound(text in parts()) {
        let mut replace = |_: &Arc<str>, path: &str, _: &str| {
            assert!(is_sound(path) && path.is_ascii() && path.parse::<http::uri::PathAndQuery>().is_ok());
            None
        };
        let out = Scanner::whole(&origins(), &text.clone().into(), &mut replace);
        prop_assert_eq!(out, text);
    }
}
