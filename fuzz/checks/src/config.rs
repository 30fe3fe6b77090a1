//! Configuration files.

use std::path::Path;

use plugway::config::{Environment, Flags, parse};

/// Whatever the text, there are settings, or problems that say where they are.
pub(crate) fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let variables = [("TOKEN".to_owned(), "secret-value".to_owned())];
    let environment = Environment::of(variables);
    let parsed = parse(text, Path::new("plugway.yaml"), &Flags::default(), &environment);
    let Err(problems) = parsed else { return };
    assert!(!problems.list.is_empty(), "a refusal says why");
    // YAML ends lines with carriage returns too.
    let lines = text.split(['\n', '\r']).count() as u64 + 1;
    for problem in &problems.list {
        assert!(!problem.sentence.is_empty());
        assert!(problem.place.is_none_or(|place| (1..=lines).contains(&place.line)), "{problem:?}");
    }
    assert!(!problems.to_string().contains("secret-value") || text.contains("secret-value"));
}
