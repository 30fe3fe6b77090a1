//! The house rules, each with its reason, looked at in the text of the files. Run by `cargo xtask tidy`, and by
//! `cargo nextest run` as an ordinary test.
//!
//! - [`layers`]: which room of the host may name which, and which words belong to one room only.
//! - [`text`]: file sizes, glob imports, unnumbered reminders, lint exceptions without a reason.
//! - [`manifests`]: what Cargo, clippy, Docker and Markdown files must agree on with the tree.

use anyhow::{Result, bail};

mod layers;
mod manifests;
mod text;

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

/// Prints every finding; any finding is an error.
pub(crate) fn run() -> Result<()> {
    let sources = crate::workspace::files(&["rs"])?;
    for warning in text::nearly_too_long(&sources) {
        println!("warning: {}:{}: {}", warning.path, warning.line, warning.message);
    }
    let mut findings = layers::check(&sources);
    findings.extend(text::check(&sources));
    findings.extend(manifests::check(&sources)?);
    findings.sort();
    for finding in &findings {
        println!("{}:{}: {}", finding.path, finding.line, finding.message);
    }
    if findings.is_empty() {
        println!("{} Rust files keep the house rules", sources.len());
        return Ok(());
    }
    bail!("{} places break a house rule; CONTRIBUTING.md has the reasons", findings.len())
}

/// The code on a line: without a trailing `//` comment (string literals that hold `//` are cut too, which only
/// hides text from the rules).
fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_repository_keeps_its_rules() {
        if let Err(error) = super::run() {
            panic!("{error:#}");
        }
    }
}
