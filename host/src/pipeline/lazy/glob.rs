//! Patterns over names: `*` stands for any text, `?` for one character, all else for itself.

/// Whether the whole of `text` matches.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // What follows the last star, and where the star's own text would have to end one character later.
    let mut star: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let before = text.clone();
        match (pattern.next(), text.next()) {
            (Some('*'), _) => {
                star = Some((pattern.clone(), before.clone()));
                text = before;
            }
            (None, None) => return true,
            (Some(want), Some(have)) if want == '?' || want == have => {}
            _ => {
                let Some((after, end)) = &mut star else { return false };
                if end.next().is_none() {
                    return false;
                }
                (pattern, text) = (after.clone(), end.clone());
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
            ("a*c", "abcbc"),
            ("*b*", "abc"),
            ("a?c", "a€c"),
            ("**x", "yx"),
            ("*_get*", "git_get_x"),
            ("", ""),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a", ""), ("a*c", "ab"), ("a?", "a"), ("*b", "bc"), ("A", "a"), ("?", "")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
