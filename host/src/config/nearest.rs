//! The word that somebody probably meant.

/// The candidate nearest to a word, if one is near enough to be meant.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_lowercase().replace('-', "_");
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            *distance <= (word.len().max(candidate.len()) / 3).clamp(1, 3)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_what_was_meant_and_nothing_else() {
        let keys = ["upstreams", "url", "prefix", "set_headers"];
        for (word, near) in [
            ("upstream", Some("upstreams")),
            ("Upstreams", Some("upstreams")),
            ("ulr", Some("url")),
            ("prefixes", Some("prefix")),
            ("set-headers", Some("set_headers")),
            ("completely", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, keys), near, "{word}");
        }
    }
}
