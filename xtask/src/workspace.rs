//! Where things are in this repository.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

/// Folders that hold nothing anybody wrote here.
const SKIPPED: [&str; 6] = ["target", ".git", ".cache", "node_modules", "corpus", "artifacts"];

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Where cargo puts what it builds: the folder above this very program.
pub(crate) fn target() -> Result<PathBuf> {
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    // target/debug/xtask, or target/debug/deps/xtask-<hash> as a test
    let debug = program
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "debug"))
        .context("this program is not in a folder named `debug`")?;
    Ok(debug.parent().unwrap_or(debug).to_owned())
}

/// One file of the repository.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Relative to the root, with `/` between the parts.
    pub(crate) path: String,
    /// What it says; nothing for files that are not text.
    pub(crate) text: String,
}

/// All text files with one of these extensions, in order of their path.
pub(crate) fn files(extensions: &[&str]) -> Result<Vec<SourceFile>> {
    let mut found = Vec::new();
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if extensions
                .iter()
                .any(|extension| path.extension().is_some_and(|e| e == *extension))
            {
                found.push(read(&path)?);
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn read(path: &Path) -> Result<SourceFile> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let relative = path.strip_prefix(root()).unwrap_or(path);
    Ok(SourceFile {
        path: relative.to_string_lossy().replace('\\', "/"),
        text: String::from_utf8(bytes).unwrap_or_default(),
    })
}

/// Names of the packages that are compiled to WebAssembly, in order of their folder.
pub(crate) fn guest_packages() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for manifest in files(&["toml"])? {
        let is_guest = ["sdk/", "plugins/", "examples/plugins/", "tests/guests/"]
            .iter()
            .any(|folder| manifest.path.starts_with(folder));
        if is_guest && manifest.path.ends_with("/Cargo.toml") {
            let name = manifest.text.lines().find_map(|line| line.strip_prefix("name = \""));
            let name = name.and_then(|rest| rest.strip_suffix('"'));
            names.push(name.with_context(|| format!("{} has no name", manifest.path))?.to_owned());
        }
    }
    Ok(names)
}
