//! Numbers of upstreams. The upstream room counts; whoever builds both rooms hands its numbers over in these forms.

use super::exposition::{Exposition, Kind};

/// The numbers of one upstream of one connector.
#[derive(Clone, Copy, Debug)]
pub struct UpstreamReading<'a> {
    /// The connector.
    pub connector: &'a str,
    /// The operator's name for the upstream.
    pub upstream: &'a str,
    /// The word of its phase.
    pub phase: &'a str,
    /// Whether the operator took it out.
    pub disabled: bool,
    /// Sessions that plugway has there.
    pub sessions: u64,
    /// Child processes.
    pub children: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Event streams of plugway's own: opened so far.
    pub streams_opened: u64,
    /// Open now.
    pub streams_active: u64,
    /// Ended so far.
    pub streams_closed: u64,
    /// How often the server said that it has none.
    pub streams_unsupported: u64,
    /// How often its catalogue was read.
    pub catalogues_read: u64,
}

/// One number of an upstream.
struct Column {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    value: fn(&UpstreamReading<'_>) -> u64,
}

const COLUMNS: [Column; 9] = [
    Column {
        name: "plugway_upstream_disabled",
        kind: Kind::Gauge,
        help: "1 while the operator has taken the upstream out.",
        value: |upstream| upstream.disabled.into(),
    },
    Column {
        name: "plugway_upstream_sessions",
        kind: Kind::Gauge,
        help: "Sessions that plugway has at the upstream.",
        value: |upstream| upstream.sessions,
    },
    Column {
        name: "plugway_upstream_children",
        kind: Kind::Gauge,
        help: "Child processes of the upstream.",
        value: |upstream| upstream.children,
    },
    Column {
        name: "plugway_upstream_in_flight",
        kind: Kind::Gauge,
        help: "Requests of clients that the upstream has not answered to the end.",
        value: |upstream| upstream.in_flight,
    },
    Column {
        name: "plugway_upstream_streams_opened_total",
        kind: Kind::Counter,
        help: "Event streams that plugway opened at the upstream.",
        value: |upstream| upstream.streams_opened,
    },
    Column {
        name: "plugway_upstream_streams_active",
        kind: Kind::Gauge,
        help: "Event streams of plugway that are open at the upstream.",
        value: |upstream| upstream.streams_active,
    },
    Column {
        name: "plugway_upstream_streams_closed_total",
        kind: Kind::Counter,
        help: "Event streams of plugway at the upstream that ended.",
        value: |upstream| upstream.streams_closed,
    },
    Column {
        name: "plugway_upstream_streams_unsupported_total",
        kind: Kind::Counter,
        help: "How often the upstream said that it has no such stream.",
        value: |upstream| upstream.streams_unsupported,
    },
    Column {
        name: "plugway_upstream_catalogue_reads_total",
        kind: Kind::Counter,
        help: "How often the catalogue of the upstream was read.",
        value: |upstream| upstream.catalogues_read,
    },
];

/// Writes the numbers of all upstreams; `phases` are the words that a phase may have.
pub fn write(text: &mut Exposition<'_>, phases: &[&str], upstreams: &[UpstreamReading<'_>]) {
    let help = "1 for the phase that the upstream is in, 0 for the others.";
    text.family("plugway_upstream_status", Kind::Gauge, help);
    for upstream in upstreams {
        for phase in phases {
            let (connector, name) = (upstream.connector, upstream.upstream);
            let labels = [("connector", connector), ("upstream", name), ("phase", *phase)];
            text.sample(&labels, u64::from(*phase == upstream.phase));
        }
    }
    for column in COLUMNS {
        text.family(column.name, column.kind, column.help);
        for upstream in upstreams {
            let labels = [("connector", upstream.connector), ("upstream", upstream.upstream)];
            text.sample(&labels, (column.value)(upstream));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Exposition, UpstreamReading, write};

    #[test]
    fn an_upstream_has_one_phase_and_its_numbers() {
        let upstream = UpstreamReading {
            connector: "hub",
            upstream: "clock",
            phase: "connected",
            disabled: false,
            sessions: 1,
            children: 2,
            in_flight: 3,
            streams_opened: 4,
            streams_active: 5,
            streams_closed: 6,
            streams_unsupported: 7,
            catalogues_read: 8,
        };
        let mut text = Exposition::default();
        write(&mut text, &["connected", "disconnected"], &[upstream]);
        let text = text.finish();
        for (name, more, value) in [
            ("status", ",phase=\"connected\"", 1),
            ("status", ",phase=\"disconnected\"", 0),
            ("disabled", "", 0),
            ("sessions", "", 1),
            ("children", "", 2),
            ("in_flight", "", 3),
            ("streams_opened_total", "", 4),
            ("streams_active", "", 5),
            ("streams_closed_total", "", 6),
            ("streams_unsupported_total", "", 7),
            ("catalogue_reads_total", "", 8),
        ] {
            let line = format!(
                "plugway_upstream_{name}{{connector=\"hub\",upstream=\"clock\"{more}}} {value}\n"
            );
            assert!(text.contains(&line), "{line}{text}");
        }
    }
}
