//! What a subcommand says.

use std::io::Write;

/// Prints to stdout; that nobody reads it is no reason to fail.
pub(super) fn say(text: &str) {
    let _nobody_reads = writeln!(std::io::stdout(), "{text}");
}
