//! `plugway schema`.

use super::arguments::{Schema, SchemaFormat};
use super::print::say;
use crate::config;

/// Prints what may be written in a configuration.
pub(super) fn run(command: &Schema) {
    let schema = config::schema();
    match command.format {
        // Two spaces of indentation.
        SchemaFormat::Json => say(&format!("{schema:#}")),
        SchemaFormat::Markdown => say(config::markdown(&schema).trim_end()),
    }
}
