//! The patterns of plugway's configuration: `*` stands for any text, `?` for one character, all else for itself.

/// Whether the whole of `text` matches.
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut left = pattern.chars();
    let mut rest = text.chars();
    // where to go on when what followed the last star did not match
    let mut again: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        match (left.next(), rest.clone().next()) {
            (Some('*'), _) => again = Some((left.clone(), rest.clone())),
            (Some(want), Some(have)) if want == '?' || want == have => {
                rest.next();
            }
            (None, None) => return true,
            _ => {
                let Some((after, mut from)) = again.take() else { return false };
                if from.next().is_none() {
                    return false;
                }
                left = after.clone();
                rest = from.clone();
                again = Some((after, from));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "a"),
            ("a*", "a"),
            ("a*c", "abc"),
            ("a*c", "abcbc"),
            ("*b*", "abc"),
            ("a?c", "a€c"),
            ("**x", "yx"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a", ""), ("a*c", "ab"), ("a?", "a"), ("*b", "bc"), ("A", "a")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
