//! Snippets with what `CPython` 3.14 says of them. `tests/tests/gateway_python.rs` asks a `CPython` whether the file is right.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::identifiers;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snippet {
    code: String,
    /// None = the tokeniser refuses it.
    names: Option<BTreeSet<String>>,
    /// Whether the compiler takes it.
    compiles: bool,
    /// Refused here, though it compiles: what a kernel makes of it is not certain.
    #[serde(default)]
    stricter: bool,
}

#[test]
fn names_are_those_of_python() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("corpus.jsonl").lines() {
        let snippet: Snippet = serde_json::from_str(line).unwrap();
        count += 1;
        let good = match identifiers(&snippet.code) {
            Ok(found) if snippet.compiles => Some(found) == snippet.names && !snippet.stricter,
            // What does not run may have any names, but what both read has the same.
            Ok(found) => snippet.names.as_ref().is_none_or(|names| *names == found),
            Err(_) => !snippet.compiles || snippet.stricter,
        };
        if !good {
            wrong.push(format!("{snippet:?}\n  here: {:?}", identifiers(&snippet.code)));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 400, "{count}");
}
