//! Servers that register themselves, and a connector that registers itself elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use http::Uri;
use http::uri::Scheme;

use super::findings::Findings;
use super::limits::Bounds;
use super::secret::{self, Literal};
use super::target::check_url;
use super::whole::Origin;
use super::word::{LABELS, check_name, labels_fit};
use crate::config::file::{File, Register, Registry, Upstream};
use crate::config::key::KeyPath;
use crate::config::secret::Secret;
use crate::config::settings::{
    Auth, HostRule, LONGEST_LEASE, REGISTRY_SCOPE, RegisterSettings, RegistrySettings,
    SHORTEST_LEASE, StaticToken, USUAL_LEASE,
};

/// The registry of a connector; `upstreams` are the entries of the file.
pub(super) fn check(
    written: &Registry,
    upstreams: &[Upstream],
    key: &KeyPath,
    findings: &mut Findings,
) -> RegistrySettings {
    let accepts = upstreams.iter().any(|one| one.accept_leases.is_some() && !one.disabled);
    if written.names.is_empty() && !accepts {
        let hint = "write `names: [\"worker-*\"]`, or `accept_leases` at an upstream";
        findings.problem(&key.key("names"), "is missing: no server could register", hint);
    }
    for (index, glob) in written.names.iter().enumerate() {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-*?".contains(&byte);
        if glob.is_empty() || glob.len() > 64 || !glob.bytes().all(plain) {
            let sentence = format!("is `{glob}`, which no name can match");
            let hint = "write a glob over names such as `worker-*`";
            findings.problem(&key.key("names").item(index), sentence, hint);
        }
    }
    let hosts = key.key("hosts");
    if written.hosts.is_empty() {
        let hint = "write `hosts: [127.0.0.1:8000]` or `hosts: [\"*.example.com\"]`";
        findings.problem(&hosts, "is missing: no server could register", hint);
    }
    let rule = |(index, text): (usize, &String)| {
        let rule = host_rule(text);
        if rule.is_none() {
            let sentence = format!("is `{text}`, which is no host");
            let hint = "write `HOST`, `HOST:PORT` or `*.example.com`; there are no other patterns";
            findings.problem(&hosts.item(index), sentence, hint);
        }
        rule
    };
    let rules = written.hosts.iter().enumerate().filter_map(rule).collect();
    let mut bounds = Bounds { key, findings };
    RegistrySettings {
        names: written.names.iter().map(|glob| glob.as_str().into()).collect(),
        hosts: rules,
        max: number(&mut bounds, "max", written.max, 64),
        max_of_identity: number(&mut bounds, "max_of_identity", written.max_of_identity, 16),
    }
}

fn number(bounds: &mut Bounds<'_>, key: &str, written: Option<u32>, default: usize) -> usize {
    let value = written.and_then(|count| usize::try_from(count).ok()).unwrap_or(default);
    bounds.within(key, (1..=1_000).contains(&value), "from 1 to 1000");
    value
}

/// `HOST`, `HOST:PORT`, `*.HOST`, `[ADDRESS]:PORT`.
fn host_rule(text: &str) -> Option<HostRule> {
    let (host, port) = if text.parse::<IpAddr>().is_ok() {
        (text, None)
    } else {
        match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        }
    };
    let port = match port {
        Some(port) => Some(port.parse::<u16>().ok().filter(|port| *port > 0)?),
        None => None,
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Some(HostRule { host: address.to_string().into(), below: false, port });
    }
    let (name, below) = match host.strip_prefix("*.") {
        Some(name) => (name, true),
        None => (host, false),
    };
    let label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    let fits = name.len() <= 253 && name.split('.').all(label);
    fits.then(|| HostRule { host: name.to_ascii_lowercase().into(), below, port })
}

/// Looks at what depends on who callers are: somebody must be able to register, and whoever is named must be known.
pub(super) fn check_callers(file: &File, auth: Option<&Auth>, findings: &mut Findings) {
    let top = KeyPath::top();
    one_of_callers((&top, file.registry.is_some(), file.upstreams.as_deref()), auth, findings);
    let list = top.key("connectors");
    for (index, connector) in file.connectors.iter().flatten().enumerate() {
        let registry = connector.registry.is_some();
        let place = (&list.item(index), registry, connector.upstreams.as_deref());
        one_of_callers(place, auth, findings);
    }
}

/// A client and its tenant.
type Client<'a> = (&'a str, Option<&'a str>);

