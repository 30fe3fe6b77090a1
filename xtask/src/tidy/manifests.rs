//! What Cargo, clippy, Docker and Markdown files must agree on with the tree.

use anyhow::{Context as _, Result};

use super::Finding;
use crate::workspace::{self, SourceFile};

/// Every disagreement.
pub(super) fn check(sources: &[SourceFile]) -> Result<Vec<Finding>> {
    let tomls = workspace::files(&["toml"])?;
    let mut findings = guests_are_listed(&tomls, sources);
    findings.extend(lints_are_inherited(&tomls));
    findings.extend(clippy_files_agree(&tomls)?);
    findings.extend(dockerfile()?);
    for page in workspace::files(&["md"])? {
        findings.extend(broken_links(&page));
    }
    Ok(findings)
}

/// Every guest is built (an example of its package) and named by a test or a list, so that a forgotten one shows.
fn guests_are_listed(tomls: &[SourceFile], sources: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let manifest = tomls.iter().find(|toml| toml.path == "tests/guests/Cargo.toml");
    let manifest = manifest.map_or("", |toml| toml.text.as_str());
    for guest in sources.iter().filter(|source| source.path.starts_with("tests/guests/examples/")) {
        let name = guest.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        let names = [name.to_owned(), name.replace('_', "-"), name.replace('-', "_")];
        if !names.iter().any(|name| manifest.contains(&format!("name = \"{name}\""))) {
            let message = format!("guest `{name}` is no [[example]] of tests/guests/Cargo.toml");
            findings.push(Finding::new(&guest.path, 1, message));
        }
        let is_used = sources.iter().any(|source| {
            let is_test = source.path.starts_with("tests/") || source.path.starts_with("host/");
            let is_guest = source.path.starts_with("tests/guests/");
            is_test
                && !is_guest
                && names.iter().any(|name| source.text.contains(&format!("\"{name}")))
        });
        if !is_used {
            let message = format!("no test names the guest `{name}`");
            findings.push(Finding::new(&guest.path, 1, message));
        }
    }
    findings
}

fn lints_are_inherited(tomls: &[SourceFile]) -> Vec<Finding> {
    let packages = tomls.iter().filter(|toml| {
        toml.path.ends_with("Cargo.toml")
            && toml.text.contains("[package]")
            && !toml.path.starts_with("fuzz/")
    });
    let without = packages.filter(|toml| !toml.text.contains("[lints]\nworkspace = true"));
    without
        .map(|toml| Finding::new(&toml.path, 1, "lacks `[lints]` with `workspace = true`"))
        .collect()
}

/// clippy reads only the nearest file, so the host's must repeat the common lines.
fn clippy_files_agree(tomls: &[SourceFile]) -> Result<Vec<Finding>> {
    let find = |path: &str| {
        tomls.iter().find(|toml| toml.path == path).with_context(|| format!("{path} is missing"))
    };
    let (common, host) = (find("clippy.toml")?, find("host/clippy.toml")?);
    let missing = common.text.lines().enumerate().filter(|(_, line)| {
        !line.starts_with('#') && !host.text.lines().any(|other| other == *line)
    });
    Ok(missing
        .map(|(index, line)| {
            Finding::new(
                "clippy.toml",
                index + 1,
                format!("host/clippy.toml lacks `{}`", line.trim()),
            )
        })
        .collect())
}

/// There may be no container engine where tests run, so at least the file's claims about the tree are checked.
fn dockerfile() -> Result<Vec<Finding>> {
    let path = "Dockerfile";
    let text = std::fs::read_to_string(workspace::root().join(path)).context(path)?;
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(rest) = line.strip_prefix("COPY ") else { continue };
        let words: Vec<&str> =
            rest.split_whitespace().filter(|word| !word.starts_with("--")).collect();
        let is_from_stage = rest.contains("--from=");
        for source in words.iter().take(words.len().saturating_sub(1)) {
            if !is_from_stage && !workspace::root().join(source).exists() {
                findings.push(Finding::new(
                    path,
                    index + 1,
                    format!("copies `{source}`, which does not exist"),
                ));
            }
        }
    }
    for word in ["USER ", "HEALTHCHECK ", "EXPOSE 9000", "ENTRYPOINT "] {
        if !text.lines().any(|line| line.starts_with(word)) {
            findings.push(Finding::new(path, 1, format!("lacks `{}`", word.trim())));
        }
    }
    Ok(findings)
}

/// Links of Markdown pages to files of the repository lead somewhere.
fn broken_links(page: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let folder = workspace::root().join(&page.path);
    let folder = folder.parent().unwrap_or(workspace::root());
    for (index, line) in page.text.lines().enumerate() {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
            let is_outside = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !is_outside && !folder.join(target).exists() {
                findings.push(Finding::new(
                    &page.path,
                    index + 1,
                    format!("links to `{target}`, which does not exist"),
                ));
            }
        }
    }
    findings
}
