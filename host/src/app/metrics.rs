//! Text for `GET /metrics`: what the rooms counted, put together.

use crate::audit::Counts;
use crate::pins::Ledger;
use crate::pipeline::port::{Phase, Upstream};
use crate::plugin::{BUCKETS_US, PluginStats, Runtime};
use crate::registry::Book;
use crate::telemetry::plugins::{HookReading, PluginReading};
use crate::telemetry::upstreams::UpstreamReading;
use crate::telemetry::{Exposition, Kind, plugins, upstreams};
use crate::transport::Site;

const PHASES: [Phase; 3] = [Phase::Connected, Phase::Reconnecting, Phase::Disconnected];

/// Everything that is counted, in Prometheus' text format.
pub(super) fn render(
    site: &Site,
    runtime: &Runtime,
    (leases, pins): (&Book, &Ledger),
    audit: Counts,
) -> String {
    let mut ledger = site.counts.ledger();
    let mut text = Exposition::over(&mut ledger);
    text.family("plugway_info", Kind::Gauge, "Always 1: the version that runs.");
    text.sample(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    site.counts.write(&mut text);
    let help = "Sessions of the legacy era, and identified callers of the modern era.";
    text.family("plugway_sessions", Kind::Gauge, help);
    text.sample(&[("era", "legacy")], count(site.sessions.len()));
    text.sample(&[("era", "modern")], count(site.sessions.parties()));
    let readings: Vec<UpstreamReading<'_>> = site
        .connectors()
        .flat_map(|connector| {
            let served = connector.upstreams.iter();
            served.map(|served| upstream(&connector.name, &*served.upstream))
        })
        .collect();
    let help = "Messages to clients that a list changed, by list.";
    text.family("plugway_list_changed_total", Kind::Counter, help);
    for connector in site.connectors() {
        for (list, count) in connector.announced.messages() {
            text.sample(&[("connector", &*connector.name), ("list", list)], count);
        }
    }
    let help = "Servers that registered themselves, by what became of them.";
    text.family("plugway_registry_leases", Kind::Gauge, help);
    for of in leases.counts() {
        for (state, count) in [("joining", of.joining), ("serving", of.serving), ("held", of.held)]
        {
            text.sample(&[("connector", &*of.connector), ("state", state)], count);
        }
    }
    let help = "Lines of the audit that were taken.";
    text.family("plugway_audit_lines_total", Kind::Counter, help);
    text.sample(&[], audit.taken);
    let help =
        "Lines of the audit that were lost: there was no room for them, or no way to write them.";
    text.family("plugway_audit_lost_total", Kind::Counter, help);
    text.sample(&[], audit.lost);
    let help = "Lines of the audit that its copy on standard output lacks.";
    text.family("plugway_audit_copies_lost_total", Kind::Counter, help);
    text.sample(&[], audit.copies_lost);
    let help = "1 while the audit, or its copy on standard output, cannot be written.";
    text.family("plugway_audit_failing", Kind::Gauge, help);
    text.sample(&[], u64::from(audit.failing));
    let help =
        "Definitions of a server that are held back, because they are not as they were approved.";
    text.family("plugway_pins_held", Kind::Gauge, help);
    for (connector, upstream, held) in pins.held() {
        text.sample(&[("connector", &*connector), ("upstream", &*upstream)], held);
    }
    upstreams::write(&mut text, &PHASES.map(Phase::as_str), &readings);
    let stats = runtime.stats();
    let readings: Vec<PluginReading<'_>> = stats.iter().map(reading).collect();
    plugins::write(&mut text, &readings);
    text.finish()
}

fn count(things: usize) -> u64 {
    u64::try_from(things).unwrap_or(u64::MAX)
}

fn upstream<'a>(connector: &'a str, upstream: &'a dyn Upstream) -> UpstreamReading<'a> {
    let (phase, disabled) = {
        let watch = upstream.watch();
        let snapshot = watch.borrow();
        (snapshot.phase, snapshot.disabled)
    };
    let numbers = upstream.numbers();
    UpstreamReading {
        connector,
        upstream: upstream.name(),
        phase: phase.as_str(),
        disabled,
        sessions: numbers.sessions,
        children: numbers.children,
        in_flight: numbers.in_flight,
        streams_opened: numbers.streams_opened,
        streams_active: numbers.streams_active,
        streams_closed: numbers.streams_closed,
        streams_unsupported: numbers.streams_unsupported,
        catalogues_read: numbers.catalogues_read,
    }
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
        disabled: stats.disabled,
        degraded: stats.degraded.is_some(),
        hooks: hooks.collect(),
    }
}
