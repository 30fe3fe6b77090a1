//! The log: lines on stderr, for people or for machines. Lines of the audit are JSON in both, and no level drops them.

use std::io::{IsTerminal as _, stderr};

use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{EnvFilter, FilterExt as _, ParseError, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
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

/// Targets of plugway's own lines, and of those that plugins write.
const OWN: [&str; 2] = ["plugway", "plugin"];

/// Starts the log: `level` is a word such as `info`, or directives such as `info,plugway::upstream=debug`.
pub fn start(format: Format, level: &str) -> Result<(), LogError> {
    subscriber(format, level, stderr)?.try_init()?;
    Ok(())
}

/// What writes the lines that are wanted.
fn subscriber<W>(
    format: Format,
    level: &str,
    writer: W,
) -> Result<impl Subscriber + Send + Sync, LogError>
where
    W: for<'a> MakeWriter<'a> + Clone + Send + Sync + 'static,
{
    // A level alone is about plugway: of the libraries under it only warnings matter.
    let directives = match level.parse::<tracing::Level>() {
        Ok(level) if level > tracing::Level::WARN => {
            format!("warn,{}", OWN.map(|target| format!("{target}={level}")).join(","))
        }
        _ => level.to_owned(),
    };
    let filter = EnvFilter::try_new(directives)
        .map_err(|source| LogError::Level { level: level.to_owned(), source })?;
    let lines = match format {
        Format::Human => {
            let lines = fmt::layer().with_writer(writer.clone()).with_target(false);
            lines.with_ansi(stderr().is_terminal()).boxed()
        }
        Format::Json => fmt::layer().json().flatten_event(true).with_writer(writer.clone()).boxed(),
    };
    let lines = lines.with_filter(filter.and(filter_fn(|about| !is_audit(about))));
    let audit = fmt::layer().json().flatten_event(true).with_current_span(false);
    let audit = audit.with_span_list(false).with_writer(writer).with_filter(filter_fn(is_audit));
    Ok(registry().with(lines).with(audit))
}

fn is_audit(about: &Metadata<'_>) -> bool {
    about.target() == audit::TARGET
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use tracing::subscriber::with_default;

    use super::{Format, subscriber};
    use crate::telemetry::audit::Act;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: Format, level: &str, act: impl FnOnce()) -> Vec<String> {
        let lines = Lines::default();
        let writer = lines.clone();
        with_default(subscriber(format, level, move || writer.clone()).unwrap(), act);
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn the_audit_is_json_in_every_format_and_at_every_level() {
        let act = Act { request_id: "1", who: "ann", from: "here", action: "reload", target: "x" };
        for format in [Format::Human, Format::Json] {
            for level in ["off", "error", "info", "trace"] {
                let lines = logged(format, level, || act.refused("why"));
                assert_eq!(lines.len(), 1, "{format:?} {level}: {lines:?}");
                let line: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
                for (name, value) in [
                    ("target", "audit"),
                    ("request_id", "1"),
                    ("who", "ann"),
                    ("from", "here"),
                    ("action", "reload"),
                    ("object", "x"),
                    ("result", "refused"),
                    ("reason", "why"),
                ] {
                    assert_eq!(line[name], value, "{name} in {line}");
                }
            }
        }
    }

    #[test]
    fn other_lines_keep_to_format_and_level() {
        let both = || {
            tracing::info!("said");
            tracing::debug!("not said");
        };
        let human = logged(Format::Human, "info", both);
        assert!(human.len() == 1 && human[0].ends_with("said") && !human[0].starts_with('{'));
        let json = logged(Format::Json, "info", both);
        assert!(json.len() == 1 && json[0].starts_with('{'), "{json:?}");
        assert!(logged(Format::Human, "error", both).is_empty());
    }

    #[test]
    fn a_span_of_a_request_names_it_in_each_line() {
        let within = || {
            let span = tracing::debug_span!("request", request_id = "abc");
            span.in_scope(|| tracing::debug!("within"));
        };
        for format in [Format::Human, Format::Json] {
            let lines = logged(format, "debug", within);
            assert!(lines.len() == 1 && lines[0].contains("abc"), "{lines:?}");
        }
    }
}
