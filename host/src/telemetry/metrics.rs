//! Counts of requests and faults. Every label is one of a closed list, so a count is one atomic addition in an array:
//! nothing is looked up, locked or allocated while a request runs, and no client can make the list longer.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::exposition::{Exposition, Kind};
use super::ledger::Ledger;
use super::live::Live;
use crate::fault::{Code, Fault};
use crate::protocol::Method;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With an answer of an upstream or of plugway; the answer may be an error of the server's own.
    Answered,
    /// With a fault.
    Failed,
}

/// How a reload of the configuration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reload {
    /// The new one serves.
    Applied,
    /// There was nothing new.
    Unchanged,
    /// It was refused, and the old one goes on serving.
    Refused,
}

const RELOADS: [&str; 3] = ["applied", "unchanged", "refused"];
const OUTCOMES: [&str; 2] = ["answered", "failed"];
/// The methods in the order of the enumeration, so that each is found at its own number.
const METHODS: [Method; Method::Other as usize + 1] = [
    Method::Initialize,
    Method::Discover,
    Method::Ping,
    Method::ToolsList,
    Method::ToolsCall,
    Method::PromptsList,
    Method::PromptsGet,
    Method::ResourcesList,
    Method::ResourcesTemplatesList,
    Method::ResourcesRead,
    Method::ResourcesSubscribe,
    Method::ResourcesUnsubscribe,
    Method::Complete,
    Method::SetLevel,
    Method::SubscriptionsListen,
    Method::Initialized,
    Method::Cancelled,
    Method::Progress,
    Method::RootsListChanged,
    Method::Message,
    Method::ToolsListChanged,
    Method::PromptsListChanged,
    Method::ResourcesListChanged,
    Method::ResourcesUpdated,
    Method::Acknowledged,
    Method::Other,
];
/// Upper bounds of the times in microseconds; one more bucket takes the rest.
const BOUNDS_US: [u64; 12] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000, 60_000_000,
];

/// Counts of requests and faults.
#[derive(Debug)]
pub struct Metrics {
    requests: [[AtomicU64; OUTCOMES.len()]; METHODS.len()],
    faults: [AtomicU64; Code::ALL.len()],
    times: [AtomicU64; BOUNDS_US.len() + 1],
    time_us: AtomicU64,
    reloads: [AtomicU64; RELOADS.len()],
    /// Connections of clients.
    pub connections: Arc<Live>,
    /// Requests of clients, until their answers begin.
    pub serving: Arc<Live>,
    ledger: Mutex<Ledger>,
}

impl Metrics {
    /// Nothing was counted yet.
    pub fn new() -> Self {
        Self {
            requests: [const { [const { AtomicU64::new(0) }; OUTCOMES.len()] }; METHODS.len()],
            faults: [const { AtomicU64::new(0) }; Code::ALL.len()],
            times: [const { AtomicU64::new(0) }; BOUNDS_US.len() + 1],
            time_us: AtomicU64::new(0),
            reloads: [const { AtomicU64::new(0) }; RELOADS.len()],
            connections: Arc::default(),
            serving: Arc::default(),
            ledger: Mutex::default(),
        }
    }

    /// A request ended after so long.
    pub fn request(&self, method: Method, outcome: Outcome, time: Duration) {
        let counts = self.requests.get(method as usize);
        add(counts.and_then(|counts| counts.get(outcome as usize)), 1);
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_US.iter().position(|bound| us <= *bound).unwrap_or(BOUNDS_US.len());
        add(self.times.get(bucket), 1);
        add(Some(&self.time_us), us);
    }

    /// Something went wrong.
    pub fn fault(&self, fault: &Fault) {
        let place = Code::ALL.iter().position(|code| *code == fault.code());
        add(place.and_then(|place| self.faults.get(place)), 1);
    }

    /// A reload of the configuration ended.
    pub fn reload(&self, result: Reload) {
        add(self.reloads.get(result as usize), 1);
    }

    /// What keeps counters growing when what they count is made anew; one reading at a time.
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what was counted; methods and codes that never came are left out.
    pub fn write(&self, text: &mut Exposition<'_>) {
        self.write_requests(text);
        let name = "plugway_requests_in_progress";
        text.family(name, Kind::Gauge, "Requests of clients whose answers have not begun.");
        text.sample(&[], self.serving.now());
        text.family("plugway_connections", Kind::Gauge, "Connections of clients.");
        text.sample(&[], self.connections.now());
        let name = "plugway_connections_total";
        text.family(name, Kind::Counter, "Connections of clients so far.");
        text.sample(&[], self.connections.ever());
        let name = "plugway_reloads_total";
        text.family(name, Kind::Counter, "Reloads of the configuration by result.");
        for (result, count) in RELOADS.iter().zip(&self.reloads) {
            text.sample(&[("result", result)], count.load(Relaxed));
        }
    }

    fn write_requests(&self, text: &mut Exposition<'_>) {
        let name = "plugway_requests_total";
        text.family(name, Kind::Counter, "Requests of clients by method and outcome.");
        for (method, counts) in METHODS.iter().zip(&self.requests) {
            for (outcome, count) in OUTCOMES.iter().zip(counts) {
                let word = match method.as_str() {
                    "" => "other",
                    word => word,
                };
                sample(text, &[("method", word), ("outcome", outcome)], count);
            }
        }
        let name = "plugway_errors_total";
        text.family(name, Kind::Counter, "Faults by who has to change something, and by code.");
        for (code, count) in Code::ALL.iter().zip(&self.faults) {
            let labels = [("blame", code.blame().as_str()), ("code", code.as_str())];
            sample(text, &labels, count);
        }
        let name = "plugway_request_seconds";
        text.family(name, Kind::Histogram, "Time until the answer to a request begins.");
        let bounds = BOUNDS_US.map(|us| Duration::from_micros(us).as_secs_f64());
        let counts: Vec<u64> = self.times.iter().map(|count| count.load(Relaxed)).collect();
        let sum = Duration::from_micros(self.time_us.load(Relaxed));
        text.histogram(&[], &bounds, &counts, sum);
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

fn add(count: Option<&AtomicU64>, value: u64) {
    if let Some(count) = count {
        count.fetch_add(value, Relaxed);
    }
}

fn sample(text: &mut Exposition<'_>, labels: &[(&'static str, &str)], count: &AtomicU64) {
    let count = count.load(Relaxed);
    if count > 0 {
        text.sample(labels, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_is_at_its_own_number() {
        for (place, method) in METHODS.iter().enumerate() {
            assert_eq!(*method as usize, place);
        }
    }

    #[test]
    fn what_was_counted_is_written() {
        let metrics = Metrics::new();
        let time = Duration::from_micros(300);
        metrics.request(Method::ToolsCall, Outcome::Answered, time);
        metrics.request(Method::ToolsCall, Outcome::Answered, time);
        metrics.request(Method::Other, Outcome::Failed, time);
        metrics.fault(&Fault::new(Code::Internal, "x"));
        let mut text = Exposition::default();
        metrics.write(&mut text);
        let text = text.finish();
        for line in [
            "plugway_requests_total{method=\"tools/call\",outcome=\"answered\"} 2\n",
            "plugway_requests_total{method=\"other\",outcome=\"failed\"} 1\n",
            "plugway_errors_total{blame=\"us\",code=\"internal\"} 1\n",
            "plugway_request_seconds_bucket{le=\"0.00025\"} 0\n",
            "plugway_request_seconds_bucket{le=\"0.0005\"} 3\n",
            "plugway_request_seconds_sum 0.0009\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
        assert!(!text.contains("ping"), "{text}");
    }
}
