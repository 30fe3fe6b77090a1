//! Tags of tools that are not offered: those that the file names, and those that the environment switches off.

use super::findings::Findings;
use super::whole::Origin;
use crate::config::environment::Environment;
use crate::config::file::Upstream;
use crate::config::key::KeyPath;

/// `<TAG>TOOL`.
const SUFFIX: &str = "TOOL";

/// Words that switch something off, in lower case.
const OFF: [&str; 6] = ["0", "false", "f", "no", "n", "off"];

/// The tags of an upstream's tools that are not offered, in lower case and in order.
pub(super) fn check(
    upstream: &Upstream,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Vec<String> {
    let written = upstream.hide_tags.as_deref().unwrap_or_default();
    for (index, _) in written.iter().enumerate().filter(|(_, tag)| tag.is_empty()) {
        findings.problem(&key.item(index), "is empty", "write a tag such as `admin`");
    }
    let written = written.iter().map(|tag| tag.to_lowercase());
    let mut tags: Vec<String> = written.chain(switched_off(origin.environment)).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

/// The tags that the environment switches off; `_` stands for any character that no variable's name has.
fn switched_off(environment: &Environment) -> impl Iterator<Item = String> + '_ {
    environment.names().filter_map(|name| {
        let tag = name.strip_suffix(SUFFIX).filter(|tag| !tag.is_empty())?;
        let value = environment.get(name)?.trim().to_ascii_lowercase();
        OFF.contains(&&*value).then(|| tag.trim_end_matches('_').to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_switched_off_is_off() {
        let variables = [
            ("ISSUESTOOL", "false"),
            ("WIKI_TOOL", " Off "),
            ("ADMINTOOL", "true"),
            ("TOOL", "false"),
            ("OTHERTOOL", ""),
            ("ISSUES", "false"),
        ];
        let of = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let environment = Environment::of(variables.map(of));
        let off: Vec<String> = switched_off(&environment).collect();
        assert_eq!(off, ["issues", "wiki"]);
    }
}
