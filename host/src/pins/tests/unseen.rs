//! Real text has nothing that is told; what hides something has.

use super::super::pretty::{pretty, visible};
use super::super::unseen::Unseen;

fn found(text: &str) -> Vec<String> {
    let mut unseen = Unseen::default();
    unseen.look(text);
    unseen.names()
}

#[test]
fn real_text_is_let_through() {
    for text in [
        "Adds two numbers.\n\n\t- `a`: first\r\n\t- `b`: second",
        "Größe, naïve, Ærø, ½ € – “quoted” …",
        "يقرأ الملف ويعيد محتواه (UTF-8).",
        "קורא קובץ ומחזיר את תוכנו (UTF-8)\u{200f}.",
        "\u{200f}מחיר: 5\u{200f} ש\"ח",
        "می\u{200c}خواهم پرونده\u{200c}ها را بخوانم",
        "नमस्ते क्\u{200d}ष र्\u{200d}य क्\u{200c}ष",
        "ශ්\u{200d}රී ලංකා",
        "อ่านไฟล์\u{200b}และส่งคืน",
        "ភាសា\u{200b}ខ្មែរ",
        "葛\u{e0100}城市 和",
        "ファイルを読む。파일을 읽습니다",
        "👩\u{200d}💻 ❤\u{fe0f}\u{200d}🔥 👨\u{200d}👩\u{200d}👧\u{200d}👦 👍🏽 1\u{fe0f}\u{20e3} ☎\u{fe0e}",
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 🇩🇪 🏳\u{fe0f}\u{200d}🌈 🧑🏿\u{200d}🚀",
        "ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ\u{180b}",
        "x ∩\u{fe00} y",
    ] {
        assert_eq!(found(text), Vec::<String>::new(), "{}", visible(text));
    }
}

#[test]
fn what_hides_something_is_told() {
    for (text, names) in [
        ("Adds.\u{202e}sdrawkcab", &["U+202E"][..]),
        ("a\u{2066}b\u{2069}", &["U+2066", "U+2069"]),
        ("קובץ\u{202b}x", &["U+202B"]),
        ("left\u{200e}right", &["U+200E"]),
        ("א\u{200e}\u{200f}\u{200e}", &["U+200E", "U+200F"]),
        ("pass\u{200b}word", &["U+200B"]),
        ("a\u{200d}b", &["U+200D"]),
        ("a\u{200c}b", &["U+200C"]),
        ("می\u{200c}\u{200d}\u{200c}", &["U+200C", "U+200D"]),
        ("😀\u{200d}", &["U+200D"]),
        ("\u{feff}Adds", &["U+FEFF"]),
        ("A\u{e0049}\u{e0067}\u{e006e}", &["U+E0049", "U+E0067", "U+E006E"]),
        (
            "🏴\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e0020}\u{e007f}",
            &[
                "U+E0020", "U+E0065", "U+E0067", "U+E0069", "U+E006E", "U+E006F", "U+E0072",
                "U+E007F",
            ],
        ),
        ("🏴\u{e0067}\u{e0062}\u{e0065}", &["U+E0062", "U+E0065", "U+E0067"]),
        ("😀\u{fe0f}\u{fe0f}", &["U+FE0F"]),
        ("a\u{fe01}b\u{fe0f}", &["U+FE01", "U+FE0F"]),
        ("😀\u{e0101}\u{e0148}", &["U+E0101", "U+E0148"]),
        ("\u{1b}[31mred", &["U+001B"]),
        ("a\u{7}b\u{85}c", &["U+0007", "U+0085"]),
        ("a\u{ad}b\u{2060}c\u{2063}d", &["U+00AD", "U+2060", "U+2063"]),
        ("\u{3164}\u{115f}", &["U+115F", "U+3164"]),
        ("one\u{2028}two", &["U+2028"]),
    ] {
        assert_eq!(found(text), names, "{}", visible(text));
    }
}

#[test]
fn a_long_run_is_looked_at_once() {
    let tags = "\u{e0041}".repeat(400_000);
    assert_eq!(found(&format!("🏴{tags}\u{e007f}")), ["U+E0041", "U+E007F"]);
    let flags = "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}".repeat(50_000);
    assert_eq!(found(&flags), Vec::<String>::new());
}

#[test]
fn what_is_let_through_is_few() {
    let text = |variants: usize, marks: usize| {
        format!("{}א{}", "葛\u{e0100}".repeat(variants), "א\u{200f}".repeat(marks))
    };
    assert_eq!(found(&text(8, 32)), Vec::<String>::new());
    assert_eq!(found(&text(9, 32)), ["U+E0100"]);
    assert_eq!(found(&text(8, 33)), ["U+200F"]);
    // In however many members of one definition they stand.
    let mut unseen = Unseen::default();
    (0..9).for_each(|_| unseen.look("葛\u{e0100}"));
    assert_eq!(unseen.names(), ["U+E0100"]);
    assert_eq!(found(&"❤\u{fe0f}".repeat(100)), Vec::<String>::new());
}

#[test]
fn a_name_stands_on_one_line() {
    for (name, names) in [("add", &[][..]), ("a\nb", &["U+000A"]), ("a\tb", &["U+0009"])] {
        let mut unseen = Unseen::default();
        unseen.look_at_name(name);
        assert_eq!(unseen.names(), names);
    }
}

#[test]
fn people_see_what_is_there() {
    assert_eq!(visible("a\u{202e}b\u{200d}\n"), r"a\u{202e}b\u{200d}\u{a}");
    assert_eq!(visible(r"a\u{202e}"), r"a\\u{202e}", "no two look the same");
    assert_eq!(
        pretty("{\"a\":[],\"b\":[1,{\"c\":\"x\\\"\u{202e}{,\u{e0041}\"}],\"d\":{}}"),
        "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {\n      \"c\": \"x\\\"\\u202e{,\\udb40\\udc41\"\n    }\n  ],\n  \"d\": {}\n}"
    );
}
