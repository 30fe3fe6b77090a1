//! From any text to all that could be a name in it, for what cannot be read as Python.

/// Everything in a text that could be a name, comments and strings included; none where it holds characters beyond ASCII that may
/// stand in a name, which Python may read as others: `︳` is `_` to it.
pub fn words(text: &str) -> Option<impl Iterator<Item = &str>> {
    let is_part = |c: char| unicode_ident::is_xid_continue(c) || c.is_alphanumeric();
    if text.chars().any(|c| !c.is_ascii() && is_part(c)) {
        return None;
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    Some(words.filter(|word| !word.is_empty()))
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
        assert!(words("\u{2192}").unwrap().next().is_none());
    }

    #[test]
    fn nothing_that_python_reads_as_a_part_of_a_name_divides_one() {
        for wide in ['\u{fe33}', '\u{fe34}', '\u{fe4d}', '\u{fe4e}', '\u{fe4f}', '\u{301}'] {
            assert!(words(&format!("%time print(compute{wide}descriptors())")).is_none(), "{wide}");
        }
        let is_name = |text: String| text.starts_with(|c: char| unicode_ident::is_xid_continue(c));
        for c in ('\u{80}'..=char::MAX).filter(|c| unicode_ident::is_xid_continue(*c)) {
            assert!(words(&c.to_string()).is_none(), "{c:?} {}", is_name(c.nfkc().collect()));
        }
    }
}
