//! What a run measured, as a table.

use std::{fs, path::PathBuf};

use anyhow::Result;

use crate::binary;

/// Bytes.
pub const MIB: u64 = 1024 * 1024;

/// Lines of a report in Markdown.
#[derive(Debug, Default)]
pub struct Report {
    lines: Vec<String>,
}

impl Report {
    /// A report with this title, and what is done.
    pub fn new(title: &str, what: &str) -> Self {
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        let lines = vec![
            format!("# {title}\n"),
            format!("{what}\n"),
            format!("Build: {profile}. Version: {}.\n", env!("CARGO_PKG_VERSION")),
        ];
        Self { lines }
    }

    /// A line of a table.
    pub fn row(&mut self, cells: &[String]) {
        self.lines.push(format!("| {} |", cells.join(" | ")));
    }

    /// The head of a table.
    pub fn head(&mut self, cells: &[&str]) {
        let cells: Vec<String> = cells.iter().map(|&cell| cell.to_owned()).collect();
        self.row(&cells);
        self.row(&vec!["---".to_owned(); cells.len()]);
    }

    /// Writes it to `docs/soak`; where it is.
    pub fn write(&self, name: &str) -> Result<PathBuf> {
        let folder = binary::repository().join("docs/soak");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.md"));
        fs::write(&path, self.lines.join("\n") + "\n")?;
        Ok(path)
    }
}
