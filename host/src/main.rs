//! plugway: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    plugway::cli::run(std::env::args_os())
}
