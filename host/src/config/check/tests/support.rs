//! What the tests share.

use std::path::Path;

use crate::config::{Environment, Flags, Problems, Settings, parse};

pub(super) const PATH: &str = "/etc/plugway/plugway.yaml";

pub(super) fn environment(variables: &[(&str, &str)]) -> Environment {
    Environment::of(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
}

pub(super) fn settings(text: &str) -> Result<Settings, Problems> {
    parse(text, Path::new(PATH), &Flags::default(), &environment(&[("PATH", "/bin")]))
}

/// With these variables set where plugway is started.
pub(super) fn with_secrets(text: &str, variables: &[(&str, &str)]) -> Result<Settings, Problems> {
    parse(text, Path::new(PATH), &Flags::default(), &environment(variables))
}

/// A whole connector around the upstream keys under test.
pub(super) fn upstream(keys: &str) -> String {
    format!("name: hub\nupstreams:\n- {{name: a, {keys}}}\n")
}

pub(super) fn said(text: &str) -> String {
    settings(text).map_or_else(|problems| problems.to_string(), |_| "nothing".to_owned())
}

/// Checks that each text gives exactly one problem, which begins and ends like this.
pub(super) fn refused(table: &[(&str, &str, &str)]) {
    let mut wrong = String::new();
    for (text, sentence, hint) in table {
        let said = said(text);
        let first = said.strip_prefix(&format!("error: {PATH}")).unwrap_or(&said);
        let (first, last) = first.split_once("\nhint: ").unwrap_or((first, ""));
        if first != *sentence || !last.starts_with(hint) || last.contains("\nerror: ") {
            let lines =
                ["\n", text, "wanted ", sentence, "\ngot    ", first, "\nhint   ", last, "\n"];
            wrong += &lines.concat();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
