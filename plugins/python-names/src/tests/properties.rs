//! What holds for any text.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use crate::{find, identifiers};

/// Texts that are nearly Python.
fn nearly() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "a", "blocked", "é", "ﬁ", " ", "\n", "\r\n", "\\\n", "\t", "#", "'", "\"", "'''", "\"\"\"",
        "f'", "f\"", "rf'''", "t\"", "b'", "{", "}", "{{", "}}", "(", ")", "[", "]", ":", "!",
        "!r", "=", "==", "!=", "%", "\\", "\\N{", "\\{", "1", "0x", "1e", ".", "...", "if", "else",
        ",", ";", "@", "->", "lambda", "?", "$", "\u{c}", "\u{2028}", "\0",
    ]);
    prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(code in any::<String>()) {
        let _read_or_refused = identifiers(&code);
    }

    #[test]
    fn names_stand_in_the_text(code in nearly()) {
        if let Ok(names) = identifiers(&code) {
            let text: String = code.nfkc().collect();
            for name in names {
                prop_assert!(text.contains(&name), "{name}");
                prop_assert!(name.nfkc().eq(name.chars()));
            }
        }
    }

    #[test]
    fn a_name_is_found_wherever_python_allows_one(code in nearly()) {
        if identifiers(&code).is_ok() {
            let names = identifiers(&format!("{code}\nbeyond_it")).ok();
            prop_assert!(names.is_none_or(|names| names.contains("beyond_it")));
            let names = identifiers(&format!("f'''{{({code}\n), inside_it}}'''")).ok();
            prop_assert!(names.is_none_or(|names| names.contains("inside_it")));
        }
    }

    #[test]
    fn who_looks_for_a_name_finds_what_is_read(code in nearly()) {
        for wanted in ["blocked", "fi", "é", "a"] {
            let read = identifiers(&code).map(|names| names.contains(wanted));
            prop_assert_eq!(find(&code, &HashSet::from([wanted])).map(|found| found == Some(wanted)), read);
        }
    }

    #[test]
    fn comments_and_texts_do_not_count(text in "[a-zA-Z0-9 .,()+*/-]{0,40}") {
        let code = format!("x # {text}\n'{text}' + r'''{text}''' + f'{text}' + b\"{text}\"\n");
        prop_assert_eq!(identifiers(&code).unwrap(), ["x".to_owned()].into());
    }
}

/// What takes time by the square of its length would take minutes here.
#[test]
fn much_of_anything_is_read_soon() {
    let patterns = [
        "f'{",
        "(",
        "x=",
        "'a' ",
        "#\u{e9}\n",
        "e\u{301}",
        "\\\n",
        "f'{x:{y}}'\n",
        "1if ",
        "{",
        "\"",
        "x.y\n",
        "...",
        "coding",
        "f'''{\n...\n}'''\n",
        "0x",
        "\u{301}",
    ];
    for pattern in patterns {
        let code = pattern.repeat((1 << 18) / pattern.len());
        let start = Instant::now();
        let _read_or_refused = identifiers(&format!("#{code}"));
        let _read_or_refused = identifiers(&format!("e{code}"));
        let _read_or_refused = identifiers(&code);
        assert!(start.elapsed() < Duration::from_secs(20), "{pattern:?}");
    }
}
