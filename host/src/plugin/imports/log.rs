//! `log`: lines in the host's log, bounded and marked with the plugin's name.

use std::fmt::Write as _;
use std::sync::atomic::Ordering::Relaxed;

use plugway_bindings::imports::log::{Host, Level};
use wasmtime::Result;

use super::clean;
use crate::plugin::ctx::Ctx;
use crate::plugin::limits::{LOG_FIELDS_MAX, LOG_LINE_MAX};
use crate::plugin::place::Place;

impl Host for Ctx {
    fn enabled(&mut self, level: Level) -> Result<bool> {
        self.charge()?;
        Ok(enabled(level))
    }

    fn log(&mut self, level: Level, message: String, fields: Vec<(String, String)>) -> Result<()> {
        self.charge()?;
        if !enabled(level) {
            return Ok(());
        }
        let Some(left) = self.budget.log_lines.checked_sub(1) else {
            self.place.counters.log_dropped.fetch_add(1, Relaxed);
            return Ok(());
        };
        self.budget.log_lines = left;
        if !self.place.may_log() {
            return Ok(());
        }
        let mut line = message;
        for (key, value) in fields.iter().take(LOG_FIELDS_MAX) {
            if line.len() >= LOG_LINE_MAX {
                break;
            }
            write!(line, " {key}={value:?}")?;
        }
        let request = self.task.request_id().cloned();
        line_out(&self.place, level, &line, request.as_deref());
        Ok(())
    }
}

fn enabled(level: Level) -> bool {
    match level {
        Level::Trace => tracing::enabled!(target: "plugin", tracing::Level::TRACE),
        Level::Debug => tracing::enabled!(target: "plugin", tracing::Level::DEBUG),
        Level::Info => tracing::enabled!(target: "plugin", tracing::Level::INFO),
        Level::Warn => tracing::enabled!(target: "plugin", tracing::Level::WARN),
        Level::Error => tracing::enabled!(target: "plugin", tracing::Level::ERROR),
    }
}

/// Writes a line; the caller has asked [`Place::may_log`].
pub(super) fn line_out(place: &Place, level: Level, line: &str, request_id: Option<&str>) {
    let line = clean(line, LOG_LINE_MAX);
    let (plugin, connector) = (&*place.plugin, &*place.connector);
    match level {
        Level::Trace => tracing::trace!(target: "plugin", request_id, plugin, connector, "{line}"),
        Level::Debug => tracing::debug!(target: "plugin", request_id, plugin, connector, "{line}"),
        Level::Info => tracing::info!(target: "plugin", request_id, plugin, connector, "{line}"),
        Level::Warn => tracing::warn!(target: "plugin", request_id, plugin, connector, "{line}"),
        Level::Error => tracing::error!(target: "plugin", request_id, plugin, connector, "{line}"),
    }
}
