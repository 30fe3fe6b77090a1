//! Globs, as operators and plugins write them: `*` stands for any text, `?` for one character, all else for itself.

/// Whether the whole of `text` matches. A star gives back one character at a time, so the work is bounded by the product
/// of both lengths.
pub fn matches(glob: &str, text: &str) -> bool {
    let (mut glob, mut text) = (glob.chars(), text.chars());
    // What stands after the last star, and what of the text it was tried on.
    let mut star = None;
    loop {
        let (wanted, before) = (glob.next(), text.clone());
        match (wanted, text.next()) {
            (Some('*'), _) => {
                text = before;
                star = Some((glob.clone(), text.clone()));
            }
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {}
            _ => {
                let Some((after, tried)) = &mut star else { return false };
                if tried.next().is_none() {
                    return false;
                }
                (glob, text) = (after.clone(), tried.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn the_whole_text_matches_or_nothing_does() {
        for (glob, text, is) in [
            ("", "", true),
            ("*", "", true),
            ("*", "a", true),
            ("*", "anything", true),
            ("execute_*_code", "execute_chem_code", true),
            ("execute_*_code", "execute_chem_codes", false),
            ("*_check_job", "gis_check_job_check_job", true),
            ("*_check_job", "gis_check_jobs", false),
            ("*_get*", "git_get_x", true),
            ("a?c", "aéc", true),
            ("a?c", "a€c", true),
            ("a?c", "ac", false),
            ("**b*", "ab", true),
            ("**x", "yx", true),
            ("a*", "a", true),
            ("a**", "a", true),
            ("a*c", "abcbc", true),
            ("a*c", "ab", false),
            ("*b*", "abc", true),
            ("*b", "bc", false),
            ("*ab", "aab", true),
            ("*a*b", "aab ab", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-b-b-d", false),
            ("?", "", false),
            ("??", "ab", true),
            ("a?", "a", false),
            ("a", "", false),
            ("", "a", false),
            ("abc", "ab", false),
            ("A", "a", false),
        ] {
            assert_eq!(matches(glob, text), is, "{glob:?} {text:?}");
        }
    }
}
