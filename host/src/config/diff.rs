//! What is different between two configurations, in words for the operator.

use std::fmt;
use std::sync::Arc;

use super::settings::{
    ConnectorSettings, Limits, Listen, PluginSettings, Settings, Target, UpstreamSettings,
};

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it is about: `upstream hub/notes`, `listen`.
    pub what: String,
    /// What happened to it.
    pub how: How,
    /// Whether it takes effect only at the next start.
    pub waits: bool,
}

/// What happened to a part of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// These of its keys, or how it was and how it is. Secrets are named, never shown.
    Changed(String),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.how {
            How::Added => write!(f, "+ {}", self.what)?,
            How::Removed => write!(f, "- {}", self.what)?,
            How::Changed(keys) => write!(f, "~ {}: {keys}", self.what)?,
        }
        if self.waits { f.write_str(" (takes effect at the next start)") } else { Ok(()) }
    }
}

/// The names of the fields that differ.
macro_rules! differing {
    ($old:expr, $new:expr; $($field:ident),+ $(,)?) => {
        [$((stringify!($field), $old.$field == $new.$field)),+]
            .into_iter()
            .filter(|(_, same)| !same)
            .map(|(name, _)| name)
            .collect::<Vec<_>>()
    };
}

/// Every difference, in the order of the file.
pub fn diff(old: &Settings, new: &Settings) -> Vec<Change> {
    let mut changes = Changes::default();
    listen(&old.listen, &new.listen, &mut changes);
    let top = differing!(old, new; auth, admin, audit, cache_dir, pins_file);
    for key in top {
        changes.changed(key.to_owned(), &["changed"], key != "auth");
    }
    limits(&old.limits, &new.limits, &mut changes);
    changes.lists(&old.plugins, &new.plugins, "plugin ", plugin);
    changes.lists(&old.connectors, &new.connectors, "connector ", connector);
    changes.0
}

/// A part of the configuration that is known by its name.
trait Named: PartialEq {
    fn name(&self) -> &Arc<str>;
}

macro_rules! named {
    ($($part:ty),+) => { $(impl Named for $part {
        fn name(&self) -> &Arc<str> {
            &self.name
        }
    })+ };
}

named!(PluginSettings, ConnectorSettings, UpstreamSettings);

#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn changed(&mut self, what: String, keys: &[&str], waits: bool) {
        if !keys.is_empty() {
            self.0.push(Change { what, how: How::Changed(keys.join(", ")), waits });
        }
    }

    fn add(&mut self, what: String, how: How) {
        self.0.push(Change { what, how, waits: false });
    }

    /// Compares two lists of named things.
    fn lists<T: Named>(
        &mut self,
        old: &[T],
        new: &[T],
        what: &str,
        compare: impl Fn(&T, &T, String, &mut Self),
    ) {
        let has = |list: &[T], wanted: &T| list.iter().any(|one| one.name() == wanted.name());
        for one in new {
            let title = format!("{what}{}", one.name());
            match old.iter().find(|before| before.name() == one.name()) {
                None => self.add(title, How::Added),
                Some(before) if before == one => {}
                Some(before) => compare(before, one, title, self),
            }
        }
        for one in old.iter().filter(|one| !has(new, one)) {
            self.add(format!("{what}{}", one.name()), How::Removed);
        }
    }
}

fn listen(old: &Listen, new: &Listen, changes: &mut Changes) {
    if old.address != new.address {
        let how = format!("{} -> {}", old.address, new.address);
        changes.changed("listen".to_owned(), &[&how], false);
    }
    changes.changed("listener".to_owned(), &differing!(old, new; hosts, exposure), false);
}

fn limits(old: &Limits, new: &Limits, changes: &mut Changes) {
    let now = differing!(old, new; max_body, body_timeout, review_max);
    changes.changed("limits".to_owned(), &now, false);
    let later = differing!(
        old, new;
        max_connections, max_sessions, session_idle, header_timeout, shutdown_grace,
    );
    changes.changed("limits".to_owned(), &later, true);
}

fn plugin(old: &PluginSettings, new: &PluginSettings, title: String, changes: &mut Changes) {
    let keys = differing!(old, new; source, digest, config, limits, grants, on_error);
    changes.changed(title, &keys, false);
}

