//! The run: rounds in turn, medians, ratios.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::load::{self, Client};
use crate::process::Running;
use crate::{echo, memory, startup};

const CONNECTIONS: usize = 16;

/// One round of one target.
#[derive(Clone, Copy, Debug)]
struct Round {
    cpu_us: f64,
    rate: f64,
    p50_us: f64,
    p99_us: f64,
}

/// Something that calls are sent through.
struct Target {
    name: &'static str,
    process: Running,
    tool: String,
    clients: Vec<Client>,
    rounds: Vec<Round>,
}

impl Target {
    async fn new(name: &'static str, process: Running, tool: String) -> Result<Self> {
        let mut clients = Vec::new();
        for _ in 0..CONNECTIONS {
            clients.push(Client::connect(process.address).await?);
        }
        Ok(Self { name, process, tool, clients, rounds: Vec::new() })
    }

    async fn round(&mut self, time: Duration) -> Result<Round> {
        let clients = std::mem::take(&mut self.clients);
        let before = self.process.cpu_us()?;
        let start = load::now();
        let (clients, mut latencies) = load::run(clients, &self.tool, time).await?;
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

/// Measures and prints.
pub(crate) async fn run(plugway: &Path, quick: bool) -> Result<()> {
    let (rounds, time) = if quick { (2, 300) } else { (7, 3_000) };
    let time = Duration::from_millis(time);
    let upstream = Running::role(&["echo"]).await?;
    let address = upstream.address.to_string();
    let bare = Running::role(&["proxy", &address]).await?;
    let folder = std::env::temp_dir().join(format!("plugway-bench-{}", std::process::id()));
    let configuration = configure(&folder, &address)?;

    let through = Running::plugway(plugway, &configuration).await?;
    startup::until_ready(through.address).await?;
    let mut targets = [
        Target::new("bare proxy", bare, echo::TOOL.to_owned()).await?,
        Target::new("plugway", through, format!("up_{}", echo::TOOL)).await?,
    ];
    println!(
        "{rounds} rounds of {time:?} each, in turns; {CONNECTIONS} connections, each with a session;"
    );
    println!(
        "tools/call of 1 KiB, answered with 1 KiB; one HTTP upstream; medians of the rounds\n"
    );
    for target in &mut targets {
        target.round(time).await?;
    }
    for _ in 0..rounds {
        for target in &mut targets {
            let round = target.round(time).await?;
            target.rounds.push(round);
        }
    }
    print(&targets)?;
    drop(targets);
    memory::run(plugway, &configuration).await?;
    startup::run(plugway, &configuration, if quick { 3 } else { 21 }).await?;
    remove(&folder);
    Ok(())
}

fn print(targets: &[Target; 2]) -> Result<()> {
    println!(
        "{:<12} {:>12} {:>10} {:>9} {:>9} {:>9}",
        "", "CPU us/call", "calls/s", "p50 us", "p99 us", "RSS MiB"
    );
    for target in targets {
        println!(
            "{:<12} {:>12.1} {:>10.0} {:>9.0} {:>9.0} {:>9.1}",
            target.name,
            target.median(|round| round.cpu_us),
            target.median(|round| round.rate),
            target.median(|round| round.p50_us),
            target.median(|round| round.p99_us),
            target.process.resident_mib()?,
        );
    }
    let [bare, through] = targets;
    let ratio = |pick: fn(&Round) -> f64| through.median(pick) / bare.median(pick);
    println!(
        "{:<12} {:>12.2} {:>10.2} {:>9.2} {:>9.2}\n",
        "ratio",
        ratio(|round| round.cpu_us),
        ratio(|round| round.rate),
        ratio(|round| round.p50_us),
        ratio(|round| round.p99_us),
    );
    Ok(())
}

fn configure(folder: &Path, upstream: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join("plugway.yaml");
    let cache = folder.join("cache");
    let text = format!(
        "name: hub\ncache_dir: {}\nupstreams:\n  - name: up\n    url: http://{upstream}/mcp\n",
        cache.display()
    );
    std::fs::write(&path, text)?;
    Ok(path)
}

fn remove(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        println!("{} stays: {error}", folder.display());
    }
}
