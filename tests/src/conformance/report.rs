//! What the suite wrote down: a folder for each scenario, in it the checks.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Every scenario that ran.
pub type Report = BTreeMap<String, Outcome>;

/// What the checks of one scenario say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many succeeded.
    pub succeeded: usize,
    /// Those that failed or warned: the check's id, and what is wrong.
    pub wrong: Vec<(String, String)>,
}

impl Outcome {
    /// Reads the `checks.json` of one scenario.
    pub fn read(file: &Path) -> Result<Self> {
        let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let checks: Vec<Value> = serde_json::from_slice(&text)?;
        let mut outcome = Self::default();
        for check in &checks {
            let text = |key: &str| check.get(key).and_then(Value::as_str).unwrap_or_default();
            match text("status") {
                "SUCCESS" => outcome.succeeded += 1,
                "FAILURE" | "WARNING" => {
                    let message =
                        format!("{} {}: {}", text("status"), text("name"), text("errorMessage"));
                    outcome.wrong.push((text("id").to_owned(), message));
                }
                _ => {}
            }
        }
        Ok(outcome)
    }
}

/// Reads the folder that the suite wrote: `server-SCENARIO-TIME/checks.json`.
pub(super) fn read(folder: &Path) -> Result<Report> {
    let mut report = Report::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let scenario = scenario(name).with_context(|| format!("a folder named {name}"))?;
        report.insert(scenario.to_owned(), Outcome::read(&path.join("checks.json"))?);
    }
    Ok(report)
}

/// The scenario in `server-SCENARIO-2026-07-28T12-00-00-000Z`.
fn scenario(folder: &str) -> Option<&str> {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    let time = "-2026-07-28T12-00-00-000Z".len();
    name.get(..name.len().checked_sub(time)?)
}
