//! For plugins of every kind.

use crate::Plugin;

/// `readiness`: the plugin's part of `/ready`.
pub trait Readiness: Plugin {
    /// One line for the report, or why the plugin is not ready. Asked on a schedule, within 2 s.
    fn ready(&self) -> Result<String, String>;
}
