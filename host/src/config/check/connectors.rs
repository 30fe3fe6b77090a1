//! Connectors: the lone one at the top, or the ones in the list.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::findings::Findings;
use super::plugins::Plugins;
use super::whole::Origin;
use super::word::check_name;
use super::{artifacts, clashes, discovery, pin, registry, server_info, upstreams, visibility};
use crate::config::file::{Connector, File, PluginUse};
use crate::config::key::KeyPath;
use crate::config::settings::{ConnectorSettings, PluginPlace};

/// First parts of a path that plugway keeps for itself.
const RESERVED: &[&str] = &["health", "healthz", "ready", "metrics", "admin", ".well-known"];
/// What a connector holds below its path; another connector must not stand there.
const HELD: &[&str] =
    &["mcp", "sse", "messages", "catalog", "artifacts", "object-transfer", "registry"];

/// Checks every connector.
pub(super) fn check(
    file: &File,
    origin: &Origin<'_>,
    plugins: &mut Plugins,
    findings: &mut Findings,
) -> Vec<ConnectorSettings> {
    let mut connectors = written(file, origin, plugins, findings);
    visibility::narrow(&mut connectors, origin.environment, plugins, findings);
    connectors
}

fn written(
    file: &File,
    origin: &Origin<'_>,
    plugins: &mut Plugins,
    findings: &mut Findings,
) -> Vec<ConnectorSettings> {
    let top = KeyPath::top();
    let lone = Connector {
        name: file.name.clone(),
        description: file.description.clone(),
        path: file.path.clone(),
        anonymous: file.anonymous,
        status: file.status,
        confirm_timeout: file.confirm_timeout,
        discovery: file.discovery.clone(),
        server_info: file.server_info.clone(),
        artifacts: file.artifacts.clone(),
        pin: file.pin,
        router: file.router.clone(),
        policies: file.policies.clone(),
        upstreams: file.upstreams.clone(),
        registry: file.registry.clone(),
        register: file.register.clone(),
    };
    let public = artifacts::check_public(file, findings);
    let Some(written) = &file.connectors else {
        let place = Place { key: &top, lone: true, public: public.as_ref(), origin };
        return one(&lone, &place, plugins, findings).into_iter().collect();
    };
    for (key, stands) in [
        ("name", lone.name.is_some()),
        ("description", lone.description.is_some()),
        ("path", lone.path.is_some()),
        ("anonymous", lone.anonymous.is_some()),
        ("status", lone.status.is_some()),
        ("confirm_timeout", lone.confirm_timeout.is_some()),
        ("discovery", lone.discovery.is_some()),
        ("server_info", lone.server_info.is_some()),
        ("artifacts", lone.artifacts.is_some()),
        ("pin", lone.pin.is_some()),
        ("router", lone.router.is_some()),
        ("policies", lone.policies.is_some()),
        ("upstreams", lone.upstreams.is_some()),
        ("registry", lone.registry.is_some()),
        ("register", lone.register.is_some()),
    ] {
        if stands {
            let sentence = "stands at the top beside `connectors`";
            findings.problem(&top.key(key), sentence, "move it into the connector it belongs to");
        }
    }
    let list = top.key("connectors");
    if written.is_empty() {
        findings.problem(&list, "is empty", "write at least one connector");
    }
    let mut connectors = Vec::new();
    for (index, connector) in written.iter().enumerate() {
        let lone = written.len() == 1;
        let key = list.item(index);
        let place = Place { key: &key, lone, public: public.as_ref(), origin };
        let checked = one(connector, &place, plugins, findings);
        connectors.extend(checked.map(|checked| (key, checked)));
    }
    check_apart(&connectors, findings);
    connectors.into_iter().map(|(_, connector)| connector).collect()
}

/// Where a connector is written.
struct Place<'a> {
    key: &'a KeyPath,
    /// Whether it is the only one.
    lone: bool,
    /// The URL of plugway for its clients.
    public: Option<&'a Arc<str>>,
    origin: &'a Origin<'a>,
}

