//! What a path names.

use crate::pipeline::port::Control;

/// What can be looked at or done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource<'a> {
    /// The upstreams of every connector.
    Upstreams,
    /// Their workers.
    Workers,
    /// The plugins.
    Plugins,
    /// Sessions and callers.
    Sessions,
    /// The configuration is read again.
    Reload,
    /// An upstream is told something: connector, name, what.
    Upstream(&'a str, &'a str, Control),
    /// A plugin is put out of use, or back.
    Plugin(&'a str, bool),
}

impl<'a> Resource<'a> {
    /// What this path names.
    pub fn of(path: &'a str) -> Option<Self> {
        let mut parts = path.strip_prefix("/admin/v1/")?.split('/');
        let parts = [parts.next(), parts.next(), parts.next(), parts.next(), parts.next()];
        match parts {
            [Some("upstreams"), None, ..] => Some(Self::Upstreams),
            [Some("workers"), None, ..] => Some(Self::Workers),
            [Some("plugins"), None, ..] => Some(Self::Plugins),
            [Some("sessions"), None, ..] => Some(Self::Sessions),
            [Some("reload"), None, ..] => Some(Self::Reload),
            [Some("upstreams"), Some(connector), Some(name), Some(word), None] => {
                let control = match word {
                    "reconnect" => Control::Reconnect,
                    "disable" => Control::Disable,
                    "enable" => Control::Enable,
                    _ => return None,
                };
                Some(Self::Upstream(connector, name, control))
            }
            [Some("plugins"), Some(name), Some("disable"), None, _] => {
                Some(Self::Plugin(name, true))
            }
            [Some("plugins"), Some(name), Some("enable"), None, _] => {
                Some(Self::Plugin(name, false))
            }
            _ => None,
        }
    }

    /// Whether it does something, and so takes POST; the others take GET.
    pub fn acts(&self) -> bool {
        matches!(self, Self::Reload | Self::Upstream(..) | Self::Plugin(..))
    }

    /// The word of what is done, for the audit.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Upstreams | Self::Workers | Self::Plugins | Self::Sessions => "look",
            Self::Reload => "reload",
            Self::Upstream(_, _, Control::Reconnect) => "upstream-reconnect",
            Self::Upstream(_, _, Control::Disable) => "upstream-disable",
            Self::Upstream(_, _, Control::Enable) => "upstream-enable",
            Self::Plugin(_, true) => "plugin-disable",
            Self::Plugin(_, false) => "plugin-enable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Resource};

    #[test]
    fn each_path_names_one_thing() {
        for (path, expected) in [
            ("/admin/v1/upstreams", Some(Resource::Upstreams)),
            ("/admin/v1/workers", Some(Resource::Workers)),
            ("/admin/v1/plugins", Some(Resource::Plugins)),
            ("/admin/v1/sessions", Some(Resource::Sessions)),
            ("/admin/v1/reload", Some(Resource::Reload)),
            (
                "/admin/v1/upstreams/hub/clock/disable",
                Some(Resource::Upstream("hub", "clock", Control::Disable)),
            ),
            ("/admin/v1/plugins/team/enable", Some(Resource::Plugin("team", false))),
            ("/admin/v1/plugins/team/disable", Some(Resource::Plugin("team", true))),
            ("/admin/v1/plugins/team", None),
            ("/admin/v1/plugins/team/disable/", None),
            ("/admin/v1/upstreams/hub/clock/restart", None),
            ("/admin/v1/upstreams/hub/clock/disable/x", None),
            ("/admin/v1/upstreams/", None),
            ("/admin/v1/", None),
            ("/admin/v2/upstreams", None),
            ("/mcp", None),
        ] {
            assert_eq!(Resource::of(path), expected, "{path}");
        }
    }
}
