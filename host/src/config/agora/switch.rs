//! A variable that is true or false, in the words that the reference takes.

/// Whether it is on; none where the word is neither.
pub(super) fn read(word: &str) -> Option<bool> {
    match word.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Some(true),
        "0" | "false" | "no" | "off" | "" => Some(false),
        _ => None,
    }
}
