//! Where to listen, and who may reach it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::uri::Authority;

use super::access;
use super::findings::Findings;
use super::whole::Origin;
use crate::config::file::{Exposure as WrittenExposure, ExposureWord, File};
use crate::config::key::KeyPath;
use crate::config::settings::{Accepted, Auth, Exposure, Hosts, Listen, ListenSource};

/// Port of loopback where plugway listens when nobody says anything.
pub(in crate::config) const PORT: u16 = 9000;
const HOSTS: &[&str] = &["CONNECTOR_HOST", "MCP_SERVER_HOST", "HOST"];
const PORTS: &[&str] = &["CONNECTOR_PORT", "MCP_SERVER_PORT", "PORT"];

/// The listener, if it can be told.
pub(super) fn check(
    file: &File,
    auth: Option<&Auth>,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<Listen> {
    let exact = allowed_hosts(file, findings);
    let (address, source) = address(file, origin, findings)?;
    let missing = missing(file, auth);
    let exposure = exposure(address, &missing, file, origin, findings)?;
    let hosts = match (&exposure, &file.allowed_hosts) {
        (Exposure::Accepted(_), None) => Hosts::Any,
        _ => Hosts::Listed(exact),
    };
    Some(Listen { address, source, hosts, exposure })
}

/// The flag, else the environment (host and port each), else the file, else the default.
fn address(
    file: &File,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<(SocketAddr, ListenSource)> {
    if let Some(text) = &origin.flags.listen {
        return match parse_address(text) {
            Some(address) => Some((address, ListenSource::Flag)),
            None => refuse(&KeyPath::top(), format!("`--listen {text}` is no address"), findings),
        };
    }
    let key = KeyPath::top().key("listen");
    let default = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), origin.default_port);
    let (below, source) = match &file.listen {
        Some(text) => match parse_address(text) {
            Some(address) => (address, ListenSource::File),
            None => return refuse(&key, format!("is `{text}`, which is no address"), findings),
        },
        None => (default, ListenSource::Default),
    };
    let host = origin.environment.first(HOSTS);
    let port = origin.environment.first(PORTS);
    if host.is_none() && port.is_none() {
        return Some((below, source));
    }
    let mut address = below;
    if let Some((name, value)) = host {
        match parse_host(value.trim()) {
            Some(host) => address.set_ip(host),
            None => return refuse_variable(name, value, "an IP address or localhost", findings),
        }
    }
    if let Some((name, value)) = port {
        match value.trim().parse() {
            Ok(port) => address.set_port(port),
            Err(_) => return refuse_variable(name, value, "a port from 0 to 65535", findings),
        }
    }
    let names = host.iter().chain(&port).map(|(name, _)| *name).collect();
    Some((address, ListenSource::Environment(names)))
}

fn refuse<T>(key: &KeyPath, sentence: String, findings: &mut Findings) -> Option<T> {
    let hint = "write an IP address or localhost, and a port: 127.0.0.1:9000, [::1]:9000";
    findings.problem(key, sentence, hint);
    None
}

fn refuse_variable<T>(name: &str, value: &str, wanted: &str, findings: &mut Findings) -> Option<T> {
    findings.problem(
        &KeyPath::top(),
        format!("the environment variable {name} is `{value}`, but must be {wanted}"),
        "unset it, or say where to listen with --listen, which comes first",
    );
    None
}

fn parse_host(text: &str) -> Option<IpAddr> {
    if text.eq_ignore_ascii_case("localhost") {
        return Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    bare.unwrap_or(text).parse().ok()
}

pub(super) fn parse_address(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let (host, port) = text.rsplit_once(':')?;
    host.eq_ignore_ascii_case("localhost").then_some(())?;
    Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.parse().ok()?))
}