fn one(
    written: &Connector,
    place: &Place<'_>,
    plugins: &mut Plugins,
    findings: &mut Findings,
) -> Option<ConnectorSettings> {
    let key = place.key;
    let name: Option<Arc<str>> = if let Some(name) = &written.name {
        check_name(name, "a connector", &key.key("name"), findings).then(|| name.as_str().into())
    } else {
        findings.problem(key, "has no `name` for the connector", "write `name: hub`");
        None
    };
    let path = match &written.path {
        Some(path) => check_path(path, &key.key("path"), findings),
        None if place.lone => Some("".into()),
        None => name.as_deref().map(|name| format!("/{name}").into()),
    };
    let default = PluginUse { plugin: Some("router".to_owned()), config: None };
    let router = written.router.as_ref().unwrap_or(&default);
    let router = plugins.place(router, &key.key("router"), findings);
    let info = written.server_info.as_ref();
    let own_name = name.as_deref().unwrap_or_default();
    let server_info = server_info::check(info, own_name, &key.key("server_info"), findings);
    let artifacts =
        artifacts::check(written.artifacts.as_ref(), place.public, &key.key("artifacts"), findings);
    let discovery = discovery::check(written.discovery.as_ref(), &key.key("discovery"), findings);
    let policies = check_policies(written, &key.key("policies"), plugins, findings);
    let upstreams = upstreams::check(written, key, place.origin, findings);
    clashes::check(&upstreams.started, findings);
    let entries = written.upstreams.as_deref().unwrap_or_default();
    let registry = written.registry.as_ref();
    let registry =
        registry.map(|own| registry::check(own, entries, &key.key("registry"), findings));
    let register = written.register.as_ref().and_then(|own| {
        let key = key.key("register");
        registry::check_register(own, name.as_ref(), &key, place.origin, findings)
    });
    Some(ConnectorSettings {
        name: name?,
        description: written.description.clone().unwrap_or_default().into(),
        path: path?,
        anonymous: written.anonymous.unwrap_or(false),
        status: written.status.unwrap_or(true),
        confirm_timeout: confirm_timeout(written, key, findings),
        discovery,
        server_info,
        artifacts,
        pin: pin::check(written.pin).unwrap_or_default(),
        router: router?,
        policies,
        upstreams: upstreams.started.into_iter().map(|(_, upstream)| upstream).collect(),
        disabled: upstreams.disabled,
        registry,
        register,
    })
}

/// How long a person may take: not for ever, and not less than it takes to read.
fn confirm_timeout(written: &Connector, key: &KeyPath, findings: &mut Findings) -> Duration {
    let default = ConnectorSettings::CONFIRM_TIMEOUT;
    let value = written.confirm_timeout.map_or(default, |span| span.0);
    if !(Duration::from_secs(1)..=Duration::from_mins(10)).contains(&value) {
        let hint = "leave the key out for the default";
        findings.problem(&key.key("confirm_timeout"), "must be from 1s to 10m", hint);
    }
    value
}

fn check_policies(
    written: &Connector,
    key: &KeyPath,
    plugins: &mut Plugins,
    findings: &mut Findings,
) -> Vec<PluginPlace> {
    let written = written.policies.as_deref().unwrap_or_default();
    written
        .iter()
        .enumerate()
        .filter_map(|(index, policy)| plugins.place(policy, &key.item(index), findings))
        .collect()
}

/// The base path without a slash at the end.
fn check_path(path: &str, key: &KeyPath, findings: &mut Findings) -> Option<Arc<str>> {
    let hint = "write a base path such as `/hub`: the endpoint is then `/hub/mcp`";
    if path == "/" {
        return Some("".into());
    }
    let parts: Vec<_> = path.split('/').skip(1).collect();
    let plain = |part: &&str| {
        !part.is_empty()
            && !part.starts_with("..")
            && *part != "."
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~-".contains(&byte))
    };
    if !path.starts_with('/') || !parts.iter().all(plain) || path.len() > 128 {
        findings.problem(key, format!("is `{path}`, which is no base path"), hint);
        return None;
    }
    if parts.first().is_some_and(|first| RESERVED.contains(first)) {
        findings.problem(key, format!("is `{path}`, which plugway keeps for itself"), hint);
        return None;
    }
    if parts.iter().any(|part| HELD.contains(part)) {
        let sentence = format!("is `{path}`, which would stand inside an endpoint");
        findings.problem(key, sentence, hint);
        return None;
    }
    Some(path.into())
}

/// Names and paths of connectors are their own.
fn check_apart(connectors: &[(KeyPath, ConnectorSettings)], findings: &mut Findings) {
    let mut names = BTreeSet::new();
    let mut paths = BTreeMap::new();
    for (key, connector) in connectors {
        if !names.insert(connector.name.clone()) {
            let sentence = format!("is `{}`, like that of another connector", connector.name);
            findings.problem(&key.key("name"), sentence, "give each connector its own name");
        } else if let Some(other) = paths.insert(connector.path.clone(), connector.name.clone()) {
            let shown = connector.shown_path();
            let sentence = format!("is `{shown}`, like that of the connector `{other}`");
            findings.problem(&key.key("path"), sentence, "give each connector its own path");
        }
    }
}
