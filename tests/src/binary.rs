//! Finds the programs under test beside the test itself, and refuses stale ones.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context as _, Result, bail};

const BUILD: &str = "cargo build --workspace --bins --tests";

/// The repository's root.
pub fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// A program of this workspace, built by the same cargo profile as the running test.
///
/// Fails when it is missing, or older than a source file it was built from.
pub fn find(name: &str) -> Result<PathBuf> {
    let test = std::env::current_exe().context("the path of the running test is unknown")?;
    // target/debug/deps/<test>-<hash>; programs are one folder above
    let folder = test
        .ancestors()
        .find(|folder| folder.join(".fingerprint").is_dir())
        .with_context(|| format!("{} is not in a target folder of cargo", test.display()))?;
    let path = folder.join(name);
    let Ok(built) = modified(&path) else {
        bail!("{} does not exist; build it first: {BUILD}", path.display());
    };
    if let Some(source) = newer_source(&path.with_extension("d"), built) {
        bail!("{} is older than {source}; build it again: {BUILD}", path.display());
    }
    Ok(path)
}

/// A component that `cargo xtask test` built for the tests, by its crate's or guest's name.
pub fn component(name: &str) -> Result<PathBuf> {
    let release = repository().join("target/guests/wasm32-wasip2/release");
    let file = format!("{}.wasm", name.replace('-', "_"));
    let as_written = format!("{name}.wasm");
    [&file, &as_written]
        .into_iter()
        .flat_map(|file| [release.join("examples").join(file), release.join(file)])
        .find(|path| path.exists())
        .with_context(|| {
            format!(
                "the component `{name}` is not in {}; build it first: cargo xtask components",
                release.display()
            )
        })
}

fn modified(path: &Path) -> Result<SystemTime> {
    Ok(fs::metadata(path)?.modified()?)
}

/// The first file that cargo's list of sources (`<program>: <file> <file> ..`) names and that is newer.
fn newer_source(list: &Path, built: SystemTime) -> Option<String> {
    let text = fs::read_to_string(list).ok()?;
    let (_, sources) = text.lines().next()?.split_once(": ")?;
    // Spaces inside a path are written `\ `.
    let sources = sources.replace("\\ ", "\u{0}");
    let mut sources = sources.split(' ').map(|source| source.replace('\u{0}', " "));
    sources.find(|source| modified(Path::new(source)).is_ok_and(|time| time > built))
}