fn allowed_hosts(file: &File, findings: &mut Findings) -> Vec<Arc<str>> {
    let key = KeyPath::top().key("allowed_hosts");
    let written = file.allowed_hosts.as_deref().unwrap_or_default();
    if file.allowed_hosts.is_some() && written.is_empty() {
        findings.problem(&key, "is empty", "name the hosts that clients use, or leave it out");
    }
    let mut hosts = Vec::new();
    for (index, host) in written.iter().enumerate() {
        let exact = host.parse::<Authority>().is_ok_and(|authority| authority.as_str() == host)
            && !host.contains(['@', '*', '/']);
        if exact {
            hosts.push(Arc::from(host.to_ascii_lowercase()));
        } else {
            findings.problem(
                &key.item(index),
                format!("is `{host}`, which is no value of a Host header"),
                "write it as clients send it, without scheme or path: `mcp.example.com` or \
                 `mcp.example.com:9000`; wildcards are not taken",
            );
        }
    }
    hosts
}

/// What a listener that others can reach would lack.
fn missing(file: &File, auth: Option<&Auth>) -> Vec<ExposureWord> {
    let mut missing = Vec::new();
    if access::lets_strangers_in(file, auth) {
        missing.push(ExposureWord::NoAuth);
    }
    missing.push(ExposureWord::NoTls);
    if file.allowed_hosts.is_none() {
        missing.push(ExposureWord::AnyHost);
    }
    missing
}

/// Refuses a listener that others can reach unless the operator accepted everything that is missing.
fn exposure(
    address: SocketAddr,
    missing: &[ExposureWord],
    file: &File,
    origin: &Origin<'_>,
    findings: &mut Findings,
) -> Option<Exposure> {
    let key = KeyPath::top().key("exposure");
    if address.ip().is_loopback() {
        return Some(Exposure::Loopback);
    }
    let parts = missing.iter().map(|part| part_word(*part)).collect();
    if let Some(reason) = &origin.flags.accept_exposure {
        if reason.trim().is_empty() {
            let sentence = "`--accept-exposure` has no reason";
            findings.problem(&KeyPath::top(), sentence, "say why others may reach plugway");
            return None;
        }
        let reason = reason.as_str().into();
        return Some(Exposure::Accepted(Accepted { parts, reason, by_flag: true }));
    }
    let written = file.exposure.clone().unwrap_or_default();
    let reason = written.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
    match reason {
        Some(reason) if missing.iter().all(|part| written.accept.contains(part)) => {
            let reason = reason.into();
            Some(Exposure::Accepted(Accepted { parts, reason, by_flag: false }))
        }
        _ => {
            refuse_exposure(address, &written, missing, &key, findings);
            None
        }
    }
}

fn refuse_exposure(
    address: SocketAddr,
    written: &WrittenExposure,
    missing: &[ExposureWord],
    key: &KeyPath,
    findings: &mut Findings,
) {
    let open: Vec<_> = missing.iter().filter(|part| !written.accept.contains(part)).collect();
    let meaning = match open.as_slice() {
        [] => "`exposure.reason` says nothing".to_owned(),
        open => open.iter().map(|part| part_meaning(**part)).collect::<Vec<_>>().join(", "),
    };
    let words = missing.iter().map(|part| part_word(*part)).collect::<Vec<_>>().join(", ");
    let hint = format!(
        "listen on 127.0.0.1, or start with `--accept-exposure \"REASON\"`, or write\n\n\
         exposure:\n  accept: [{words}]\n  reason: \"why that is all right here\"\n"
    );
    let sentence =
        format!("does not allow listening on {address}, which other machines can reach: {meaning}");
    findings.problem(key, sentence, &hint);
}

fn part_word(part: ExposureWord) -> &'static str {
    match part {
        ExposureWord::NoAuth => "no-auth",
        ExposureWord::NoTls => "no-tls",
        ExposureWord::AnyHost => "any-host",
    }
}

fn part_meaning(part: ExposureWord) -> &'static str {
    match part {
        ExposureWord::NoAuth => "callers are not authenticated (`auth` would identify them)",
        ExposureWord::NoTls => "nothing encrypts the connection",
        ExposureWord::AnyHost => "any Host header is accepted (`allowed_hosts` would name them)",
    }
}
