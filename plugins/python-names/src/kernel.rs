//! What stands between a cell and Python in an interactive kernel: magics, shell escapes, help, and prompts that were pasted
//! along. All of it is refused, since what Python gets is then not what stands here.

/// Said of [`divides`].
pub(super) const DIVIDED: &str = "a character that is a line's end to a kernel, but none to Python";
/// Said of [`begins_magic`].
pub(super) const MAGIC: &str = "a line that is no Python but a magic, a shell command or help";

/// Whether a kernel would divide lines here, where Python sees no end: behind it a magic could stand in what is a comment
/// or a text to Python. NUL ends what some readers see.
pub(super) fn divides(found: char) -> bool {
    matches!(
        found,
        '\0' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Whether a logical line that begins so is rewritten: `%magic`, `!command`, `?help`, `,quote ;quote /call`.
pub(super) fn begins_magic(found: char) -> bool {
    matches!(found, '%' | '!' | '?' | ',' | ';' | '/')
}

/// Whether a line begins with a prompt that is taken away and holds a colon: inside a replacement field what follows the
/// colon would be a format specification here and code there.
pub(super) fn is_prompted(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '\u{c}']);
    let dots = line.trim_start_matches('.');
    if line.len() - dots.len() >= 3 && dots.starts_with(':') {
        return true;
    }
    let line = ["[nav]", "[ins]"]
        .into_iter()
        .find_map(|mode| line.strip_prefix(mode))
        .map_or(line, |rest| rest.trim_start_matches(' '));
    line.strip_prefix("In [").is_some_and(|rest| {
        rest.trim_start_matches(|found: char| found.is_ascii_digit()).starts_with("]:")
    })
}

/// Words that a line of Python may begin with and go on with another word: a kernel takes any other such line for a magic
/// without its percent sign.
pub(super) fn begins_statement(name: &str) -> bool {
    const WORDS: [&str; 38] = [
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class",
        "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global",
        "if", "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise",
        "return", "try", "type", "while", "with", "yield",
    ];
    WORDS.binary_search(&name).is_ok()
}

/// Words that may stand behind the name with which a line begins.
pub(super) fn joins(name: &str) -> bool {
    matches!(name, "and" | "if" | "in" | "is" | "not" | "or")
}

/// Whether a comment on one of the first two lines declares an encoding in which the same bytes mean other characters.
pub(super) fn declares_other_encoding(comment: &str) -> bool {
    let mut rest = comment;
    while let Some((_, after)) = rest.split_once("coding") {
        if let Some(value) = after.strip_prefix([':', '=']) {
            let value = value.trim_start_matches([' ', '\t']);
            let end = value
                .find(|found: char| !(found.is_ascii_alphanumeric() || "-_.".contains(found)))
                .unwrap_or(value.len());
            let (name, _) = value.split_at_checked(end).unwrap_or((value, ""));
            let name = name.to_ascii_lowercase().replace('_', "-");
            return !name.is_empty() && !matches!(&*name, "utf-8" | "utf8" | "ascii" | "us-ascii");
        }
        rest = after;
    }
    false
}
