//! From any text to all that could be a name in it, for what cannot be read as Python.

use std::collections::BTreeSet;

/// Everything in a text that could be a name, comments and strings included; none where it holds letters beyond ASCII, which
/// Python may read as others.
pub fn words(text: &str) -> Option<BTreeSet<String>> {
    if text.chars().any(|c| !c.is_ascii() && c.is_alphanumeric()) {
        return None;
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    Some(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn comments_and_strings_count_and_other_letters_refuse() {
        let found = words("x = 'a_b c1\n# dock!").unwrap();
        assert_eq!(
            found.iter().map(String::as_str).collect::<Vec<_>>(),
            ["a_b", "c1", "dock", "x"]
        );
        assert!(words("\u{ff44}ock").is_none());
        assert!(words("\u{2192}").unwrap().is_empty());
    }
}
