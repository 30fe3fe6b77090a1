//! The lines of the audit, as plugway leaves them in `audit.jsonl` beside its configuration.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::{Plugway, plugway, wait};

/// The file in the folder of the configuration.
pub const FILE: &str = "audit.jsonl";

const BOUND: Duration = Duration::from_secs(20);

/// The file that is written, and those that were put aside.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(FILE) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Every line of all files; a line that is not JSON, or not ended, is an error.
pub fn all(folder: &Path) -> Result<Vec<Value>> {
    let mut lines = Vec::new();
    for file in files(folder)? {
        let text = fs::read_to_string(&file)?;
        ensure!(text.is_empty() || text.ends_with('\n'), "{} is torn", file.display());
        for line in text.lines() {
            let line = serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))?;
            lines.push(line);
        }
    }
    Ok(lines)
}

/// The lines of one kind so far.
pub fn of_kind(plugway: &Plugway, kind: &str) -> Result<Vec<Value>> {
    // The last line may be on its way to the file.
    let Ok(text) = fs::read_to_string(plugway.folder().join(FILE)) else { return Ok(Vec::new()) };
    let whole = text.rsplit_once('\n').map(|(whole, _)| whole).unwrap_or_default();
    let mut lines = Vec::new();
    for line in whole.lines() {
        let line: Value = serde_json::from_str(line).with_context(|| format!("no JSON: {line}"))?;
        if line.get("kind").is_some_and(|is| is == kind) {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// Waits until there are so many lines of one kind.
pub async fn until(plugway: &Plugway, kind: &str, count: usize) -> Result<Vec<Value>> {
    wait::until(&format!("{count} lines of the kind {kind}"), BOUND, async || {
        let lines = of_kind(plugway, kind)?;
        Ok((lines.len() >= count).then_some(lines))
    })
    .await
}

/// What `plugway audit verify` says of the files of a folder, with these words besides.
pub async fn verify(folder: &Path, words: &[&str]) -> Result<plugway::Output> {
    let files = files(folder)?;
    let files: Vec<&str> = files.iter().filter_map(|file| file.to_str()).collect();
    let words = [&["audit", "verify"], words, &files].concat();
    plugway::run_in(folder, &[("KEY", "0123456789abcdef")], &words).await
}
