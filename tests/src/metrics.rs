//! What `GET /metrics` says of plugins.

use anyhow::{Result, ensure};

use crate::Plugway;

/// Calls of plugins, by hook.
pub const CALLS: &str = "plugway_plugin_calls_total";
/// Failures of plugins, by hook and class.
pub const ERRORS: &str = "plugway_plugin_errors_total";
/// Log lines of plugins that were dropped.
pub const LOG_DROPPED: &str = "plugway_plugin_log_dropped_total";
/// The generation of a plugin that serves.
pub const GENERATION: &str = "plugway_plugin_generation";

/// The text of `GET /metrics`.
pub async fn text(plugway: &Plugway) -> Result<String> {
    let answer = plugway.get("/metrics").await?;
    ensure!(answer.status == 200, "/metrics answered {}", answer.status);
    Ok(answer.text())
}

/// The sum of all samples of a metric that have all these labels.
pub async fn sum(plugway: &Plugway, metric: &str, labels: &[(&str, &str)]) -> Result<f64> {
    Ok(sum_in(&text(plugway).await?, metric, labels))
}

fn sum_in(text: &str, metric: &str, labels: &[(&str, &str)]) -> f64 {
    let samples = text.lines().filter_map(|line| {
        let (series, value) = line.rsplit_once(' ')?;
        let (name, written) = series.split_once('{').unwrap_or((series, ""));
        let has = |label: &(&str, &str)| written.contains(&format!("{}=\"{}\"", label.0, label.1));
        (name == metric && labels.iter().all(has)).then(|| value.parse::<f64>().ok())?
    });
    samples.sum()
}

#[cfg(test)]
mod tests {
    use super::sum_in;

    #[test]
    fn samples_are_found_by_their_labels() {
        let text = "# TYPE a counter\na{x=\"1\",y=\"2\"} 3\na{x=\"1\",y=\"3\"} 4\nab{x=\"1\"} 5\n";
        for (labels, sum) in [(vec![("x", "1")], 7.0), (vec![("x", "1"), ("y", "2")], 3.0)] {
            assert!((sum_in(text, "a", &labels) - sum).abs() < f64::EPSILON, "{labels:?}");
        }
    }
}
