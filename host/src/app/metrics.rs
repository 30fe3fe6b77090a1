//! Text for `GET /metrics`: what the rooms counted, put together.

use crate::pipeline::port::Phase;
use crate::plugin::{BUCKETS_US, PluginStats, Runtime};
use crate::telemetry::plugins::{HookReading, PluginReading};
use crate::telemetry::{Exposition, Kind, plugins};
use crate::transport::Site;

/// Everything that is counted, in Prometheus' text format.
pub(super) fn render(site: &Site, runtime: &Runtime) -> String {
    let mut text = Exposition::default();
    site.counts.write(&mut text);
    text.family("plugway_sessions", Kind::Gauge, "Sessions of the legacy era.");
    text.sample(&[], site.sessions.len());
    text.family("plugway_upstream_connected", Kind::Gauge, "1 while the upstream can be used.");
    for connector in site.connectors() {
        for (upstream, phase) in connector.phases() {
            let labels = [("connector", &*connector.name), ("upstream", &*upstream)];
            text.sample(&labels, u8::from(phase == Phase::Connected));
        }
    }
    let stats = runtime.stats();
    let readings: Vec<PluginReading<'_>> = stats.iter().map(reading).collect();
    plugins::write(&mut text, &readings);
    text.finish()
}

fn reading(stats: &PluginStats) -> PluginReading<'_> {
    let hooks = stats.hooks.iter().map(|hook| HookReading {
        hook: hook.hook,
        calls: hook.calls,
        errors: &hook.errors,
        bounds_us: &BUCKETS_US,
        buckets: &hook.buckets,
        sum: hook.sum,
    });
    PluginReading {
        plugin: &stats.plugin,
        connector: &stats.connector,
        live: stats.live,
        created: stats.created,
        discarded: stats.discarded,
        log_dropped: stats.log_dropped,
        generation: stats.generation,
        aside: stats.aside,
        degraded: stats.degraded.is_some(),
        hooks: hooks.collect(),
    }
}
