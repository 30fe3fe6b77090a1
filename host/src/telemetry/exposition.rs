//! Numbers as Prometheus reads them (text format 0.0.4).

use std::fmt::{Display, Write};
use std::time::Duration;

use super::ledger::Ledger;

/// What a number does over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// It counts times by length.
    Histogram,
}

/// Labels of a sample.
pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// A text that grows family by family.
#[derive(Debug, Default)]
pub struct Exposition<'a> {
    text: String,
    family: &'static str,
    only_grows: bool,
    ledger: Option<&'a mut Ledger>,
}

impl<'a> Exposition<'a> {
    /// A text whose counters only grow from one reading to the next.
    pub fn over(ledger: &'a mut Ledger) -> Self {
        ledger.begin();
        Self { ledger: Some(ledger), ..Self::default() }
    }

    /// Begins a family; its samples follow. Every family is begun once.
    pub fn family(&mut self, name: &'static str, kind: Kind, help: &str) {
        self.family = name;
        self.only_grows = kind != Kind::Gauge;
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        self.line(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}"));
    }

    /// A sample of the family.
    pub fn sample(&mut self, labels: Labels<'_>, value: u64) {
        let mut value = [value];
        self.settle(labels, &mut value);
        let (family, [value]) = (self.family, value);
        self.line(format_args!("{family}{} {value}", Braces(labels, None)));
    }

    /// A histogram of the family: counts by upper bound in seconds, not cumulative, one more count than bounds.
    pub fn histogram(&mut self, labels: Labels<'_>, bounds: &[f64], counts: &[u64], sum: Duration) {
        let family = self.family;
        let sum = u64::try_from(sum.as_nanos()).unwrap_or(u64::MAX);
        let mut numbers: Vec<u64> = counts.iter().copied().chain([sum]).collect();
        self.settle(labels, &mut numbers);
        let sum = Duration::from_nanos(numbers.pop().unwrap_or_default()).as_secs_f64();
        let mut total = 0_u64;
        let ends = bounds.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
        for (end, count) in ends.zip(numbers) {
            total = total.saturating_add(count);
            self.line(format_args!("{family}_bucket{} {total}", Braces(labels, Some(&end))));
        }
        self.line(format_args!("{family}_sum{} {sum}", Braces(labels, None)));
        self.line(format_args!("{family}_count{} {total}", Braces(labels, None)));
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.text
    }

    fn settle(&mut self, labels: Labels<'_>, values: &mut [u64]) {
        if let Some(ledger) = self.ledger.as_deref_mut().filter(|_| self.only_grows) {
            ledger.settle(format!("{}{}", self.family, Braces(labels, None)), values);
        }
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _infallible = writeln!(self.text, "{line}");
    }
}

/// Labels in braces, and the upper bound of a bucket.
struct Braces<'a>(Labels<'a>, Option<&'a str>);

impl Display for Braces<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bound = self.1.map(|end| ("le", end));
        let mut before = "{";
        for (name, value) in self.0.iter().copied().chain(bound) {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            write!(f, "{before}{name}=\"{value}\"")?;
            before = ",";
        }
        if before == "," { f.write_str("}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_go_on_and_gauges_do_not() {
        let mut ledger = Ledger::default();
        for (count, expected) in [(3, "a_total 3\nb 3\n"), (1, "a_total 4\nb 1\n")] {
            let mut text = Exposition::over(&mut ledger);
            for (name, kind) in [("a_total", Kind::Counter), ("b", Kind::Gauge)] {
                text.family(name, kind, "What it counts.");
                text.sample(&[], count);
            }
            let text = text.finish();
            let samples: String =
                text.split_inclusive('\n').filter(|line| !line.starts_with('#')).collect();
            assert_eq!(samples, expected);
        }
    }

    #[test]
    fn prometheus_reads_it() {
        let mut text = Exposition::default();
        text.family("a_total", Kind::Counter, "What it counts.");
        text.sample(&[], 1);
        text.sample(&[("x", "a\"b\\c\nd"), ("y", "")], 2);
        text.family("b_seconds", Kind::Histogram, "How long.");
        text.histogram(&[("x", "y")], &[0.001, 1.0], &[1, 2, 3], Duration::from_millis(2500));
        let expected = "# HELP a_total What it counts.\n# TYPE a_total counter\na_total 1\n\
            a_total{x=\"a\\\"b\\\\c\\nd\",y=\"\"} 2\n\
            # HELP b_seconds How long.\n# TYPE b_seconds histogram\n\
            b_seconds_bucket{x=\"y\",le=\"0.001\"} 1\nb_seconds_bucket{x=\"y\",le=\"1\"} 3\n\
            b_seconds_bucket{x=\"y\",le=\"+Inf\"} 6\nb_seconds_sum{x=\"y\"} 2.5\n\
            b_seconds_count{x=\"y\"} 6\n";
        assert_eq!(text.finish(), expected);
    }
}
