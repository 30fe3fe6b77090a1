//! Numbers of plugins. The plugin room counts; whoever builds both rooms hands its numbers over in these forms.

use std::time::Duration;

use super::exposition::{Exposition, Kind};

/// The numbers of one plugin in one connector.
#[derive(Clone, Debug)]
pub struct PluginReading<'a> {
    /// The operator's name for the plugin.
    pub plugin: &'a str,
    /// The connector.
    pub connector: &'a str,
    /// Instances that live now.
    pub live: u64,
    /// Instances made.
    pub created: u64,
    /// Instances thrown away.
    pub discarded: u64,
    /// Log lines dropped.
    pub log_dropped: u64,
    /// Counts up with every swap.
    pub generation: u64,
    /// Whether it is put aside after repeated failures.
    pub aside: bool,
    /// Whether the operator put it out of use.
    pub disabled: bool,
    /// Whether something else serves than the file on disk.
    pub degraded: bool,
    /// Its hooks.
    pub hooks: Vec<HookReading<'a>>,
}

/// The numbers of one hook.
#[derive(Clone, Debug)]
pub struct HookReading<'a> {
    /// The hook's word.
    pub hook: &'a str,
    /// Calls that reached an instance.
    pub calls: u64,
    /// Failures by class.
    pub errors: &'a [(&'static str, u64)],
    /// Upper bounds of the buckets in microseconds.
    pub bounds_us: &'a [u64],
    /// Calls by time, not cumulative, one more than bounds.
    pub buckets: &'a [u64],
    /// Time of all calls together.
    pub sum: Duration,
}

/// One number of a plugin.
struct Column {
    name: &'static str,
    kind: Kind,
    help: &'static str,
    value: fn(&PluginReading<'_>) -> u64,
}

const COLUMNS: [Column; 8] = [
    Column {
        name: "plugway_plugin_instances",
        kind: Kind::Gauge,
        help: "Instances that live now.",
        value: |plugin| plugin.live,
    },
    Column {
        name: "plugway_plugin_instances_created_total",
        kind: Kind::Counter,
        help: "Instances made.",
        value: |plugin| plugin.created,
    },
    Column {
        name: "plugway_plugin_instances_discarded_total",
        kind: Kind::Counter,
        help: "Instances thrown away.",
        value: |plugin| plugin.discarded,
    },
    Column {
        name: "plugway_plugin_log_dropped_total",
        kind: Kind::Counter,
        help: "Log lines of plugins that were dropped.",
        value: |plugin| plugin.log_dropped,
    },
    Column {
        name: "plugway_plugin_generation",
        kind: Kind::Gauge,
        help: "Counts up with every swap.",
        value: |plugin| plugin.generation,
    },
    Column {
        name: "plugway_plugin_aside",
        kind: Kind::Gauge,
        help: "1 while the plugin is put aside after repeated failures.",
        value: |plugin| plugin.aside.into(),
    },
    Column {
        name: "plugway_plugin_disabled",
        kind: Kind::Gauge,
        help: "1 while the operator has put the plugin out of use.",
        value: |plugin| plugin.disabled.into(),
    },
    Column {
        name: "plugway_plugin_degraded",
        kind: Kind::Gauge,
        help: "1 while something else serves than the file on disk.",
        value: |plugin| plugin.degraded.into(),
    },
];

/// Writes the numbers of all plugins.
pub fn write(text: &mut Exposition<'_>, plugins: &[PluginReading<'_>]) {
    for column in COLUMNS {
        text.family(column.name, column.kind, column.help);
        for plugin in plugins {
            let labels = [("plugin", plugin.plugin), ("connector", plugin.connector)];
            text.sample(&labels, (column.value)(plugin));
        }
    }
    text.family("plugway_plugin_calls_total", Kind::Counter, "Calls of hooks.");
    each_hook(plugins, |labels, hook| text.sample(&labels, hook.calls));
    text.family("plugway_plugin_errors_total", Kind::Counter, "Failures of hooks by class.");
    each_hook(plugins, |[plugin, connector, word], hook| {
        for (class, count) in hook.errors {
            text.sample(&[plugin, connector, word, ("class", class)], *count);
        }
    });
    text.family("plugway_plugin_seconds", Kind::Histogram, "Time of calls of hooks.");
    each_hook(plugins, |labels, hook| {
        let bounds = hook.bounds_us.iter().map(|us| Duration::from_micros(*us).as_secs_f64());
        text.histogram(&labels, &bounds.collect::<Vec<_>>(), hook.buckets, hook.sum);
    });
}

fn each_hook(
    plugins: &[PluginReading<'_>],
    mut each: impl FnMut([(&'static str, &str); 3], &HookReading<'_>),
) {
    for plugin in plugins {
        for hook in &plugin.hooks {
            let labels =
                [("plugin", plugin.plugin), ("connector", plugin.connector), ("hook", hook.hook)];
            each(labels, hook);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_has_its_numbers() {
        let hook = HookReading {
            hook: "admit",
            calls: 3,
            errors: &[("trap", 1)],
            bounds_us: &[10, 100],
            buckets: &[2, 1, 0],
            sum: Duration::from_micros(40),
        };
        let plugin = PluginReading {
            plugin: "team",
            connector: "hub",
            live: 2,
            created: 3,
            discarded: 1,
            log_dropped: 0,
            generation: 1,
            aside: true,
            disabled: false,
            degraded: false,
            hooks: vec![hook],
        };
        let mut text = Exposition::default();
        write(&mut text, &[plugin]);
        let text = text.finish();
        for line in [
            "plugway_plugin_instances{plugin=\"team\",connector=\"hub\"} 2\n",
            "plugway_plugin_aside{plugin=\"team\",connector=\"hub\"} 1\n",
            "plugway_plugin_errors_total{plugin=\"team\",connector=\"hub\",hook=\"admit\",class=\"trap\"} 1\n",
            "plugway_plugin_seconds_count{plugin=\"team\",connector=\"hub\",hook=\"admit\"} 3\n",
        ] {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}
