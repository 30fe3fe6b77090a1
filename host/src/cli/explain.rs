//! Settings in words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};

use serde_json::Value;

use super::explain_upstream::upstream;
use crate::config::{
    AdminListen, Auth, ConnectorSettings, Exposure, Hosts, LazySettings, Pin, PluginPlace,
    PluginSettings, PluginSource, RegisterSettings, ServerInfo, Settings,
};
use crate::hex::hex;

/// Says what settings would run, one thing on each line.
pub(super) fn explain(settings: &Settings) -> String {
    Explained(settings).to_string()
}

struct Explained<'a>(&'a Settings);

impl Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = self.0;
        listener(settings, f)?;
        access(settings, f)?;
        audit(settings, f)?;
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

fn audit(settings: &Settings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(audit) = &settings.audit else { return Ok(()) };
    let file = audit.file.as_ref().map(|file| file.display().to_string());
    let stdout = audit.stdout.then(|| "standard output".to_owned());
    let places: Vec<String> = file.into_iter().chain(stdout).collect();
    write!(f, "audit: {}", places.join(" and "))?;
    for (is_so, words) in [
        (audit.required, ", required"),
        (audit.chain, ", chained"),
        (audit.arguments, ", with redacted arguments"),
    ] {
        f.write_str(if is_so { words } else { "" })?;
    }
    writeln!(f)
}

fn access(settings: &Settings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match &settings.auth {
        Auth::None => writeln!(f, "callers are anonymous")?,
        Auth::Static(tokens) => {
            let clients: BTreeSet<_> =
                tokens.iter().map(|token| (&token.client_id, &token.tenant_id)).collect();
            let (tokens, clients) = (tokens.len(), clients.len());
            writeln!(f, "callers are identified by {tokens} tokens of {clients} clients")?;
        }
    }
    let Some(admin) = &settings.admin else { return Ok(()) };
    match &admin.listen {
        AdminListen::Address(address) => write!(f, "administered at http://{address}/admin/v1")?,
        AdminListen::Socket(path) => write!(f, "administered at the socket {}", path.display())?,
    }
    match &admin.token_file {
        Some(path) => writeln!(f, ", with the token in {}", path.display()),
        None => writeln!(f, ", with tokens of scope plugway:admin"),
    }
}

fn connector(connector: &ConnectorSettings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "connector {} at {}/mcp", connector.name, connector.path)?;
    if !connector.description.is_empty() {
        writeln!(f, "  is described as {:?}", connector.description)?;
    }
    if connector.anonymous {
        writeln!(f, "  callers without a token may come too")?;
    }
    if !connector.status {
        writeln!(f, "  without the tool {}_status", connector.name)?;
    }
    if connector.confirm_timeout != ConnectorSettings::CONFIRM_TIMEOUT {
        writeln!(f, "  a person has {:?} to confirm a call", connector.confirm_timeout)?;
    }
    if let Some(LazySettings { residents, cap, .. }) = &connector.discovery {
        let listed = if residents.is_empty() { "none".to_owned() } else { residents.join(" ") };
        writeln!(f, "  lists tools lazily: always {listed}, and {cap} that a session loads")?;
    }
    let info = &connector.server_info;
    if *info != ServerInfo::plain(&connector.name) {
        let ServerInfo { name, version, .. } = info;
        writeln!(f, "  introduces itself as {name} {version}")?;
    }
    if connector.pin != Pin::Off {
        writeln!(f, "  definitions of its servers are pinned: {}", connector.pin.as_str())?;
    }
    writeln!(f, "  router {}", place(&connector.router))?;
    for policy in &connector.policies {
        writeln!(f, "  policy {}", place(policy))?;
    }
    for each in &connector.upstreams {
        upstream(each, f)?;
    }
    for each in &connector.disabled {
        writeln!(f, "  upstream {each}: disabled, is not started")?;
    }
    registry(connector, f)
}

fn registry(connector: &ConnectorSettings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(registry) = &connector.registry {
        write!(f, "  servers may register at {}/registry/v1/servers", connector.path)?;
        let hosts: Vec<_> = registry.hosts.iter().map(ToString::to_string).collect();
        if !registry.names.is_empty() {
            write!(f, " as {}", registry.names.join(", "))?;
        }
        write!(f, ", if they are at {}", hosts.join(", "))?;
        let (max, own) = (registry.max, registry.max_of_identity);
        writeln!(f, "; at most {max}, {own} of one identity")?;
    }
    if let Some(register) = &connector.register {
        let RegisterSettings { servers, name, public_url, ttl, .. } = register;
        let ttl = ttl.as_secs();
        writeln!(
            f,
            "  registers itself as {name} ({public_url}) at {servers} for {ttl} s each time"
        )?;
    }
    Ok(())
}

/// The plugin of a place, and what is configured there. Values may be secrets.
fn place(place: &PluginPlace) -> String {
    let keys: BTreeMap<String, Value> = serde_json::from_str(&place.config).unwrap_or_default();
    if keys.is_empty() {
        return place.plugin.to_string();
    }
    let keys: Vec<String> = keys.into_keys().collect();
    format!("{} (configured: {})", place.plugin, keys.join(", "))
}

fn plugin(plugin: &PluginSettings, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "plugin {}: ", plugin.name)?;
    match &plugin.source {
        PluginSource::Bundled => f.write_str("part of plugway")?,
        PluginSource::File(path) => write!(f, "{}", path.display())?,
    }
    if let Some(digest) = &plugin.digest {
        write!(f, ", only sha256:{}", hex(digest))?;
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
    if !grants.fetch.is_empty() {
        let origins: Vec<_> = grants.fetch.iter().map(ToString::to_string).collect();
        write!(f, ", fetches from {}", origins.join(" "))?;
        if grants.fetch_private {
            f.write_str(" (also in private networks)")?;
        }
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