fn connector(
    old: &ConnectorSettings,
    new: &ConnectorSettings,
    title: String,
    changes: &mut Changes,
) {
    let keys = differing!(
        old, new; description, path, anonymous, status, confirm_timeout, discovery, server_info, artifacts, pin, router, policies,
        disabled, registry, register,
    );
    changes.changed(title, &keys, false);
    let what = format!("upstream {}/", new.name);
    let order = |connector: &ConnectorSettings| -> Vec<Arc<str>> {
        connector.upstreams.iter().map(|upstream| upstream.name.clone()).collect()
    };
    let before = changes.0.len();
    changes.lists(&old.upstreams, &new.upstreams, &what, upstream);
    if changes.0.len() == before && order(old) != order(new) {
        changes.changed(format!("connector {}", new.name), &["order of the upstreams"], false);
    }
}

fn upstream(old: &UpstreamSettings, new: &UpstreamSettings, title: String, changes: &mut Changes) {
    let mut keys = match (&old.target, &new.target) {
        (Target::Http(old), Target::Http(new)) => {
            differing!(old, new; url, transport, artifact_origins)
        }
        (Target::Stdio(old), Target::Stdio(new)) => {
            differing!(old, new; command, args, env, cwd, sharing, max_children, idle_stop)
        }
        (Target::Leased(_), Target::Http(_)) | (Target::Http(_), Target::Leased(_)) => {
            vec!["lease"]
        }
        (old, new) if old != new => vec!["url in place of command, or the other way round"],
        _ => Vec::new(),
    };
    keys.extend(differing!(
        old, new; credential, headers, catalog, naming, server_requests, instructions, pin, timeouts, watch, absence,
        accept_leases,
    ));
    changes.changed(title, &keys, false);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{Environment, Flags, parse};

    fn settings(text: &str) -> Settings {
        let environment = Environment::default();
        parse(text, Path::new("/c/plugway.yaml"), &Flags::default(), &environment).unwrap()
    }

    #[test]
    fn a_difference_is_named_and_no_value_of_an_environment_shown() {
        let old = settings(
            "name: hub\nlisten: 127.0.0.1:1\nlimits: {max_sessions: 5}\nupstreams:\n\
             - {name: a, url: http://127.0.0.1:1/mcp}\n\
             - {name: b, command: cat, env: {K: first}}\n- {name: c, command: cat}\n",
        );
        let new = settings(
            "name: hub\nlisten: 127.0.0.1:2\nupstreams:\n\
             - {name: d, command: cat}\n- {name: b, command: cat, env: {K: second}}\n\
             - {name: a, url: http://127.0.0.1:1/mcp, prefix: never}\n",
        );
        let said: Vec<String> = diff(&old, &new).iter().map(ToString::to_string).collect();
        let expected = [
            "~ listen: 127.0.0.1:1 -> 127.0.0.1:2",
            "~ limits: max_sessions (takes effect at the next start)",
            "+ upstream hub/d",
            "~ upstream hub/b: env",
            "~ upstream hub/a: naming",
            "- upstream hub/c",
        ];
        assert_eq!(said, expected);
        assert_eq!(diff(&old, &old.clone()), []);
    }

    #[test]
    fn what_servers_may_say_and_how_a_connector_introduces_itself_are_named() {
        let of = |connector: &str, upstream: &str| {
            settings(&format!(
                "name: hub\n{connector}upstreams:\n- {{name: a, url: http://x/sse{upstream}}}\n"
            ))
        };
        let new = of(
            "server_info: {title: Hub}\n",
            ", transport: sse, instructions: omit, server_requests: []",
        );
        let said: Vec<String> = diff(&of("", ""), &new).iter().map(ToString::to_string).collect();
        let expected = [
            "~ connector hub: server_info",
            "~ upstream hub/a: transport, server_requests, instructions",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn another_order_is_a_difference() {
        let of = |names: [&str; 2]| {
            let upstreams = names.map(|name| format!("- {{name: {name}, command: cat}}\n"));
            settings(&format!("name: hub\nupstreams:\n{}", upstreams.concat()))
        };
        let said = diff(&of(["a", "b"]), &of(["b", "a"]));
        assert_eq!(said[0].to_string(), "~ connector hub: order of the upstreams");
    }
}
