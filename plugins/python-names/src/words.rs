//! From any text to all that could be a name in it, for what cannot be read as Python.

/// Everything in a text that could be a name, comments and strings included; none where it holds characters beyond ASCII that
/// could stand in a name, which Python may read as others: `︳` is `_` to it.
pub fn words(text: &str) -> Option<impl Iterator<Item = &str>> {
    if text.chars().any(|c| !c.is_ascii() && !is_apart(c)) {
        return None;
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    Some(words.filter(|word| !word.is_empty()))
}

/// Whether a character beyond ASCII is certainly no part of a name: white space, dashes and quotation marks, arrows and signs of
/// mathematics, drawings. Any other could be one.
fn is_apart(c: char) -> bool {
    let is_sign =
        matches!(c, '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{2bff}' | '\u{1f300}'..='\u{1faff}');
    c.is_whitespace() || (is_sign && !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization as _;

    use super::words;

    #[test]
    fn comments_and_strings_count_and_other_letters_refuse() {
        let found = words("x = 'a_b c1\n# dock!").unwrap();
        assert_eq!(found.collect::<Vec<_>>(), ["x", "a_b", "c1", "dock"]);
        assert!(words("\u{ff44}ock").is_none());
        assert_eq!(
            words("a \u{2192} b\u{2026} \u{1f600}").unwrap().collect::<Vec<_>>(),
            ["a", "b"]
        );
    }

    #[test]
    fn nothing_that_python_reads_as_a_part_of_a_name_divides_one() {
        for wide in
            ['\u{fe33}', '\u{fe34}', '\u{fe4d}', '\u{fe4e}', '\u{fe4f}', '\u{301}', '\u{203f}']
        {
            assert!(words(&format!("%time print(compute{wide}descriptors())")).is_none(), "{wide}");
        }
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        for c in ('\u{80}'..=char::MAX).filter(|c| c.nfkc().any(is_word)) {
            let apart = words(&c.to_string()).is_some();
            // What becomes several characters with a sign between them is no name.
            assert!(!apart || !c.nfkc().all(is_word), "{c:?}");
        }
    }
}
