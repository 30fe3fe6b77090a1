//! Rules about the text of any Rust file.

use super::{Finding, code};
use crate::workspace::SourceFile;

const WARN_ABOVE: usize = 300;
const FAIL_ABOVE: usize = 400;

/// Files that may be longer, each with its reason. Only flat lists of equal entries belong here.
const LONG_FILES: [(&str, &str); 1] =
    [("tests/tests/bad_input.rs", "tables of requests, one row each, beside a short loop")];

/// Files that are long but may still be merged: they are next to be split.
pub(super) fn nearly_too_long(sources: &[SourceFile]) -> Vec<Finding> {
    let long = sources.iter().filter(|source| {
        let lines = source.text.lines().count();
        lines > WARN_ABOVE && lines <= FAIL_ABOVE
    });
    long.map(|source| length_finding(source, WARN_ABOVE)).collect()
}

fn length_finding(source: &SourceFile, limit: usize) -> Finding {
    let lines = source.text.lines().count();
    Finding::new(
        &source.path,
        lines,
        format!("{lines} lines; more than {limit} hide a second subject"),
    )
}

/// Every place that breaks one of the rules.
pub(super) fn check(sources: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        let is_excepted = LONG_FILES.iter().any(|(path, _)| *path == source.path);
        if source.text.lines().count() > FAIL_ABOVE && !is_excepted {
            findings.push(length_finding(source, FAIL_ABOVE));
        }
        findings.extend(glob_imports(source));
        for (index, line) in source.text.lines().enumerate() {
            for message in
                [unnumbered_reminder(line), bare_exception(source, index)].into_iter().flatten()
            {
                findings.push(Finding::new(&source.path, index + 1, message));
            }
        }
    }
    findings
}

/// `use a::*` hides where a name comes from, and with it the layers.
fn glob_imports(source: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut in_use = false;
    for (index, line) in source.text.lines().enumerate() {
        let line = code(line);
        let start = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
        in_use |= start.starts_with("use ");
        // A prelude is made to be taken whole.
        let named = line.replace("prelude::*", "prelude");
        let is_glob = named.contains("::*") || named.trim_start().starts_with("*,");
        if in_use && is_glob && !is_tolerated_glob(start.trim_end()) {
            findings.push(Finding::new(&source.path, index + 1, "glob import: name what is used"));
        }
        in_use &= !line.contains(';');
    }
    findings
}

/// A test module's parent and generated bindings may be taken whole too.
fn is_tolerated_glob(line: &str) -> bool {
    line == "use super::*;" || line.starts_with("use exports::")
}

/// A reminder without an issue number is forgotten.
fn unnumbered_reminder(line: &str) -> Option<String> {
    // Spelt in two parts so that this file does not find itself.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let (_, comment) = line.split_once("//")?;
    let word = words.into_iter().find(|word| comment.contains(word))?;
    let is_numbered =
        comment.split('#').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!is_numbered).then(|| format!("{word} without the number of an issue (`#12`)"))
}

/// An exception from a lint says why, and `expect` says when it is no longer needed.
fn bare_exception(source: &SourceFile, index: usize) -> Option<String> {
    let mut lines = source.text.lines().skip(index);
    let first = code(lines.next()?).trim_start();
    let is_attribute = first.starts_with("#[") || first.starts_with("#![");
    let is_exception =
        [concat!("allow", "("), concat!("expect", "(")].iter().any(|word| first.contains(word));
    if !is_attribute || !is_exception || first.starts_with("#[should_panic") {
        return None;
    }
    let mut attribute = first.to_owned();
    for line in lines.take(12) {
        if attribute.trim_end().ends_with(")]") {
            break;
        }
        attribute += line;
    }
    (!attribute.contains("reason")).then(|| "a lint exception without a `reason`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        let file = SourceFile { path: "host/src/x.rs".to_owned(), text: text.to_owned() };
        check(&[file]).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn finds_globs_in_lists_and_after_paths() {
        assert_eq!(messages("use std::io::*;\n").len(), 1);
        assert_eq!(messages("use std::{\n    io::*,\n    fs,\n};\nlet x = a::*b;\n").len(), 1);
        assert_eq!(messages("    use super::*;\n").len(), 0);
        assert_eq!(messages("use sdk::{glob, prelude::*};\n").len(), 0);
    }

    #[test]
    fn a_reminder_carries_a_number() {
        assert_eq!(messages(concat!("// TO", "DO: later\n")).len(), 1);
        assert_eq!(messages(concat!("// TO", "DO(#12): later\n")).len(), 0);
    }

    #[test]
    fn an_exception_carries_a_reason() {
        assert_eq!(messages(concat!("#[allow", "(dead_code)]\n")).len(), 1);
        assert_eq!(
            messages(concat!("#[expect", "(\n    dead_code,\n    reason = \"later\"\n)]\n")).len(),
            0
        );
    }

    #[test]
    fn a_long_file_is_found() {
        assert_eq!(messages(&"\n".repeat(401)).len(), 1);
        assert_eq!(messages(&"\n".repeat(400)).len(), 0);
    }
}
