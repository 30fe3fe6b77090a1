//! The log: lines on stderr, for people or for machines. Lines of the audit are JSON in both, and no level drops them.

use std::io::stderr;

use tracing::Metadata;
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, ParseError, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, fmt, registry};

use super::audit;

/// Who reads the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// People.
    #[default]
    Human,
    /// Machines: one JSON object for each line, the fields of the event at its top.
    Json,
}

/// Why the log cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The level is no level.
    #[error("`{level}` is no log level")]
    Level {
        /// What was asked for.
        level: String,
        /// Why it is none.
        source: ParseError,
    },
    /// Another log was started in this process.
    #[error("the log was started twice")]
    Twice(#[from] TryInitError),
}

/// Starts the log: `level` is a word such as `info`, or directives such as `info,plugway::upstream=debug`.
pub fn start(format: Format, level: &str) -> Result<(), LogError> {
    let filter = EnvFilter::try_new(level)
        .map_err(|source| LogError::Level { level: level.to_owned(), source })?;
    let lines = match format {
        Format::Human => fmt::layer().with_writer(stderr).with_target(false).boxed(),
        Format::Json => fmt::layer().json().flatten_event(true).with_writer(stderr).boxed(),
    };
    let lines = lines.with_filter(filter.and(filter_fn(|about| !is_audit(about))));
    let audit = fmt::layer().json().flatten_event(true).with_current_span(false);
    let audit = audit.with_span_list(false).with_writer(stderr).with_filter(filter_fn(is_audit));
    registry().with(lines).with(audit).try_init()?;
    Ok(())
}

fn is_audit(about: &Metadata<'_>) -> bool {
    about.target() == audit::TARGET
}