fn one_of_callers(
    (key, has_registry, upstreams): (&KeyPath, bool, Option<&[Upstream]>),
    auth: Option<&Auth>,
    findings: &mut Findings,
) {
    // What could not be told about `auth` is said there.
    let Some(auth) = auth else { return };
    let tokens: &[StaticToken] = match auth {
        Auth::None => &[],
        Auth::Static(tokens) => tokens,
    };
    let may = |token: &&StaticToken| token.scopes.iter().any(|scope| &**scope == REGISTRY_SCOPE);
    if has_registry && !tokens.iter().any(|token| may(&token)) {
        let sentence = "lets nobody in: no token of `auth` has the scope `plugway:registry`";
        let hint = "write `auth: {mode: static, ..}` with a token that has it";
        findings.problem(&key.key("registry"), sentence, hint);
        return;
    }
    // By the name that logs show, everybody who has it.
    let mut known: BTreeMap<String, BTreeSet<Client<'_>>> = BTreeMap::new();
    for token in tokens {
        let of = (&*token.client_id, token.tenant_id.as_deref());
        known.entry(token.shown()).or_default().insert(of);
    }
    let registering: BTreeSet<String> = tokens.iter().filter(may).map(StaticToken::shown).collect();
    for (index, upstream) in upstreams.unwrap_or_default().iter().enumerate() {
        let Some(accepted) = &upstream.accept_leases else { continue };
        let key = key.key("upstreams").item(index).key("accept_leases");
        if upstream.disabled {
            continue;
        }
        if !has_registry {
            let hint = "write `registry: {hosts: [..]}` at the connector";
            findings.problem(&key, "means nothing without `registry`", hint);
        }
        if accepted.is_empty() {
            findings.problem(&key, "is empty", "name the clients whose leases are taken");
        }
        for (index, who) in accepted.iter().enumerate().filter(|_| has_registry) {
            let key = key.item(index);
            if known.get(who).is_some_and(|of| of.len() > 1) {
                let sentence = format!("is `{who}`, which several clients are called");
                findings.problem(&key, sentence, "give the clients names that differ");
            } else if !registering.contains(who) {
                let sentence =
                    format!("is `{who}`, who has no token with the scope `plugway:registry`");
                let hint = "write `CLIENT_ID`, or `CLIENT_ID of TENANT_ID`, as the log shows it";
                findings.problem(&key, sentence, hint);
            }
        }
    }
}

/// Where a connector registers itself; `own` is its name.
pub(super) fn check_register(
    written: &Register,
    own: Option<&Arc<str>>,
    key: &KeyPath,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<RegisterSettings> {
    let servers = needed(written.url.as_deref(), "url", key, findings)
        .and_then(|url| servers(url, &key.key("url"), findings));
    let public = needed(written.public_url.as_deref(), "public_url", key, findings)
        .and_then(|url| public(url, &key.key("public_url"), findings));
    let place = key.key("token");
    let token = if let Some(token) = &written.token {
        secret::check(token, Literal::Warned, &place, origin, findings)
            .and_then(|token| sendable(token, &place, findings))
    } else {
        findings.problem(&place, "is missing", "write `env://NAME` or `file://PATH`");
        None
    };
    let name = match &written.name {
        Some(name) => check_name(name, "an upstream", &key.key("name"), findings)
            .then(|| name.as_str().into()),
        None => own.cloned(),
    };
    let ttl = written.ttl.map_or(USUAL_LEASE, |span| span.0);
    let fits = (SHORTEST_LEASE..=LONGEST_LEASE).contains(&ttl) && ttl.subsec_nanos() == 0;
    Bounds { key, findings }.within("ttl", fits, "whole seconds from 60s to 1h");
    if !labels_fit(&written.labels) {
        findings.problem(&key.key("labels"), "are not what a registry takes", LABELS);
    }
    let labels = written.labels.clone();
    Some(RegisterSettings {
        servers: servers?,
        name: name?,
        public_url: public?,
        ttl,
        token: token?,
        labels,
    })
}

fn needed<'a>(
    text: Option<&'a str>,
    name: &str,
    key: &KeyPath,
    findings: &mut Findings,
) -> Option<&'a str> {
    if text.is_none() {
        let hint = "write `register: {url: https://HOST/registry, public_url: https://HOST/mcp, token: env://NAME}`";
        findings.problem(&key.key(name), "is missing", hint);
    }
    text
}

/// The list of servers below a registry. A token goes there: in the clear only on this machine.
fn servers(text: &str, key: &KeyPath, findings: &mut Findings) -> Option<Uri> {
    let uri = plain_url(text, key, findings)?;
    let host = uri.host().unwrap_or_default();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let here = bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if uri.scheme() != Some(&Scheme::HTTPS) && !here {
        let sentence = "is not https, so that the token would travel in the clear";
        findings.problem(key, sentence, "write `https://HOST/registry`");
        return None;
    }
    let base = uri.path().trim_end_matches('/');
    if !base.ends_with("/registry") {
        let sentence = "does not end in `/registry`";
        findings.problem(key, sentence, "write the path of the connector there, and `/registry`");
        return None;
    }
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority()?;
    format!("{scheme}://{authority}{base}/v1/servers").parse().ok()
}

fn public(text: &str, key: &KeyPath, findings: &mut Findings) -> Option<Arc<str>> {
    plain_url(text, key, findings).map(|uri| uri.to_string().into())
}

fn plain_url(text: &str, key: &KeyPath, findings: &mut Findings) -> Option<Uri> {
    let uri = check_url(text, key, findings)?;
    if uri.query().is_some() {
        findings.problem(
            key,
            "has a query",
            "take it out: addresses of leases are shown to others",
        );
        return None;
    }
    Some(uri)
}

fn sendable(token: Secret, key: &KeyPath, findings: &mut Findings) -> Option<Secret> {
    let plain = |byte: u8| (0x21..0x7f).contains(&byte);
    if token.reveal().is_empty() || !token.reveal().bytes().all(plain) {
        let sentence =
            "is no token: it is empty, or has spaces, line ends or characters that are not ASCII";
        findings.problem(key, sentence, "write the token alone, on one line");
        return None;
    }
    Some(token)
}
