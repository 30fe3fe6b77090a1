//! Lines in the host's log, marked with the plugin entry's name. Never secrets, never arguments of calls.

pub use crate::raw::plugway::plugin::log::Level;

#[cfg(target_family = "wasm")]
use crate::raw::plugway::plugin::log as imported;
#[cfg(not(target_family = "wasm"))]
use crate::testing::fake::log as imported;

/// Whether a line of this level would be kept: ask before building an expensive one.
pub fn enabled(level: Level) -> bool {
    imported::enabled(level)
}

/// One line with fields.
pub fn log(level: Level, message: &str, fields: &[(&str, &str)]) {
    if enabled(level) {
        let fields: Vec<_> =
            fields.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        imported::log(level, message, &fields);
    }
}

/// A line for whoever debugs the plugin.
pub fn debug(message: &str) {
    log(Level::Debug, message, &[]);
}

/// A line for the record.
pub fn info(message: &str) {
    log(Level::Info, message, &[]);
}

/// A line that an operator should look at.
pub fn warn(message: &str) {
    log(Level::Warn, message, &[]);
}

/// A line that an operator must look at.
pub fn error(message: &str) {
    log(Level::Error, message, &[]);
}
