//! Settings in words.

use std::fmt::{self, Display};

use crate::config::{
    ConnectorSettings, Exposure, Hosts, PluginPlace, PluginSettings, PluginSource, Settings,
    Sharing, Target, UpstreamSettings,
};

/// Says what settings would run, one thing on each line.
pub(super) fn explain(settings: &Settings) -> String {
    Explained(settings).to_string()
}

struct Explained<'a>(&'a Settings);

impl Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.0;
        listener(settings, f)?;
        for each in &settings.connectors {
            connector(each, f)?;
        }
        for each in &settings.plugins {
            plugin(each, f)?;
        }
        let limits = &settings.limits;
        write!(
            f,
            "limits: body {} KiB, {} connections, {} sessions, idle sessions end after {} s",
            limits.max_body >> 10,
            limits.max_connections,
            limits.max_sessions,
            limits.session_idle.as_secs(),
        )
    }
}

fn listener(settings: &Settings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let listen = &settings.listen;
    writeln!(f, "listens on {} (said by: {})", listen.address, listen.source)?;
    match &listen.hosts {
        Hosts::Any => writeln!(f, "  any Host header")?,
        Hosts::Listed(hosts) if hosts.is_empty() => writeln!(f, "  Host header: loopback names")?,
        Hosts::Listed(hosts) => {
            writeln!(f, "  Host header: loopback names, {}", hosts.join(", "))?;
        }
    }
    match &listen.exposure {
        Exposure::Loopback => writeln!(f, "  only this machine can reach it"),
        Exposure::Accepted(accepted) => writeln!(
            f,
            "  other machines can reach it; accepted: {} ({})",
            accepted.parts.join(", "),
            accepted.reason
        ),
    }
}

fn connector(connector: &ConnectorSettings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "connector {} at {}/mcp", connector.name, connector.path)?;
    writeln!(f, "  router {}", place(&connector.router))?;
    for policy in &connector.policies {
        writeln!(f, "  policy {}", place(policy))?;
    }
    for each in &connector.upstreams {
        upstream(each, f)?;
    }
    Ok(())
}

fn place(place: &PluginPlace) -> String {
    match &*place.config {
        "{}" => place.plugin.to_string(),
        _ => format!("{} (configured)", place.plugin),
    }
}

fn upstream(upstream: &UpstreamSettings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "  upstream {}: ", upstream.name)?;
    match &upstream.target {
        Target::Http(uri) => write!(f, "{uri}")?,
        Target::Stdio(child) => {
            let variables: Vec<_> = child.env.iter().map(|(name, _)| name.as_str()).collect();
            write!(f, "{} with {} arguments", child.command, child.args.len())?;
            write!(f, ", environment [{}]", variables.join(", "))?;
            match child.sharing {
                Sharing::Session => {
                    write!(f, ", a child for each session, at most {}", child.max_children)?;
                }
                Sharing::Connector => f.write_str(", one child for all")?,
            }
        }
    }
    let naming = &upstream.naming;
    write!(f, "; prefix {}", naming.prefix.as_str())?;
    for (own, shown) in &naming.aliases {
        write!(f, ", {own} shown as {shown}")?;
    }
    if !naming.expose.is_empty() {
        write!(f, ", offers only {}", naming.expose.join(", "))?;
    }
    writeln!(f)
}

fn plugin(plugin: &PluginSettings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "plugin {}: ", plugin.name)?;
    match &plugin.source {
        PluginSource::Bundled => f.write_str("part of plugway")?,
        PluginSource::File(path) => write!(f, "{}", path.display())?,
    }
    if let Some(digest) = &plugin.digest {
        f.write_str(", only sha256:")?;
        for byte in digest {
            write!(f, "{byte:02x}")?;
        }
    }
    let grants = &plugin.grants;
    let names = |headers: &[http::HeaderName]| {
        headers.iter().map(http::HeaderName::as_str).collect::<Vec<_>>().join(" ")
    };
    if !grants.headers.is_empty() {
        write!(f, ", reads headers {}", names(&grants.headers))?;
    }
    if !grants.set_headers.is_empty() {
        write!(f, ", sets headers {}", names(&grants.set_headers))?;
    }
    if grants.upstreams {
        f.write_str(", asks upstreams")?;
    }
    if let Some(time) = plugin.limits.time {
        write!(f, ", {} ms", time.as_millis())?;
    }
    if let Some(memory) = plugin.limits.memory {
        write!(f, ", {} MiB", memory >> 20)?;
    }
    if let Some(instances) = plugin.limits.instances {
        write!(f, ", {instances} instances")?;
    }
    writeln!(f, ", on error {}", plugin.on_error.as_str())
}
