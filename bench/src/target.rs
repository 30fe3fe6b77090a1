//! What calls are sent through, and what a round of them cost.

use std::time::Duration;

use anyhow::Result;

use crate::load::{self, Call, Client};
use crate::process::Running;

/// How many clients call at once.
pub(crate) const CONNECTIONS: usize = 16;

/// One round of one target.
#[derive(Clone, Copy, Debug)]
struct Round {
    cpu_us: f64,
    rate: f64,
    p50_us: f64,
    p99_us: f64,
}

/// Something that calls are sent through.
pub(crate) struct Target {
    name: &'static str,
    process: Running,
    call: Call,
    clients: Vec<Client>,
    rounds: Vec<Round>,
}

impl Target {
    /// Connects and initialises its clients.
    pub(crate) async fn new(name: &'static str, process: Running, call: Call) -> Result<Self> {
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            clients.push(Client::connect(process.address).await?);
        }
        Ok(Self { name, process, call, clients, rounds: Vec::new() })
    }

    async fn round(&mut self, time: Duration) -> Result<Round> {
        let clients = std::mem::take(&mut self.clients);
        let before = self.process.cpu_us()?;
        let start = load::now();
        let (clients, mut latencies) = load::run(clients, &self.call, time).await?;
        let wall = load::now().duration_since(start).as_secs_f64();
        let cpu = self.process.cpu_us()? - before;
        self.clients = clients;
        latencies.sort_unstable();
        let count = latencies.len() as f64;
        Ok(Round {
            cpu_us: cpu / count,
            rate: count / wall,
            p50_us: quantile(&latencies, 0.50),
            p99_us: quantile(&latencies, 0.99),
        })
    }

    fn median(&self, pick: impl Fn(&Round) -> f64) -> f64 {
        let mut values: Vec<f64> = self.rounds.iter().map(pick).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

fn quantile(sorted: &[u32], part: f64) -> f64 {
    let place = (sorted.len() as f64 * part) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().map_or(f64::NAN, f64::from)
}

/// One round of each to warm up, then rounds of all in turn.
pub(crate) async fn rounds(targets: &mut [Target], count: usize, time: Duration) -> Result<()> {
    for target in &mut *targets {
        target.round(time).await?;
    }
    for _ in 0..count {
        for target in &mut *targets {
            let round = target.round(time).await?;
            target.rounds.push(round);
        }
    }
    Ok(())
}

/// A line for each target: the medians of its rounds.
pub(crate) fn print_rows(targets: &[Target]) -> Result<()> {
    println!(
        "{:<14} {:>12} {:>10} {:>9} {:>9} {:>9}",
        "", "CPU us/call", "calls/s", "p50 us", "p99 us", "RSS MiB"
    );
    for target in targets {
        println!(
            "{:<14} {:>12.1} {:>10.1} {:>9.0} {:>9.0} {:>9.1}",
            target.name,
            target.median(|round| round.cpu_us),
            target.median(|round| round.rate),
            target.median(|round| round.p50_us),
            target.median(|round| round.p99_us),
            target.process.resident_mib()?,
        );
    }
    Ok(())
}

/// The medians of one target as parts of another's.
pub(crate) fn print_ratios(name: &str, through: &Target, base: &Target) {
    let ratio = |pick: fn(&Round) -> f64| through.median(pick) / base.median(pick);
    println!(
        "{name:<14} {:>12.3} {:>10.2} {:>9.2} {:>9.2}\n",
        ratio(|round| round.cpu_us),
        ratio(|round| round.rate),
        ratio(|round| round.p50_us),
        ratio(|round| round.p99_us),
    );
}

/// How much processor time a call of one target costs more than that of another.
pub(crate) fn print_more(name: &str, with: &Target, without: &Target) {
    let cpu = |target: &Target| target.median(|round| round.cpu_us);
    println!("{name} costs {:.1} us of processor time for each call\n", cpu(with) - cpu(without));
}
